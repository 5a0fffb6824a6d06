package deploy_test

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const checkout = "../.."

// run runs a program to its end, without any settings of the person who runs the
// tests, and returns what it printed.
func run(t *testing.T, program string, args ...string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), program, args...)
	command.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}
	output, err := command.CombinedOutput()
	require.NoError(t, err, "%s", output)
	return string(output)
}
