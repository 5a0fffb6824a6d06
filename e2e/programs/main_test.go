// Package programs runs the programs as processes of their own: kills, interrupts,
// restores and upgrades them, and walks through the tutorial. It starts no server in
// its own process.
package programs

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// execute runs a program to its end and returns what it printed.
func execute(t *testing.T, program string, args ...string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), program, args...)
	command.Env = os.Environ()
	printed, err := command.CombinedOutput()
	require.NoError(t, err, "%s", printed)
	return string(printed)
}
