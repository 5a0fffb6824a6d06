package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// ownLink is a link of a package's documentation to a name of its own.
var ownLink = regexp.MustCompile(`\[\*?([A-Z]\w*)(\.[A-Z]\w*)?\]`)

// declared returns the names that the files of a package declare, with the methods and fields of
// its types as Type.Name. Beside a type that embeds another one stands Type.*: it has more.
func declared(files []*ast.File) map[string]bool {
	names := map[string]bool{}
	for _, file := range files {
		for _, decl := range file.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				name := d.Name.Name
				if d.Recv != nil {
					name = receiverName(d.Recv.List[0].Type) + "." + name
				}
				names[name] = true
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					declareSpec(names, spec)
				}
			}
		}
	}
	return names
}

func declareSpec(names map[string]bool, spec ast.Spec) {
	switch s := spec.(type) {
	case *ast.ValueSpec:
		for _, name := range s.Names {
			names[name.Name] = true
		}
	case *ast.TypeSpec:
		names[s.Name.Name] = true
		if s.Assign.IsValid() { // an alias
			names[s.Name.Name+".*"] = true
		}
		for _, field := range fieldsOf(s.Type) {
			if len(field.Names) == 0 {
				names[s.Name.Name+".*"] = true
			}
			for _, name := range field.Names {
				names[s.Name.Name+"."+name.Name] = true
			}
		}
	}
}

func fieldsOf(of ast.Expr) []*ast.Field {
	switch t := of.(type) {
	case *ast.StructType:
		return t.Fields.List
	case *ast.InterfaceType:
		return t.Methods.List
	}
	return nil
}

func receiverName(of ast.Expr) string {
	switch t := of.(type) {
	case *ast.StarExpr:
		return receiverName(t.X)
	case *ast.IndexExpr:
		return receiverName(t.X)
	case *ast.IndexListExpr:
		return receiverName(t.X)
	case *ast.Ident:
		return t.Name
	}
	return ""
}

// deadLinks returns the links of a package's documentation that lead to none of its names.
func deadLinks(doc string, names map[string]bool) (dead []string, seen int) {
	for _, link := range ownLink.FindAllStringSubmatch(doc, -1) {
		seen++
		if name := link[1] + link[2]; !names[name] && (link[2] == "" || !names[link[1]+".*"]) {
			dead = append(dead, name)
		}
	}
	return dead, seen
}

// parsed are the files of a directory that its package is made of.
func parsed(t *testing.T, dir string) (files []*ast.File) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	require.NoError(t, err)
	for _, path := range paths {
		if !strings.HasSuffix(path, "_test.go") {
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
			require.NoError(t, err)
			files = append(files, file)
		}
	}
	return files
}

// comments is the text of all comments of some files. Blocks of code in them have no links.
func comments(files []*ast.File) string {
	var text strings.Builder
	for _, file := range files {
		for _, group := range file.Comments {
			for line := range strings.Lines(group.Text()) {
				if !strings.HasPrefix(line, "\t") {
					text.WriteString(line)
				}
			}
		}
	}
	return text.String()
}

// A reader who is sent to a name finds it.
func TestCommentsLeadToNames(t *testing.T) {
	t.Parallel()
	links := 0
	require.NoError(t, filepath.WalkDir(filepath.Join("..", ".."), func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil || !entry.IsDir():
			return err
		case slices.Contains([]string{"bin", "node_modules", ".git", "testdata"}, entry.Name()):
			return filepath.SkipDir
		}
		files := parsed(t, path)
		dead, seen := deadLinks(comments(files), declared(files))
		require.Empty(t, dead, path)
		links += seen
		return nil
	}))
	require.Greater(t, links, 300, "the oracle sees links")
}

// The control.
func TestDeadLinksAreSeen(t *testing.T) {
	t.Parallel()
	file, err := parser.ParseFile(token.NewFileSet(), "a.go",
		"package a\ntype T struct { F int }\nfunc (t *T) M() {}\ntype E struct { T }\nconst C = 1\nfunc New() {}\n", 0)
	require.NoError(t, err)
	dead, seen := deadLinks("[T] [T.F] [*T.M] [E.M] [C] [New] [fmt.Println] [Gone] [T.Gone]", declared([]*ast.File{file}))
	require.Equal(t, []string{"Gone", "T.Gone"}, dead)
	require.Equal(t, 8, seen)
}
