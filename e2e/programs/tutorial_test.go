package programs

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/e2e/loopback"
	"github.com/wakecall/wakecall/e2e/process"
)

// TestTutorial runs docs/tutorial.md as a reader would, block by block.
func TestTutorial(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/tutorial.md")
	require.NoError(t, err)
	l := startLesson(t)
	blocks := regexp.MustCompile("(?s)```([a-z]+)\n(.*?)```").FindAllStringSubmatch(string(page), -1)
	require.Greater(t, len(blocks), 10, "the page has commands")
	output := ""
	for i, block := range blocks {
		switch block[1] {
		case "sh":
			output = l.sh(block[2])
		case "eventually":
			require.Equal(t, "text", blocks[i+1][1])
			require.EventuallyWithT(t, func(c *assert.CollectT) {
				output = l.sh(block[2])
				assert.Regexp(c, pattern(blocks[i+1][2]), output)
			}, process.Patience, 50*time.Millisecond, "a cancel by a tool is not waited for")
		case "text":
			require.Regexp(t, pattern(l.here(block[2])), output)
		case "receiver":
			l.receives(block[2])
		default:
			t.Fatalf("a block of kind %s is run by nobody", block[1])
		}
	}
}

// lesson is the reader's terminals.
type lesson struct {
	t          *testing.T
	addrs      *strings.Replacer
	deployment *process.Standalone
	server     *process.Process
	receiver   *process.Process
}

func startLesson(t *testing.T) *lesson {
	receiverAddr := loopback.Addr()
	env := process.NewStandalone(t)
	l := &lesson{t: t, deployment: env, server: env.Start()}
	l.addrs = strings.NewReplacer(
		"127.0.0.1:8080", env.Addr("WAKECALL_HTTP_ADDR"), "127.0.0.1:9000", receiverAddr,
		"tctl workflow", process.Tctl(t)+" --address "+env.Addr("WAKECALL_TEMPORAL_ADDR")+" workflow",
		"pkill -KILL -f wakecall-standalone", "true", // other tests run one too: sh kills ours
	)
	l.receiver = process.Launch(t, process.Command{Path: buildReceiver(t), Env: map[string]string{
		"RECEIVER_ADDR": receiverAddr, "WEBHOOK_SECRET": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
	}})
	return l
}

func buildReceiver(t *testing.T) string {
	binary := filepath.Join(t.TempDir(), "receiver")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", binary, "./receiver")
	build.Dir = "../../examples"
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return binary
}

// here is a text of the page with the addresses of this run.
func (l *lesson) here(text string) string { return l.addrs.Replace(text) }

// sh runs one block, and answers with what it printed.
func (l *lesson) sh(script string) string {
	l.t.Helper()
	out, err := exec.CommandContext(l.t.Context(), "bash", "-ec", l.here(script)).CombinedOutput()
	require.NoError(l.t, err, "%s\n%s", script, out)
	if strings.Contains(script, "pkill -KILL") {
		l.server.Kill()
		l.server = l.deployment.Start()
	}
	return string(out)
}

// receives waits until the receiver has printed every line, in order.
func (l *lesson) receives(lines string) {
	l.t.Helper()
	var parts []string
	for line := range strings.Lines(lines) {
		parts = append(parts, pattern(line))
	}
	require.Eventually(l.t, func() bool {
		return regexp.MustCompile("(?s)" + strings.Join(parts, ".*")).MatchString(l.receiver.Stdout())
	}, process.Patience, 50*time.Millisecond, "the receiver should print\n%s\nbut printed\n%s", lines, l.receiver.Stdout())
}

// pattern is the text as a regular expression, … standing for anything.
func pattern(text string) string {
	return strings.ReplaceAll(regexp.QuoteMeta(strings.TrimSpace(text)), "…", ".*")
}
