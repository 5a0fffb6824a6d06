package arch

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// testCommand is a command that runs a test or a benchmark of a package by name.
var testCommand = regexp.MustCompile(`(?m)^    (?:\(cd (\S+) && )?(?:\w+=\w+ )*go test .*?(?:-run|-bench) (\w+).*? (\.\S*?)\)?(?:\s+#.*)?$`)

// missingTests returns the commands of a page that would run no test.
func missingTests(t *testing.T, page string) (missing []string, seen int) {
	for _, command := range testCommand.FindAllStringSubmatch(page, -1) {
		dir, name := filepath.Join("..", "..", command[1], command[3]), command[2]
		files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
		require.NoError(t, err)
		declared := regexp.MustCompile(`func (?:Test|Benchmark)?` + name)
		found := false
		for _, file := range files {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			found = found || declared.Match(text)
		}
		if !found {
			missing = append(missing, strings.TrimSpace(command[0]))
		}
		seen++
	}
	return missing, seen
}

// Every command on the page runs an existing test.
func TestPageOfDevelopmentNamesTestsThatExist(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "development.md"))
	require.NoError(t, err)
	missing, seen := missingTests(t, string(text))
	require.Empty(t, missing)
	require.Greater(t, seen, 4, "the oracle sees commands")

	missing, _ = missingTests(t, "    (cd e2e && go test -run TestThatNobodyWrote -v .)\n")
	require.Len(t, missing, 1, "the oracle sees what is missing")
}
