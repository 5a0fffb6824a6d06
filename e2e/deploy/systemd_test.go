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

func TestUnitIsUnderstood(t *testing.T) {
	t.Parallel()
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("this machine has no systemd")
	}
	text, err := os.ReadFile("../../deploy/wakecall-standalone.service")
	require.NoError(t, err)
	const program = "ExecStart=/usr/local/bin/wakecall-standalone\n"
	require.Contains(t, string(text), program)
	verify := func(unit string) (string, error) {
		file := filepath.Join(t.TempDir(), "wakecall-standalone.service")
		require.NoError(t, os.WriteFile(file, []byte(strings.Replace(unit, program, "ExecStart=/bin/true\n", 1)), 0o600))
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
