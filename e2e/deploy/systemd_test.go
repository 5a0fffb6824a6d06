package deploy_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/e2e/process"
)

func TestUnitsAreUnderstood(t *testing.T) {
	t.Parallel()
	for unit, program := range map[string]string{"wakecall-standalone": "wakecall-standalone", "wakecall": "wakecall serve"} {
		t.Run(unit, func(t *testing.T) {
			t.Parallel()
			understood(t, unit+".service", "ExecStart=/usr/local/bin/"+program+"\n")
		})
	}
}

func understood(t *testing.T, unit, program string) {
	t.Helper()
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("this machine has no systemd")
	}
	text, err := os.ReadFile(filepath.Join("..", "..", "deploy", unit))
	require.NoError(t, err)
	require.Contains(t, string(text), program)
	verify := func(text string) (string, error) {
		file := filepath.Join(t.TempDir(), unit)
		require.NoError(t, os.WriteFile(file, []byte(strings.Replace(text, program, "ExecStart=/bin/true\n", 1)), 0o600))
		output, err := exec.CommandContext(t.Context(), analyze, "verify", "--man=no", file).CombinedOutput()
		if err == nil {
			return string(output) + process.Execute(t, analyze, "security", "--offline=true", "--threshold=15", file), nil
		}
		return string(output), err
	}
	output, err := verify(string(text))
	require.NoError(t, err, output)
	require.NotContains(t, output, "Unknown")
	output, _ = verify(strings.Replace(string(text), "ProtectHome=yes", "ProtectHomes=yes", 1))
	require.Contains(t, output, "ProtectHomes", "what nobody understands is seen")
}
