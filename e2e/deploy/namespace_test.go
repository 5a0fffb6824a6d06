package deploy_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// A namespace is made where Temporal says that there is none, and not where it does not answer or refuses.
func TestANamespaceIsMadeWhereThereIsNone(t *testing.T) {
	t.Parallel()
	const counted = "workflow count --namespace orders\n"
	for answer, want := range map[string]struct {
		calls string
		fails bool
	}{
		"":                          {calls: counted},
		"Namespace is not found.":   {calls: "operator namespace create --namespace orders --retention 720h\n" + counted},
		"connection refused":        {fails: true},
		"Request unauthorized.":     {fails: true},
		"context deadline exceeded": {fails: true},
	} {
		t.Run(answer, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			stub := "#!/bin/sh\ncase \"$*\" in *describe*) [ -z \"$ANSWER\" ] || { echo \"$ANSWER\" >&2; exit 1; } ;; *) echo \"$*\" >>\"$CALLS\" ;; esac\n"
			require.NoError(t, os.WriteFile(filepath.Join(dir, "temporal"), []byte(stub), 0o700)) //nolint:gosec // it is run
			command := exec.CommandContext(t.Context(), "sh", filepath.Join(checkout, "deploy", "namespace.sh"))
			command.Env = []string{
				"PATH=" + dir + ":" + os.Getenv("PATH"), "TEMPORAL_NAMESPACE=orders", "RETENTION=720h", "ANSWER=" + answer, "CALLS=" + filepath.Join(dir, "calls"),
			}
			said, err := command.CombinedOutput()
			require.Equal(t, want.fails, err != nil, "%s", said)
			calls, _ := os.ReadFile(filepath.Join(dir, "calls"))
			require.Equal(t, want.calls, string(calls))
			if want.fails {
				require.Contains(t, string(said), answer, "it says why")
			}
		})
	}
}
