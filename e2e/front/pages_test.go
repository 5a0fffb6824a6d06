package front

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

	"github.com/wakecall/wakecall/e2e/receiver"
	"github.com/wakecall/wakecall/e2e/testenv"
	"github.com/wakecall/wakecall/internal/rabbit"
)

func TestPageOfTimers(t *testing.T) {
	t.Parallel()
	readPage(t, "../../docs/timers.md")
}

func TestPageOfBulk(t *testing.T) {
	t.Parallel()
	readPage(t, "../../docs/bulk.md")
}

// The pages for those who come from elsewhere.
func TestPagesOfComingFrom(t *testing.T) {
	t.Parallel()
	pages, err := filepath.Glob("../../docs/coming-from/*.md")
	require.NoError(t, err)
	require.Greater(t, len(pages), 6)
	for _, page := range pages {
		name := filepath.Base(page)
		if name == "README.md" { // it has no commands
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name == "rabbitmq.md" {
				readPageWith(t, page, withBroker(t))
				return
			}
			readPage(t, page)
		})
	}
}

// withBroker is a Wakecall that knows a broker called main.
func withBroker(t *testing.T) *testenv.Env {
	addr := testenv.Alone(t)
	settings := testenv.Settings()
	settings.Brokers = rabbit.BrokersFile(t, rabbit.Start(t).URL)
	env := testenv.OpenWith(t, addr, settings)
	env.StartWorker()
	return env
}

// changing is a command that changes a timer. A busy machine takes longer than it waits by default.
var changing = regexp.MustCompile(`(-X [A-Z]+ \S+/v1/timers/[^/\s?]+/[^/\s?]+(?:/fire|/pause|/resume)?)(\s)`)

// readPage runs the commands of a page as a reader would, block by block. What stands below
// a command appears in its output, at once or soon.
func readPage(t *testing.T, file string) {
	t.Helper()
	readPageWith(t, file, testenv.Open(t, testenv.Addr))
}

func readPageWith(t *testing.T, file string, env *testenv.Env) {
	t.Helper()
	page, err := os.ReadFile(file)
	require.NoError(t, err)
	r := receiver.New(t)
	addrs := strings.NewReplacer("http://127.0.0.1:8080", env.URL, "http://127.0.0.1:9000", r.URL)
	blocks := regexp.MustCompile("(?s)```([a-z]+)\n(.*?)```").FindAllStringSubmatch(string(page), -1)
	require.NotEmpty(t, blocks, "the page has commands")
	for i, block := range blocks {
		if block[1] == "text" { // it was held to the command above it
			continue
		}
		require.Equal(t, "sh", block[1])
		run := func() string {
			out, err := exec.CommandContext(t.Context(), "bash", "-ec", changing.ReplaceAllString(addrs.Replace(block[2]), "$1?wait=30s$2")).CombinedOutput()
			require.NoError(t, err, "%s\n%s", block[2], out)
			return string(out)
		}
		output := run()
		if i+1 == len(blocks) || blocks[i+1][1] != "text" {
			continue
		}
		want := strings.ReplaceAll(regexp.QuoteMeta(strings.TrimSpace(addrs.Replace(blocks[i+1][2]))), "…", "(?s:.*)")
		if strings.Contains(block[2], "-X") || strings.Contains(block[2], "-d ") { // it is not repeated
			require.Regexp(t, want, output)
			continue
		}
		require.EventuallyWithT(t, func(c *assert.CollectT) { assert.Regexp(c, want, run()) }, testenv.Patience, 50*time.Millisecond, "timers ring in their time")
	}
}
