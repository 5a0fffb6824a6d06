package front

import (
	"encoding/json"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/e2e/loopback"
	"github.com/wakecall/wakecall/e2e/process"
	"github.com/wakecall/wakecall/e2e/sample"
	"github.com/wakecall/wakecall/e2e/testenv"
)

const examples = "../../examples"

// Each use case plays its part on a running Wakecall.
func TestTheUseCases(t *testing.T) {
	t.Parallel()
	env, binary := testenv.Open(t, testenv.Addr), filepath.Join(t.TempDir(), "usecases")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", binary, "./usecases")
	build.Dir = examples
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	for name, want := range map[string]string{
		"order-close":     "order-1 is not paid, and is closed",
		"debit":           "customer-1 is debited",
		"coupon":          "the timer has ended",
		"nightly-ranking": `{"ranking":"shops"} is computed`,
		"refund-poll":     "the timer has ended",
		"idle-shop":       "the shop is asked once",
		"room-free":       "room 12 is free",
		"push":            "the timer has expired",
		"mass-reward":     "16000 users have their reward",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, err := exec.CommandContext(t.Context(), binary, "-url", env.URL, "-takes", "2s", name).CombinedOutput()
			require.NoError(t, err, "%s", out)
			lines := strings.Split(strings.TrimSpace(string(out)), "\n")
			require.Contains(t, lines[len(lines)-1], want, "%s", out)
		})
	}
	for _, wrong := range [][]string{{}, {"nothing"}, {"-url", env.URL, "a", "b"}} {
		out, err := exec.CommandContext(t.Context(), binary, wrong...).CombinedOutput()
		require.Error(t, err)
		require.Contains(t, string(out), "coupon | debit | idle-shop | mass-reward | nightly-ranking | order-close | push | refund-poll | room-free | all")
	}
	out, err = exec.CommandContext(t.Context(), binary, "-url", "http://"+loopback.Addr(), "coupon").CombinedOutput()
	require.Error(t, err, "%s", out)
}

// The receivers on Node and in Python take what is signed, and nothing else. The one in Go
// is the tutorial's.
func TestTheExampleReceivers(t *testing.T) {
	t.Parallel()
	var tools, client struct{ Dependencies, DevDependencies map[string]string }
	read(t, "../tools/npm/package.json", &tools)
	read(t, "../../clients/typescript/package.json", &client)
	maps.Copy(client.Dependencies, client.DevDependencies)
	for name, version := range client.Dependencies {
		if same, ok := tools.Dependencies[name]; ok {
			require.Equal(t, same, version, "the %s that is tested", name)
		}
	}
	require.Equal(t, tools.Dependencies["standardwebhooks"], client.Dependencies["standardwebhooks"])
	node := t.TempDir()
	program, err := os.ReadFile(examples + "/node/receiver.mjs")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(node+"/receiver.mjs", program, 0o644))
	require.NoError(t, os.Symlink(process.WithTypeScriptClient(t), node+"/node_modules"))

	vectors := exec.CommandContext(t.Context(), "/usr/bin/python3", "-B", "-m", "unittest")
	vectors.Dir = examples + "/python"
	out, err := vectors.CombinedOutput()
	require.NoError(t, err, "%s", out)

	for name, command := range map[string][]string{
		"node": {"node", node + "/receiver.mjs"}, "python": {"/usr/bin/python3", "-B", examples + "/python/receiver.py"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env, _, kind := testenv.Start(t)
			addr, key := loopback.Addr(), sample.Secret()
			path, err := exec.LookPath(command[0])
			require.NoError(t, err)
			receiver := process.Start(t, process.Command{
				Path: path, Args: command[1:], Ready: "tcp://" + addr, Env: map[string]string{"RECEIVER_ADDR": addr, "WEBHOOK_SECRET": key},
			})
			policy := testenv.JSON{
				"callback": testenv.JSON{"url": "http://" + addr}, "retry": testenv.JSON{"steps": []string{}}, "signing_secrets": []string{key},
			}
			env.Policy(kind, policy)
			env.Add(testenv.JSON{"business_type": kind, "business_id": "1", "delay": "0s", "payload": testenv.JSON{"order": 4711}})
			env.Await(kind+"/1", "delivered")
			require.Eventually(t, func() bool { return strings.Contains(receiver.Stdout(), kind+`/1 {"order":4711}`) },
				testenv.Patience, testenv.Interval, "what it prints comes through a pipe")
			policy["signing_secrets"] = []string{sample.Secret()}
			env.Policy(kind+".wrong", policy)
			env.Add(testenv.JSON{"business_type": kind + ".wrong", "business_id": "1", "delay": "0s"})
			require.Equal(t, http.StatusUnauthorized, env.Await(kind+".wrong/1", "failed").LastFailure.Status)
			require.NotContains(t, receiver.Stdout(), kind+".wrong")
		})
	}
}

func read(t *testing.T, path string, into any) {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, into))
}
