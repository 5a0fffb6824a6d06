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

// told are the files that use the text of an error, with the reason why it may be shown. The
// text of a foreign error names addresses, files and types, so only the log has it.
var told = map[string]string{
	"activities/bulk.go":                "field errors of a refusal are our own words",
	"activities/delivery/send.go":       "names the header that no key opens, and not why",
	"activities/dispatch/loader.go":     "field errors of an item are our own words",
	"activities/job/job.go":             "stands in the history of a job, which no call shows",
	"activities/send/amqp/transport.go": "one of our own errors, without a cause",
	"activities/send/classify.go":       "is compared, and not shown",
	"activities/send/sendtest/leaks.go": "runs in tests only",
	"api/front/log.go":                  "is the line of the log",
	"api/front/tls.go":                  "is a line of the log",
	"engine/enginetest/answers.go":      "runs in tests only",
	"internal/door/door.go":             "the door's own refusals",
	"internal/oidc/browser.go":          "is a line of the log",
	"engine/canary/beat.go":             "is a line of the log, and of readiness for callers who are let in",
	"internal/oidc/refresh.go":          "is a line of the log",
	"core/wire/error.go":                "is how an error stands in the log",
	"core/recurrence/check.go":          "the rule's own refusals",
	"core/timer/local.go":               "the calendar's own refusals",
}

// Rooms that write errors to the user's terminal.
var onTerminals = []string{"cmd", "client", "bench", "examples", "e2e", "standalone", ".git", "bin", "docs"}

func TestErrorsOfOthersAreNotShown(t *testing.T) {
	t.Parallel()
	found := map[string]bool{}
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(root, path)
		if entry.IsDir() && slices.Contains(onTerminals, name) {
			return filepath.SkipDir
		}
		if entry.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err == nil && makesText(file) {
			found[filepath.ToSlash(name)] = true
		}
		return err
	})
	require.NoError(t, err)
	for name := range found {
		require.NotEmpty(t, told[name], "%s makes text of an error: who reads it?", name)
	}
	for name := range told {
		require.True(t, found[name], "%s does so no more", name)
	}
}

// makesText reports whether a file uses the text of an error, or puts one into a text.
func makesText(file *ast.File) (does bool) {
	ast.Inspect(file, func(node ast.Node) bool {
		call, ok := node.(*ast.CallExpr)
		if !ok {
			return true
		}
		selector, ok := call.Fun.(*ast.SelectorExpr)
		switch {
		case !ok:
		case selector.Sel.Name == "Error" && len(call.Args) == 0:
			does = true
		case strings.HasPrefix(selector.Sel.Name, "Sprint"):
			does = does || slices.ContainsFunc(call.Args, func(arg ast.Expr) bool {
				name, ok := arg.(*ast.Ident)
				return ok && (name.Name == "err" || name.Name == "cause")
			})
		}
		return true
	})
	return does
}

func TestTextOfErrorsIsSeen(t *testing.T) {
	t.Parallel()
	for source, does := range map[string]bool{
		`message = err.Error()`:            true,
		`message = fmt.Sprintf("%v", err)`: true,
		`message = fmt.Sprint("x", cause)`: true,
		`err = fmt.Errorf("x: %w", err)`:   false,
		`logger.Error("x", "error", err)`:  false,
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "", "package x; func f() { "+source+" }", 0)
		require.NoError(t, err)
		require.Equal(t, does, makesText(file), source)
	}
}
