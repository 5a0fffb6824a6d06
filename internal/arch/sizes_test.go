package arch

import (
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

// Limits of what one reader can hold in mind.
const (
	mostFiles   = 30
	mostMethods = 25
	mostFields  = 15
)

// sized are the rooms, and those within them, that the limits hold for.
var sized = []string{"workflows", "activities"}

// shape is what a package has: production files, methods by type, and fields by struct.
type shape struct {
	files           int
	methods, fields map[string]int
}

func newShape() shape { return shape{methods: map[string]int{}, fields: map[string]int{}} }

// add counts what a file has. A struct whose every field is named for JSON is a wire shape,
// and may have as many as the wire.
func (s *shape) add(file *ast.File) {
	s.files++
	for _, decl := range file.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			if decl.Recv != nil {
				s.methods[receiver(decl.Recv.List[0].Type)]++
			}
		case *ast.GenDecl:
			for _, spec := range decl.Specs {
				if named, ok := spec.(*ast.TypeSpec); ok {
					s.fields[named.Name.Name] = fieldsOf(named.Type)
				}
			}
		}
	}
}

func receiver(of ast.Expr) string {
	switch of := of.(type) {
	case *ast.StarExpr:
		return receiver(of.X)
	case *ast.IndexExpr:
		return receiver(of.X)
	case *ast.IndexListExpr:
		return receiver(of.X)
	case *ast.Ident:
		return of.Name
	}
	return ""
}

func fieldsOf(of ast.Expr) (fields int) {
	structure, ok := of.(*ast.StructType)
	if !ok {
		return 0
	}
	wire := true
	for _, field := range structure.Fields.List {
		fields += max(len(field.Names), 1)
		wire = wire && field.Tag != nil && strings.Contains(field.Tag.Value, "json:")
	}
	if wire {
		return 0
	}
	return fields
}

// tooLarge names what is above the limits.
func (s *shape) tooLarge() (large []string) {
	if s.files > mostFiles {
		large = append(large, "files")
	}
	for name, methods := range s.methods {
		if methods > mostMethods {
			large = append(large, "methods of "+name)
		}
	}
	for name, fields := range s.fields {
		if fields > mostFields {
			large = append(large, "fields of "+name)
		}
	}
	slices.Sort(large)
	return large
}

func TestNothingIsTooLarge(t *testing.T) {
	t.Parallel()
	packages := 0
	for room := range rooms {
		top, _, _ := strings.Cut(room, "/")
		if !slices.Contains(sized, top) {
			continue
		}
		files, err := filepath.Glob(filepath.Join("..", "..", room, "*.go"))
		require.NoError(t, err)
		s := newShape()
		for _, path := range files {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			require.NoError(t, err)
			s.add(file)
		}
		require.Empty(t, s.tooLarge(), room)
		_, err = os.Stat(filepath.Join("..", "..", room, "doc.go"))
		require.NoError(t, err, "%s says what it is for in doc.go", room)
		packages++
	}
	require.Greater(t, packages, 5, "the oracle sees packages")
}

// The control: each kind of excess is seen, and a wire shape is none.
func TestWhatIsTooLargeIsSeen(t *testing.T) {
	t.Parallel()
	var code strings.Builder
	code.WriteString("package p\ntype Large[T any] struct {\n")
	wire := "type Wire struct {\n"
	for n := range mostFields + 1 {
		name := "F" + strings.Repeat("x", n)
		code.WriteString(name + " int\n")
		wire += name + " int `json:\"" + name + "\"`\n"
	}
	code.WriteString("}\n" + wire + "}\n")
	for n := range mostMethods + 1 {
		code.WriteString("func (l *Large[T]) M" + strings.Repeat("x", n) + "() {}\n")
	}
	file, err := parser.ParseFile(token.NewFileSet(), "", code.String(), parser.SkipObjectResolution)
	require.NoError(t, err)
	s := newShape()
	s.add(file)
	require.Equal(t, []string{"fields of Large", "methods of Large"}, s.tooLarge())
	s.files = mostFiles + 1
	require.Equal(t, []string{"fields of Large", "files", "methods of Large"}, s.tooLarge())
}
