package arch

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	step   = regexp.MustCompile(`(?m)^      - run: (.+)$`)
	action = regexp.MustCompile(`(?m)uses: (\S+)$`)
)

// wrongSteps returns the commands of a workflow that the checkout lacks.
func wrongSteps(t *testing.T, workflow, makefile string) (wrong []string) {
	t.Helper()
	for _, command := range allMatches(step, workflow) {
		words := strings.Fields(strings.TrimPrefix(command, "sudo "))
		switch {
		case words[0] == "gh":
		case words[0] == "make" && strings.Contains(makefile, "\n"+words[1]+":"):
		case strings.HasPrefix(words[0], ".") && exists(words[0]):
		default:
			wrong = append(wrong, command)
		}
	}
	return wrong
}

func exists(name string) bool {
	_, err := os.Stat(filepath.Join("..", "..", name))
	return err == nil
}

// A workflow runs the commands of any other machine, beside GitHub's own code.
func TestWorkflowsRunWhatEverybodyRuns(t *testing.T) {
	t.Parallel()
	makefile, err := os.ReadFile(filepath.Join("..", "..", "Makefile"))
	require.NoError(t, err)
	files, err := filepath.Glob(filepath.Join("..", "..", ".github", "workflows", "*.yml"))
	require.NoError(t, err)
	steps := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Empty(t, wrongSteps(t, string(text), string(makefile)), file)
		require.Contains(t, string(text), "\npermissions: {contents: read}\n", "a right is given by the job that needs it")
		for _, used := range allMatches(action, string(text)) {
			require.Regexp(t, `^(actions/[a-z-]+@v\d+|\./\.github/workflows/[a-z]+\.yml)$`, used)
		}
		steps += len(step.FindAllString(string(text), -1))
	}
	require.Greater(t, steps, 3, "the oracle sees commands")
	require.Len(t, wrongSteps(t, "      - run: make nothing\n      - run: curl x | sh\n      - run: ./gone\n", string(makefile)), 3, "the oracle sees what is wrong")
}
