package operations

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/e2e/loopback"
	"github.com/wakecall/wakecall/e2e/process"
	"github.com/wakecall/wakecall/e2e/testenv"
)

// policyFile is a file of policies for the real program.
type policyFile struct {
	t    *testing.T
	url  string
	path string
	kind string
}

// write fills the file; TYPE stands for the test's business type.
func (f policyFile) write(text string) {
	require.NoError(f.t, os.WriteFile(f.path, []byte(strings.ReplaceAll(text, "TYPE", f.kind)), 0o600))
}

// apply runs the program, and returns what it printed with TYPE put back.
func (f policyFile) apply(args ...string) (exit int, stdout, stderr string) {
	f.t.Helper()
	done := process.Launch(f.t, process.Command{
		Path: process.WakecallBinary(f.t), Args: append([]string{"policies", "apply"}, args...),
		Env: map[string]string{"WAKECALL_URL": f.url, "ORDERS_KEY": "s3cret"},
	})
	exit = done.Wait()
	back := func(text string) string { return strings.ReplaceAll(text, f.kind, "TYPE") }
	return exit, back(done.Stdout()), strings.ReplaceAll(back(done.Stderr()), "wakecall: ", "")
}

// The program applies a file as a whole or not at all, shows what it changes, and ends with a
// code that a script can go by.
func TestApplyPolicies(t *testing.T) {
	t.Parallel()
	env, _, kind := testenv.Start(t)
	f := policyFile{t: t, url: env.URL, path: filepath.Join(t.TempDir(), "policies.yaml"), kind: kind}
	const first = `policies:
  - business_type: TYPE.close
    callback: {url: "https://orders.example/close", headers: {Authorization: "Bearer ${ORDERS_KEY}"}}
    limits: {callbacks_per_second: 5}
  - business_type: TYPE.refund
    callback: {url: "https://pay.example/refund"}
`
	second := strings.Replace(first, "callbacks_per_second: 5", "callbacks_per_second: 10", 1)
	const difference = "TYPE.close: changed\n  /limits/callbacks_per_second: 5 → 10\nTYPE.refund: unchanged\n"
	nowhere := "http://" + loopback.Addr()
	for _, c := range []struct {
		text, url string
		args      []string
		exit      int
		out, said string
		stored    int
	}{
		{first, env.URL, []string{f.path, "--dry-run"}, 0, "dry run: nothing was applied\n", "", 404},
		{strings.Replace(first, "TYPE.refund\n", "TYPE.refund\n    priority: 9\n", 1), env.URL, []string{f.path}, 4, "", "TYPE.refund: /priority must be from 1 to 5\nnothing was applied\n", 404},
		{first, nowhere, []string{f.path}, 5, "", "refused", 404},
		{first, env.URL, []string{"--wet-run", f.path}, 2, "", "Usage: wakecall policies apply FILE", 404},
		{"policy: []", env.URL, []string{f.path}, 2, "", "policy is not known", 404},
		{first, env.URL, []string{f.path}, 0, "2 of 2 policies applied\n", "", 200},
		{first, env.URL, []string{f.path}, 0, "TYPE.close: unchanged\nTYPE.refund: unchanged\n0 of 2 policies applied\n", "", 200},
		{second, env.URL, []string{f.path}, 0, difference + "1 of 2 policies applied\n", "", 200},
	} {
		f.write(c.text)
		f.url = c.url
		exit, out, complaints := f.apply(c.args...)
		require.Equal(t, c.exit, exit, "%s%s", out, complaints)
		require.True(t, strings.HasSuffix(out, c.out), out)
		require.Contains(t, complaints, c.said)
		require.Equal(t, c.stored, env.Do("GET", "/v1/policies/"+kind+".close", nil).Status)
	}
	require.Equal(t, `"2"`, env.Do("GET", "/v1/policies/"+kind+".close", nil).Header.Get("ETag"))
	require.Equal(t, `"1"`, env.Do("GET", "/v1/policies/"+kind+".refund", nil).Header.Get("ETag"))
}
