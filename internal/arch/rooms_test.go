package arch

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// held are the floors whose packages the rules of this file hold. More join as they follow.
var held = []string{"core", "engine", "workflows", "activities", "api", "console", "worker", "cmd"}

// The bounds of a package. A struct with JSON tags has as many fields as its wire form.
const (
	mostFiles   = 30
	mostMethods = 25
	mostFields  = 15
)

// wiring is where the nouns of the engine are connected: Engine has a field for each.
var wiring = filepath.Join("..", "..", "engine")

// spoken are the floors with rules for names and lines: all of them.
var spoken = slices.Concat(held, []string{"client", "internal", "bench", "standalone", "examples", "deploy", "e2e"})

// vague are verbs without a clear object. No function has one of them as its name.
var vague = []string{
	"keep", "leave", "settle", "take", "tell", "hear", "heed", "of", "ask", "note", "beat", "did", "goon", "goeson", "hinder", "lapsed", "seek",
	"sweep", "tidy", "told",
}

// dialect are words that only this house used. No name is one of them.
var dialect = []string{"fate", "standing", "goesOn"}

// clockwork are the names in package time that read the clock, or wait for it.
var clockwork = []string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker"}

// faultsOf returns the faults in the files of one package.
func faultsOf(files []*ast.File) (faults []string) {
	if len(files) > mostFiles {
		faults = append(faults, fmt.Sprintf("%d files", len(files)))
	}
	methods := map[string]int{}
	for _, file := range files {
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				if n.Recv != nil {
					methods[receiverOf(n.Recv.List[0].Type)]++
				}
			case *ast.TypeSpec:
				if s, ok := n.Type.(*ast.StructType); ok && s.Fields.NumFields() > mostFields && !onTheWire(s) {
					faults = append(faults, fmt.Sprintf("%s has %d fields", n.Name.Name, s.Fields.NumFields()))
				}
			}
			return true
		})
	}
	for name, many := range methods {
		if many > mostMethods {
			faults = append(faults, fmt.Sprintf("%s has %d methods", name, many))
		}
	}
	slices.Sort(faults)
	return faults
}

// namesOf returns the names in a file that a stranger cannot read.
func namesOf(file *ast.File) (faults []string) {
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if slices.Contains(vague, strings.ToLower(n.Name.Name)) {
				faults = append(faults, "a function named "+n.Name.Name)
			}
		case *ast.Ident:
			if slices.ContainsFunc(dialect, func(word string) bool { return strings.EqualFold(word, n.Name) }) {
				faults = append(faults, "a name "+n.Name)
			}
		}
		return true
	})
	return faults
}

// receiverOf returns the name of a receiver's type.
func receiverOf(of ast.Expr) string {
	switch of := of.(type) {
	case *ast.StarExpr:
		return receiverOf(of.X)
	case *ast.IndexExpr:
		return receiverOf(of.X)
	case *ast.IndexListExpr:
		return receiverOf(of.X)
	case *ast.Ident:
		return of.Name
	default:
		return ""
	}
}

// onTheWire reports whether a struct is written as JSON.
func onTheWire(s *ast.StructType) bool {
	return slices.ContainsFunc(s.Fields.List, func(f *ast.Field) bool { return f.Tag != nil && strings.Contains(f.Tag.Value, "json:") })
}

// clocksOf returns the uses of a clock in a file.
func clocksOf(file *ast.File) (clocks []string) {
	ast.Inspect(file, func(n ast.Node) bool {
		if use, ok := n.(*ast.SelectorExpr); ok && slices.Contains(clockwork, use.Sel.Name) {
			if x, ok := use.X.(*ast.Ident); ok && x.Name == "time" {
				clocks = append(clocks, "time."+use.Sel.Name)
			}
		}
		return true
	})
	return clocks
}

// concurrencyOf returns what of a file needs the race detector.
func concurrencyOf(file *ast.File) (found []string) {
	for _, spec := range file.Imports {
		if strings.HasPrefix(spec.Path.Value, `"sync`) {
			found = append(found, "an import of "+spec.Path.Value)
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n.(type) {
		case *ast.GoStmt:
			found = append(found, "a goroutine")
		case *ast.ChanType:
			found = append(found, "a channel")
		}
		return true
	})
	return found
}

// packagesOf returns the production files of each directory below a floor.
func packagesOf(t *testing.T, floor string) map[string][]*ast.File {
	packages := map[string][]*ast.File{}
	err := filepath.WalkDir(filepath.Join("..", "..", floor), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		packages[filepath.Dir(path)] = append(packages[filepath.Dir(path)], file)
		return err
	})
	require.NoError(t, err)
	return packages
}

func TestPackagesAreSmall(t *testing.T) {
	t.Parallel()
	seen := 0
	for _, floor := range held {
		for dir, files := range packagesOf(t, floor) {
			seen++
			faults := faultsOf(files)
			if dir == wiring {
				faults = slices.DeleteFunc(faults, func(fault string) bool { return strings.HasPrefix(fault, "Engine has ") })
			}
			require.Empty(t, faults, dir)
			_, err := os.Stat(filepath.Join(dir, "doc.go"))
			require.NoError(t, err, "%s says what it is for in doc.go", dir)
		}
	}
	require.GreaterOrEqual(t, seen, 40, "the oracle sees packages")
}

// A verb is the name of a function only if a stranger can say its object.
func TestNamesAreReadable(t *testing.T) {
	t.Parallel()
	seen := 0
	for _, floor := range spoken {
		for dir, files := range packagesOf(t, floor) {
			for _, file := range files {
				seen++
				require.Empty(t, namesOf(file), dir)
			}
		}
	}
	require.Greater(t, seen, 400, "the oracle sees files")
}

// crowded returns the directories below a floor with more test files than a package may have.
func crowded(t *testing.T, floor string, most int) (dirs []string, seen int) {
	t.Helper()
	counts := map[string]int{}
	err := filepath.WalkDir(filepath.Join("..", "..", floor), func(path string, entry fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, "_test.go") {
			counts[filepath.Dir(path)]++
		}
		return err
	})
	require.NoError(t, err)
	for dir, files := range counts {
		if files > most {
			dirs = append(dirs, dir)
		}
	}
	return dirs, len(counts)
}

// The tests of deployments are split by subject: one package of all ran for a quarter of an hour.
func TestTestsOfDeploymentsAreSplit(t *testing.T) {
	t.Parallel()
	dirs, seen := crowded(t, "e2e", mostFiles)
	require.Empty(t, dirs)
	require.Greater(t, seen, 10, "the oracle sees packages")
	dirs, _ = crowded(t, "e2e", 20)
	require.NotEmpty(t, dirs, "and their files")
}

// The core is pure: it has no clock, and nothing in it runs beside anything else, so that the
// Makefile does not run its tests under the race detector.
func TestTheCoreHasNoClock(t *testing.T) {
	t.Parallel()
	seen := 0
	for dir, files := range packagesOf(t, "core") {
		for _, file := range files {
			seen++
			require.Empty(t, clocksOf(file), dir)
			require.Empty(t, concurrencyOf(file), dir)
		}
	}
	require.Greater(t, seen, 50, "the oracle sees files")
}

// The control: each kind of fault is detected.
func TestFaultsOfAPackageAreSeen(t *testing.T) {
	t.Parallel()
	source := "package p\nimport \"sync/atomic\"\nfunc f(c chan int) { goesOn := 1; go time.Now() }\nfunc (t *T[X]) Take() {}\ntype W struct {\n" + strings.Repeat("A int `json:\"a\"`\n", mostFields+1) +
		"}\ntype T[X any] struct {\n" + strings.Repeat("A int\n", mostFields+1) + "}\n" + strings.Repeat("func (t T[X]) M() {}\n", mostMethods)
	file, err := parser.ParseFile(token.NewFileSet(), "p.go", source, parser.SkipObjectResolution)
	require.NoError(t, err)
	require.Equal(t, []string{"T has 16 fields", "T has 26 methods"}, faultsOf([]*ast.File{file}))
	require.Equal(t, []string{"a name goesOn", "a function named Take"}, namesOf(file))
	require.Equal(t, []string{"time.Now"}, clocksOf(file))
	require.Equal(t, []string{`an import of "sync/atomic"`, "a channel", "a goroutine"}, concurrencyOf(file))
	require.Equal(t, []string{"31 files"}, faultsOf(slices.Repeat([]*ast.File{{Name: ast.NewIdent("p")}}, mostFiles+1)))
}
