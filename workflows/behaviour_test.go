package workflows_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// marked matches the constants that name a change within a behaviour.
var marked = regexp.MustCompile(`^(version|change)[A-Z]`)

// The page on upgrades names every behaviour, and every mark of a run. An operator who
// upgrades or goes back must know what older workers do not understand.
func TestThePageOnUpgradesNamesEveryBehaviour(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../docs/upgrade.md")
	require.NoError(t, err)
	page, numbers, marks := string(text), 0, 0
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		for name, value := range literals(file) {
			switch {
			case strings.HasPrefix(name, "Behaviour"):
				require.Regexp(t, fmt.Sprintf("\n- Behaviour %s[,:]", value), page, name)
				numbers++
			case marked.MatchString(name):
				mark, err := strconv.Unquote(value)
				require.NoError(t, err)
				require.Contains(t, page, fmt.Sprintf("\n- `%s`: ", mark), name)
				marks++
			}
		}
	}
	require.GreaterOrEqual(t, numbers, 1, "the oracle sees behaviours")
	control := "package p\nconst changeX = \"x\"\n"
	file, err := parser.ParseFile(token.NewFileSet(), "", control, parser.SkipObjectResolution)
	require.NoError(t, err)
	for name := range literals(file) {
		require.Regexp(t, marked, name, "the oracle sees marks")
		marks++
	}
	require.Positive(t, marks)
}

// literals are the constants of a file with a literal value.
func literals(file *ast.File) map[string]string {
	found := map[string]string{}
	for _, decl := range file.Decls {
		general, ok := decl.(*ast.GenDecl)
		if !ok || general.Tok != token.CONST {
			continue
		}
		for _, spec := range general.Specs {
			value := spec.(*ast.ValueSpec)
			for i, name := range value.Names {
				if i < len(value.Values) {
					if literal, ok := value.Values[i].(*ast.BasicLit); ok {
						found[name.Name] = literal.Value
					}
				}
			}
		}
	}
	return found
}
