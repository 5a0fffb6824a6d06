package arch

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	sweepsLine = regexp.MustCompile(`(?m)^SWEEPS := (.*)$`)
	importOf   = regexp.MustCompile(`(?m)^\t"github.com/wakecall/wakecall/internal/detector"$`)
)

// A test that the race detector is spared runs without it: the Makefile names its package.
func TestSweepsRunWithoutTheDetector(t *testing.T) {
	t.Parallel()
	makefile, err := os.ReadFile(filepath.Join("..", "..", "Makefile"))
	require.NoError(t, err)
	named := strings.Fields(sweepsLine.FindStringSubmatch(string(makefile))[1])
	require.ElementsMatch(t, named, withSweeps(t, filepath.Join("..", "..")))
}

// The control: a package with such a test is found.
func TestAPackageWithASweepIsFound(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(root, "a", "b"), 0o700))
	text := "package b\n\nimport (\n\t\"github.com/wakecall/wakecall/internal/detector\"\n)\n"
	require.NoError(t, os.WriteFile(filepath.Join(root, "a", "b", "b_test.go"), []byte(text), 0o600))
	require.Equal(t, []string{"./a/b"}, withSweeps(t, root))
}

// withSweeps returns the packages below a directory whose tests ask for the detector.
func withSweeps(t *testing.T, root string) (packages []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(root, func(path string, _ os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		within, _ := filepath.Rel(root, filepath.Dir(path))
		if name := "./" + filepath.ToSlash(within); importOf.Match(text) && !slices.Contains(packages, name) {
			packages = append(packages, name)
		}
		return err
	}))
	return packages
}
