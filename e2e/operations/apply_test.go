package operations

import (
	"net/http"
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
	stored := func(name string) int { return env.Do("GET", "/v1/policies/"+kind+name, nil).Status }

	f.write(first)
	exit, out, complaints := f.apply(f.path, "--dry-run")
	require.Zero(t, exit, complaints)
	require.Contains(t, out, "TYPE.close: new\n")
	require.Contains(t, out, "  /callback/headers/Authorization: none → ***\n")
	require.Contains(t, out, "  /limits/callbacks_per_second: none → 5\n")
	require.Contains(t, out, "TYPE.refund: new\n")
	require.True(t, strings.HasSuffix(out, "dry run: nothing was applied\n"), out)
	require.Equal(t, http.StatusNotFound, stored(".close"), "a dry run changes nothing")

	exit, out, complaints = f.apply(f.path)
	require.Zero(t, exit, complaints)
	require.True(t, strings.HasSuffix(out, "2 of 2 policies applied\n"), out)
	require.Equal(t, http.StatusOK, stored(".close"))
	exit, out, _ = f.apply(f.path)
	require.Zero(t, exit)
	require.Equal(t, "TYPE.close: unchanged\nTYPE.refund: unchanged\n0 of 2 policies applied\n", out)

	f.write(strings.Replace(first, "callbacks_per_second: 5", "callbacks_per_second: 10", 1))
	const difference = "TYPE.close: changed\n  /limits/callbacks_per_second: 5 → 10\nTYPE.refund: unchanged\n"
	exit, out, _ = f.apply("--dry-run", f.path)
	require.Zero(t, exit)
	require.Equal(t, difference+"dry run: nothing was applied\n", out)
	exit, out, _ = f.apply(f.path)
	require.Zero(t, exit)
	require.Equal(t, difference+"1 of 2 policies applied\n", out)
	require.Equal(t, `"2"`, env.Do("GET", "/v1/policies/"+kind+".close", nil).Header.Get("ETag"))
	require.Equal(t, `"1"`, env.Do("GET", "/v1/policies/"+kind+".refund", nil).Header.Get("ETag"))

	// The values are as the file says, the secret one included.
	var plan struct{ Changes []any }
	env.Do("PUT", "/v1/policies/"+kind+".close?dry_run=true", testenv.JSON{
		"callback": testenv.JSON{"url": "https://orders.example/close", "headers": testenv.JSON{"Authorization": "Bearer s3cret"}},
		"limits":   testenv.JSON{"callbacks_per_second": 10},
	}).Into(&plan)
	require.Empty(t, plan.Changes)
}

func TestApplyRefusesTheWholeFile(t *testing.T) {
	t.Parallel()
	env, _, kind := testenv.Start(t)
	f := policyFile{t: t, url: env.URL, path: filepath.Join(t.TempDir(), "policies.yaml"), kind: kind}
	for text, want := range map[string]string{
		`policies:
  - {business_type: TYPE.good, callback: {url: "https://a.example"}}
  - {business_type: TYPE.one, callback: {uri: "https://a.example"}, priority: 9}
  - {business_type: TYPE.two, callback: {url: "https://a.example"}, limits: {in_flight: -1}, expires_after: soon}
`: "TYPE.one: /callback/uri is not a field of this call\nTYPE.one: /priority must be from 1 to 5\n" +
			"TYPE.two: /expires_after must be a duration such as 90s, 30m, 72h, 3d or PT30M\nTYPE.two: /limits/in_flight must be from 1 to 1000\nnothing was applied\n",
		`policies: [{business_type: TYPE.good, callback: {url: "https://a.example", headers: {X-Key: "${NOBODY}"}}}]`:        f.path + ": line 1: the environment variable NOBODY is not set\n",
		`policies: [{business_type: TYPE.good, callback: {url: "https://a.example"}, callback: {url: "https://b.example"}}]`: "already defined",
		"policy: []": "policy is not known",
	} {
		f.write(text)
		exit, out, complaints := f.apply(f.path)
		require.Empty(t, out)
		if strings.HasSuffix(want, "nothing was applied\n") {
			require.Equal(t, 4, exit, text)
			require.Equal(t, want, complaints)
		} else {
			require.Equal(t, 2, exit, text)
			require.Contains(t, complaints, want)
		}
		require.Equal(t, http.StatusNotFound, env.Do("GET", "/v1/policies/"+kind+".good", nil).Status, "nothing was applied")
	}
	for _, args := range [][]string{{}, {"--dry-run"}, {f.path, f.path}, {"--wet-run", f.path}} {
		exit, _, complaints := f.apply(args...)
		require.Equal(t, 2, exit)
		require.Contains(t, complaints, "Usage: wakecall policies apply FILE")
	}
	f.url = "http://" + loopback.Addr()
	f.write("policies: [{business_type: TYPE.good}]")
	exit, _, complaints := f.apply(f.path)
	require.Equal(t, 5, exit)
	require.Contains(t, complaints, "refused", "nobody listens")
}
