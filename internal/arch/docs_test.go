package arch

import (
	"go/ast"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
)

var (
	link   = regexp.MustCompile(`\]\(([^)#:]+)(#[^)]*)?\)`)
	target = regexp.MustCompile("(?m)(?:^    |`)make ([a-z-]+)")
)

// pages maps every Markdown page to its text.
func pages(t *testing.T) map[string]string {
	found := map[string]string{}
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() && slices.Contains([]string{"bin", "node_modules"}, entry.Name()) {
			return fs.SkipDir // built or installed
		}
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".md" {
			return err
		}
		text, err := os.ReadFile(path)
		found[path] = string(text)
		return err
	})
	require.NoError(t, err)
	require.Greater(t, len(found), 10)
	return found
}

func TestLinksLeadSomewhere(t *testing.T) {
	t.Parallel()
	checked := 0
	for page, text := range pages(t) {
		for _, match := range link.FindAllStringSubmatch(text, -1) {
			_, err := os.Stat(filepath.Join(filepath.Dir(page), match[1]))
			require.NoError(t, err, "%s links to %s", page, match[1])
			checked++
		}
	}
	require.Greater(t, checked, 10, "the oracle sees links")
}

func TestPagesNameTargetsThatExist(t *testing.T) {
	t.Parallel()
	makefile, err := os.ReadFile(filepath.Join("..", "..", "Makefile"))
	require.NoError(t, err)
	checked := 0
	for page, text := range pages(t) {
		for _, match := range target.FindAllStringSubmatch(text, -1) {
			require.True(t, strings.Contains(string(makefile), "\n"+match[1]+":"), "%s names make %s", page, match[1])
			checked++
		}
	}
	require.Greater(t, checked, 10, "the oracle sees targets")
}

// aged is a time in a command that has passed by the time a reader runs it.
var aged = regexp.MustCompile(`(?:due_at|latest_at|start_at|end_at|_from|_to|ExecutionTime)["']?\s*[:=<>]+\s*["']?20[0-9]{2}-`)

// Commands on a page work at any time.
func TestPagesDoNotAge(t *testing.T) {
	t.Parallel()
	for page, text := range pages(t) {
		require.Empty(t, aged.FindAllString(text, -1), page)
	}
	require.Regexp(t, aged, `"due_at": "2026-11-21T09:30:00Z"`)
	require.Regexp(t, aged, `ended_from=2026-11-21`)
}

// The glossary has the words that a stranger needs, each once, and a page uses each of them.
func TestTheGlossaryIsShort(t *testing.T) {
	t.Parallel()
	all := pages(t)
	path := filepath.Join("..", "..", "docs", "glossary.md")
	var words []string
	for _, row := range tableRow.FindAllString(all[path], -1)[1:] {
		word, _, _ := strings.Cut(strings.TrimPrefix(row, "| "), " |")
		require.NotContains(t, words, word)
		words = append(words, word)
	}
	require.Len(t, words, 25)
	delete(all, path)
	for _, word := range words {
		require.True(t, used(word, all), "no page says %q", word)
	}
	require.False(t, used("a word that nobody wrote", all), "the oracle sees what is not used")
}

// used reports whether a page has a word.
func used(word string, pages map[string]string) bool {
	for _, text := range pages {
		if strings.Contains(strings.Join(strings.Fields(text), " "), word) {
			return true
		}
	}
	return false
}

// winding are words to avoid in a plain sentence, each with a replacement.
var winding = map[string]string{
	"nobody": "name what does not happen", "somebody": "name the caller, the user or the operator", "anybody": "name the user",
	"everybody": "name the users or the clients",
	"whoever":   "name the caller, the user or the operator", "whom": "turn the sentence round", "what came of": "the result",
	"of which there are": "give the number first", "is whether": "reports whether", "to be told": "active voice",
}

func notInWord(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }

// windingIn returns the winding words in a page's prose, without code.
func windingIn(page string) (found []string) {
	prose := indented.ReplaceAllString(fenced.ReplaceAllString(page, ""), "")
	prose = " " + strings.ToLower(strings.Join(strings.FieldsFunc(prose, notInWord), " ")) + " "
	for word := range winding {
		if strings.Contains(prose, " "+word+" ") {
			found = append(found, word)
		}
	}
	slices.Sort(found)
	return found
}

// requirePlain requires that a text has no winding word.
func requirePlain(t *testing.T, place, text string) {
	t.Helper()
	for _, word := range windingIn(text) {
		require.Fail(t, "winding", "%s says %q: %s", place, word, winding[word])
	}
}

func TestPagesSpeakPlainly(t *testing.T) {
	t.Parallel()
	for page, text := range pages(t) {
		requirePlain(t, page, text)
	}
	require.Equal(t, []string{"of which there are", "whoever", "whom"}, windingIn("Rules, of which\nthere are ten. (Whoever, reads\n| whom |\n    nobody\n"), "the oracle sees winding words")
}

func TestCommentsSpeakPlainly(t *testing.T) {
	t.Parallel()
	seen := 0
	for _, floor := range spoken {
		for path, file := range productionFiles(t, floor) {
			for _, comment := range file.Comments {
				requirePlain(t, path, comment.Text())
				seen++
			}
		}
	}
	require.Greater(t, seen, 5000, "the oracle sees comments")
}

var (
	apiPath   = regexp.MustCompile(`(?m)^  (/\S+):$`)
	tableRow  = regexp.MustCompile(`(?m)^\| .*\|$`)
	parameter = regexp.MustCompile(`\{\w+\}`)
)

// unnamed returns the paths that no row of a page names. A page linked by a row with the
// beginning of the path may name it too.
func unnamed(table string, paths []string, page func(name string) string) (missing []string) {
	rows := tableRow.FindAllString(table, -1)
	for _, path := range paths {
		if !slices.ContainsFunc(rows, func(row string) bool { return names(row, path) || leadsTo(row, path, page) }) {
			missing = append(missing, path)
		}
	}
	return missing
}

// names reports whether a text has a path, with any values of its parameters, or its prefix and
// "…/last".
func names(text, path string) bool {
	form := parameter.ReplaceAllString(path, `[^/\s]+`)
	if regexp.MustCompile(form + "(?:[^\\w/{]|$)").MatchString(text) {
		return true
	}
	last := strings.LastIndex(path, "/")
	return strings.Contains(text, "…"+path[last:]+"`") && strings.Contains(text, path[:last])
}

func leadsTo(row, path string, page func(name string) string) bool {
	for cut := strings.LastIndex(path, "/"); cut > len("/v1"); cut = strings.LastIndex(path[:cut], "/") {
		if !names(row, path[:cut]) {
			continue
		}
		for _, match := range link.FindAllStringSubmatch(row, -1) {
			if names(page(match[1]), path) {
				return true
			}
		}
	}
	return false
}

// The page of the API names every call, and the README leads to it.
func TestThePageOfTheAPINamesEveryCall(t *testing.T) {
	t.Parallel()
	docs := filepath.Join("..", "..", "docs")
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join(docs, filepath.FromSlash(name)))
		require.NoError(t, err)
		return string(text)
	}
	paths := allMatches(apiPath, read("../api/openapi.yaml"))
	require.Greater(t, len(paths), 40, "the oracle sees paths")
	require.Empty(t, unnamed(read("api.md"), paths, read))
	require.Contains(t, read("../README.md"), "](docs/api.md)")

	small := "| `GET /v1/a/{id}`, `…/b` | [page](p.md) |\n"
	require.Equal(t, []string{"/v1/a", "/v1/a/{id}/d", "/v1/e"}, unnamed(small, []string{"/v1/a", "/v1/a/{id}", "/v1/a/{id}/b", "/v1/a/{id}/c", "/v1/a/{id}/d", "/v1/e"},
		func(string) string { return "curl http://127.0.0.1:8080/v1/a/7/c" }), "the oracle sees what is named")
}

// The map of package engine names every noun that an Engine has.
func TestTheMapOfTheEngineNamesEveryNoun(t *testing.T) {
	t.Parallel()
	files := productionFiles(t, "engine")
	text, seen := files["engine/doc.go"].Doc.Text(), 0
	ast.Inspect(files["engine/engine.go"], func(n ast.Node) bool {
		spec, ok := n.(*ast.TypeSpec)
		if !ok || spec.Name.Name != "Engine" {
			return true
		}
		for _, field := range spec.Type.(*ast.StructType).Fields.List {
			if field.Names[0].IsExported() {
				require.Contains(t, text, "  - ["+noun(field.Type)+"]: ", field.Names[0].Name)
				seen++
			}
		}
		return false
	})
	require.Greater(t, seen, 15, "the oracle sees nouns")
}

// The map of package api names every room that adds calls.
func TestTheMapOfTheAPINamesEveryRoom(t *testing.T) {
	t.Parallel()
	files := productionFiles(t, "api")
	text, seen := strings.Join(strings.Fields(files["api/doc.go"].Doc.Text()), " "), 0
	for path, file := range files {
		if slices.ContainsFunc(file.Decls, isRegister) {
			require.Regexp(t, `\b`+filepath.Base(filepath.Dir(path))+`\b`, text)
			seen++
		}
	}
	require.Greater(t, seen, 10, "the oracle sees rooms")
}

func isRegister(d ast.Decl) bool {
	f, ok := d.(*ast.FuncDecl)
	return ok && f.Recv == nil && f.Name.Name == "Register"
}

// workflowID is the beginning of a workflow id in the source of the contract.
var workflowID = regexp.MustCompile(`"((?:wakecall:)?[a-z-]+:)`)

// noWorkflows begin other stored names: the mark of a change, and the occasion of an alert.
var noWorkflows = []string{"wakecall:change:", "outcome:"}

// The table of operations names every kind of workflow.
func TestOperationsNameEveryWorkflow(t *testing.T) {
	t.Parallel()
	contract, err := os.ReadFile(filepath.Join("..", "..", "workflows", "contract.go"))
	require.NoError(t, err)
	page := pages(t)[filepath.Join("..", "..", "docs", "operations.md")]
	ids := allMatches(workflowID, string(contract))
	require.Greater(t, len(ids), 12, "the oracle sees ids")
	for _, id := range ids {
		if !slices.Contains(noWorkflows, id) {
			require.Contains(t, page, "`"+id)
		}
	}
}

// noun returns the name of a type without its pointer and its parameters.
func noun(of ast.Expr) string {
	switch x := of.(type) {
	case *ast.StarExpr:
		return noun(x.X)
	case *ast.IndexListExpr:
		return noun(x.X)
	case *ast.SelectorExpr:
		return noun(x.X) + "." + x.Sel.Name
	case *ast.Ident:
		return x.Name
	}
	return ""
}
