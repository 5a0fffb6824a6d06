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

// maxMethods bounds the methods of an interface. A larger one shows the whole of another room,
// not the needs of its own.
const maxMethods = 7

// widths maps each interface of a package to the number of its methods, including those of
// embedded interfaces.
func widths(files []*ast.File) map[string]int {
	declared := map[string]*ast.InterfaceType{}
	for _, file := range files {
		ast.Inspect(file, func(n ast.Node) bool {
			if spec, ok := n.(*ast.TypeSpec); ok {
				if i, ok := spec.Type.(*ast.InterfaceType); ok {
					declared[spec.Name.Name] = i
				}
			}
			return true
		})
	}
	found := map[string]int{}
	for name, i := range declared {
		found[name] = width(i, declared)
	}
	return found
}

func width(i *ast.InterfaceType, declared map[string]*ast.InterfaceType) (methods int) {
	for _, field := range i.Methods.List {
		if len(field.Names) > 0 {
			methods += len(field.Names)
			continue
		}
		if name, ok := field.Type.(*ast.Ident); ok && declared[name.Name] != nil {
			methods += width(declared[name.Name], declared)
		}
	}
	return methods
}

// packages parses the production files of all modules, by folder.
func packages(t *testing.T) map[string][]*ast.File {
	t.Helper()
	root, found := filepath.Join("..", ".."), map[string][]*ast.File{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && slices.Contains([]string{".git", "bin", "docs"}, entry.Name()) {
			return filepath.SkipDir
		}
		if entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		found[filepath.Dir(path)] = append(found[filepath.Dir(path)], file)
		return err
	})
	require.NoError(t, err)
	return found
}

func TestInterfacesAreSmall(t *testing.T) {
	t.Parallel()
	seen := 0
	for folder, files := range packages(t) {
		for name, methods := range widths(files) {
			require.LessOrEqual(t, methods, maxMethods, "%s.%s", folder, name)
			seen++
		}
	}
	require.Greater(t, seen, 20, "the oracle sees interfaces")
}

// The oracle detects an interface that is too large, even by embedding.
func TestWidthsOfInterfaces(t *testing.T) {
	t.Parallel()
	file, err := parser.ParseFile(token.NewFileSet(), "", `package p
		type Small interface { A(); B(); C(); D() }
		type Other interface { E(); F(); G(); H() }
		type Whole interface { Small; Other; error }
		type Number interface { ~int | ~float64 }
		type Struct struct { Small }`, parser.SkipObjectResolution)
	require.NoError(t, err)
	require.Equal(t, map[string]int{"Small": 4, "Other": 4, "Whole": 8, "Number": 0}, widths([]*ast.File{file}))
}
