package arch

import (
	"go/ast"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A room of the engine is one noun: it is as small as a room of the core, and has a map of its
// own. It may ask the clock. The root is left out: it names every noun, and does nothing else.
func TestRoomsOfTheEngineAreSmall(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..", "engine")
	entries, err := os.ReadDir(root)
	require.NoError(t, err)
	seen := 0
	for _, entry := range entries {
		if !entry.IsDir() {
			continue
		}
		seen++
		require.Empty(t, faultsBesideTheClock(filesOf(t, filepath.Join(root, entry.Name()))), "engine/%s", entry.Name())
		require.FileExists(t, filepath.Join(root, entry.Name(), "doc.go"))
	}
	require.Greater(t, seen, 20, "the oracle sees rooms")
	require.Len(t, filesOf(t, root), 2, "the root wires, and does nothing else")
}

func faultsBesideTheClock(files []*ast.File) []string {
	return slices.DeleteFunc(faultsOf(files), func(fault string) bool { return strings.HasPrefix(fault, "time.") })
}
