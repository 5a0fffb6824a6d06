package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// vague are verbs that no method is called: a stranger cannot say their object.
var vague = []string{"keep", "leave", "settle", "take", "tell", "hear", "heed", "of"}

// spoken are the rooms, and those within them, that go by the words.
var spoken = []string{"workflows", "activities"}

// vagueMethods are the methods of a file that are called by one of those verbs alone.
func vagueMethods(file *ast.File) (found []string) {
	for _, decl := range file.Decls {
		method, ok := decl.(*ast.FuncDecl)
		if ok && method.Recv != nil && slices.Contains(vague, strings.ToLower(method.Name.Name)) {
			found = append(found, method.Name.Name)
		}
	}
	return found
}

func TestAStrangerCanSayTheObjectOfAVerb(t *testing.T) {
	t.Parallel()
	seen := 0
	for _, room := range spoken {
		err := filepath.WalkDir(filepath.Join("..", "..", room), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			require.NoError(t, err)
			require.Empty(t, vagueMethods(file), path)
			seen += len(file.Decls)
			return nil
		})
		require.NoError(t, err)
	}
	require.Greater(t, seen, 500, "the oracle sees declarations")
}

// The control: a method called by such a verb is seen, with a capital as well, and a function
// or a longer name is none.
func TestVagueVerbsAreSeen(t *testing.T) {
	t.Parallel()
	file, err := parser.ParseFile(token.NewFileSet(), "", `package p

func (t T) keep()      {}
func (t *T) Settle()   {}
func (t T) takeItems() {}
func keep()            {}
`, parser.SkipObjectResolution)
	require.NoError(t, err)
	require.Equal(t, []string{"keep", "Settle"}, vagueMethods(file))
}
