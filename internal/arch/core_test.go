package arch

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What a room of the core may hold at most. A struct that is written as JSON has as many
// fields as the wire has.
const (
	mostCoreFiles   = 30
	mostCoreMethods = 25
	mostCoreFields  = 15
)

// clockwork are what package time has that asks the clock, or waits for it.
var clockwork = []string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker"}

// sideWords are verbs that no stranger can say the object of.
var sideWords = []string{"keep", "leave", "settle", "take", "tell", "hear", "heed", "of", "ask", "note"}

// faultsOf lists what is wrong with the files of one room.
func faultsOf(files []*ast.File) (faults []string) {
	if len(files) > mostCoreFiles {
		faults = append(faults, fmt.Sprintf("%d files", len(files)))
	}
	methods := map[string]int{}
	for _, file := range files {
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				if x, ok := n.X.(*ast.Ident); ok && x.Name == "time" && slices.Contains(clockwork, n.Sel.Name) {
					faults = append(faults, "time."+n.Sel.Name)
				}
			case *ast.FuncDecl:
				if slices.Contains(sideWords, strings.ToLower(n.Name.Name)) {
					faults = append(faults, "a function named "+n.Name.Name)
				}
				if n.Recv != nil {
					methods[receiverOf(n)]++
				}
			case *ast.TypeSpec:
				if s, ok := n.Type.(*ast.StructType); ok && s.Fields.NumFields() > mostCoreFields && !onTheWire(s) {
					faults = append(faults, fmt.Sprintf("%s has %d fields", n.Name.Name, s.Fields.NumFields()))
				}
			}
			return true
		})
	}
	for name, many := range methods {
		if many > mostCoreMethods {
			faults = append(faults, fmt.Sprintf("%s has %d methods", name, many))
		}
	}
	slices.Sort(faults)
	return faults
}

func receiverOf(method *ast.FuncDecl) string {
	of := method.Recv.List[0].Type
	if star, ok := of.(*ast.StarExpr); ok {
		of = star.X
	}
	if name, ok := of.(*ast.Ident); ok {
		return name.Name
	}
	return ""
}

// onTheWire reports whether a struct is written as JSON.
func onTheWire(s *ast.StructType) bool {
	return slices.ContainsFunc(s.Fields.List, func(f *ast.Field) bool { return f.Tag != nil && strings.Contains(f.Tag.Value, "json:") })
}

// filesOf are the production files of a directory.
func filesOf(t *testing.T, dir string) (files []*ast.File) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	require.NoError(t, err)
	for _, path := range paths {
		if !strings.HasSuffix(path, "_test.go") {
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			require.NoError(t, err)
			files = append(files, file)
		}
	}
	return files
}

func TestRoomsOfTheCoreAreSmallAndHaveNoClock(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..", "core")
	entries, err := os.ReadDir(root)
	require.NoError(t, err)
	seen := 0
	for _, entry := range entries {
		if files := filesOf(t, filepath.Join(root, entry.Name())); len(files) > 0 {
			seen++
			require.Empty(t, faultsOf(files), "core/%s", entry.Name())
		}
	}
	require.GreaterOrEqual(t, seen, 10, "the oracle sees rooms")
}

// The control: each kind of fault is seen.
func TestFaultsOfARoomAreSeen(t *testing.T) {
	t.Parallel()
	source := "package p\nfunc f() { time.Now() }\nfunc (t *T) Take() {}\ntype W struct {\n" + strings.Repeat("A int `json:\"a\"`\n", mostCoreFields+1) +
		"}\ntype T struct {\n" + strings.Repeat("A int\n", mostCoreFields+1) + "}\n" + strings.Repeat("func (t T) M() {}\n", mostCoreMethods)
	file, err := parser.ParseFile(token.NewFileSet(), "p.go", source, parser.SkipObjectResolution)
	require.NoError(t, err)
	require.Equal(t, []string{"T has 16 fields", "T has 26 methods", "a function named Take", "time.Now"}, faultsOf([]*ast.File{file}))
	require.Equal(t, []string{"31 files"}, faultsOf(slices.Repeat([]*ast.File{{Name: ast.NewIdent("p")}}, mostCoreFiles+1)))
}
