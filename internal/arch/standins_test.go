package arch

import (
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// standIns replace libraries that Temporal's server imports but Wakecall never calls. They hold
// what the server needs to compile.
var standIns = filepath.Join("..", "..", "standalone", "standins")

// answering are the functions of stand-ins that do not panic, with the reason.
var answering = map[string]string{
	"auto-scaled-workers/wci/client Client.DescribeWorkerControllerInstance":     "whoever shows a version of a worker asks for it",
	"auto-scaled-workers/wci/client Client.DeleteWorkerControllerInstance":       "whoever removes a version of a worker asks for it",
	"auto-scaled-workers/wci/client Client.UpdateWorkerControllerInstance":       "whoever reaches Temporal can ask for it",
	"auto-scaled-workers/wci/client Client.ValidateWorkerControllerInstanceSpec": "whoever reaches Temporal can ask for it",
	"auto-scaled-workers/wci/client refusal":                                     "is the answer of those",
	"aws/aws/retry NewStandard":                                                  "is called when the program starts",
	"elastic NewFieldSort":                                                       "is called when the program starts",
	"elastic FieldSort.Desc":                                                     "is called when the program starts",
	"elastic FieldSort.Missing":                                                  "is called when the program starts",
}

// ofOneProcess are the libraries that only the standalone form can omit, with the reason.
var ofOneProcess = map[string]string{
	"github.com/temporalio/ringpop-go":  "the tests spread Temporal over processes, which find each other by it",
	"github.com/temporalio/tchannel-go": "is the wire of the former",
}

var (
	replacement = regexp.MustCompile(`(?m)^\t(\S+) => (\S*standins/(\S+))$`)
	modulePath  = regexp.MustCompile(`^module (\S+)\n\ngo (\S+)\n$`)
	goVersion   = regexp.MustCompile(`(?m)^go (\S+)$`)
)

// standInsOf maps the libraries that a module replaces to the directories of their stand-ins.
func standInsOf(t *testing.T, module string) map[string]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", module, "go.mod"))
	require.NoError(t, err)
	found := map[string]string{}
	for _, line := range replacement.FindAllStringSubmatch(string(text), -1) {
		require.Equal(t, filepath.Clean(standIns), filepath.Join("..", "..", module, filepath.Dir(line[2])))
		found[line[1]] = line[3]
	}
	return found
}

// Every module with the server has the same replacements, so that most of it is compiled once.
func TestEveryModuleHasTheSameStandIns(t *testing.T) {
	t.Parallel()
	all := standInsOf(t, "standalone")
	require.Greater(t, len(all), 5, "the oracle sees replacements")
	directories, err := os.ReadDir(standIns)
	require.NoError(t, err)
	require.Len(t, directories, len(all))
	shared := maps.Clone(all)
	for library := range ofOneProcess {
		require.Contains(t, shared, library)
		delete(shared, library)
	}
	for _, module := range []string{"e2e", "bench"} {
		require.Equal(t, shared, standInsOf(t, module), module)
	}
	root, err := os.ReadFile(filepath.Join("..", "..", "go.mod"))
	require.NoError(t, err)
	for library, directory := range all {
		text, err := os.ReadFile(filepath.Join(standIns, directory, "go.mod"))
		require.NoError(t, err)
		require.Regexp(t, modulePath, string(text), "a stand-in requires nothing")
		parts := modulePath.FindStringSubmatch(string(text))
		require.Equal(t, []string{library, goVersion.FindStringSubmatch(string(root))[1]}, parts[1:])
	}
}

// A call of a stand-in ends the program with the name of the missing part.
func TestStandInsAnswerNobody(t *testing.T) {
	t.Parallel()
	found, panicking := map[string]bool{}, 0
	require.NoError(t, filepath.WalkDir(standIns, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".go" {
			return err
		}
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		formatted, err := format.Source(text)
		require.NoError(t, err)
		require.Equal(t, string(formatted), string(text), path)
		file, err := parser.ParseFile(token.NewFileSet(), path, text, parser.SkipObjectResolution)
		require.NoError(t, err)
		folder, _ := filepath.Rel(standIns, filepath.Dir(path))
		for _, name := range answers(file) {
			found[filepath.ToSlash(folder)+" "+name] = true
		}
		panicking += strings.Count(string(text), "panic(absent)")
		return nil
	}))
	for name := range found {
		require.NotEmpty(t, answering[name], "%s answers: who calls it?", name)
	}
	for name := range answering {
		require.True(t, found[name], "%s answers no more", name)
	}
	require.Greater(t, panicking, 20, "the oracle sees functions")
}

// answers returns the functions of a file that do more than panic.
func answers(file *ast.File) (names []string) {
	for _, declared := range file.Decls {
		function, ok := declared.(*ast.FuncDecl)
		if !ok || panics(function.Body) {
			continue
		}
		name := function.Name.Name
		if function.Recv != nil {
			name = noun(function.Recv.List[0].Type) + "." + name
		}
		names = append(names, name)
	}
	return names
}

func panics(body *ast.BlockStmt) bool {
	if len(body.List) != 1 {
		return false
	}
	statement, ok := body.List[0].(*ast.ExprStmt)
	if !ok {
		return false
	}
	call, ok := statement.X.(*ast.CallExpr)
	if !ok {
		return false
	}
	function, named := call.Fun.(*ast.Ident)
	argument, told := call.Args[0].(*ast.Ident)
	return named && function.Name == "panic" && told && argument.Name == "absent"
}

// The oracle detects a function that answers.
func TestAnswersAreSeen(t *testing.T) {
	t.Parallel()
	file, err := parser.ParseFile(token.NewFileSet(), "", `package p
		func A() { panic(absent) }
		func (*T) B() { panic(absent) }
		func (*T) C() error { return nil }
		func D() { println(); panic(absent) }
		func E() { panic("other") }
		func F() {}`, parser.SkipObjectResolution)
	require.NoError(t, err)
	require.Equal(t, []string{"T.C", "D", "E", "F"}, answers(file))
}
