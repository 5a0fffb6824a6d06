package process

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// named says which program [TestNamesAProgram] names, in a process of its own.
const named = "NAMED_PROGRAM"

var programs = map[string]func(testing.TB) string{
	"wakecall": WakecallBinary, "wakecall-standalone": StandaloneBinary, "peers": Peers, "crane": Crane,
}

// Go keeps the result of a test for as long as the variables that it read have the same values.
// Naming a program of ours reads the variable that changes with what it is compiled from.
func TestResultsDependOnThePrograms(t *testing.T) {
	t.Parallel()
	for name := range programs {
		read := variablesRead(t, name)
		if ours := "getenv WAKECALL_COMPILED\n"; name == "crane" {
			require.NotContains(t, read, ours, "the oracle sees a program of others")
		} else {
			require.Contains(t, read, ours, name)
		}
	}
}

// variablesRead is Go's record of what a test read that named a program.
func variablesRead(t *testing.T, name string) string {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	record := filepath.Join(t.TempDir(), "read")
	test := exec.CommandContext(t.Context(), self, "-test.run=^TestNamesAProgram$", "-test.testlogfile="+record)
	test.Env = append(os.Environ(), named+"="+name)
	for _, variable := range []string{"WAKECALL_BIN", "WAKECALL_STANDALONE_BIN", "WAKECALL_BENCH_PEERS", "CRANE"} {
		test.Env = append(test.Env, variable+"="+self) // nothing is built
	}
	output, err := test.CombinedOutput()
	require.NoError(t, err, "%s", output)
	text, err := os.ReadFile(record)
	require.NoError(t, err)
	require.Contains(t, string(text), "getenv "+named+"\n", "the oracle sees variables")
	return string(text)
}

// TestNamesAProgram is what [variablesRead] runs.
func TestNamesAProgram(t *testing.T) {
	name := os.Getenv(named)
	if name == "" {
		t.Skip("a part of TestResultsDependOnThePrograms")
	}
	require.NotEmpty(t, programs[name](t))
}
