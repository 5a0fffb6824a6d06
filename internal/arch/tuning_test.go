package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// tuned are the rooms with their measured and chosen numbers in internal/tuning.
var tuned = []string{"activities", "workflows", "api", "console", "engine", "worker", "internal/audit", "internal/completion", "internal/limiter", "internal/netlimit", "internal/observe", "internal/oidc", "internal/quota", "cmd/roles"}

// untuned are the numbers of these rooms that are no tunables, with the reason.
var untuned = map[string]string{
	"api/limits/limits.go":                "the limits of the HTTP contract, which users meet",
	"workflows/behaviour.go":              "the numbers of behaviours, which are stored",
	"workflows/tasktimeout.go":            "what Temporal allows, and a part of it",
	"activities/send/classify.go":         "the alerts of TLS, which its RFC numbers",
	"activities/send/sendtest/rules.go":   "a suite of tests",
	"activities/send/sendtest/subject.go": "a suite of tests",
	"internal/audit slotLen":              "the form of the journal",
	"internal/audit permissions":          "the rights of a file",
	"internal/oidc maxSubject":            "what OpenID Connect allows",
	"console Day":                         "a unit of time",
	"console Hour":                        "a unit of time",
	"console PageSize":                    "what users meet",
	"console Minute":                      "a unit of time",
	"console plotHeight":                  "a unit of the picture",
	"console sparkHeight":                 "a unit of the picture",
	"console sparkWidth":                  "a unit of the picture",
	"console plotWidth":                   "a unit of the picture",
	"console longestGap":                  "a unit of the picture",
	"console rowsOfCurve":                 "what users meet",
	"internal/observe minutesOfHour":      "a unit of time",
	"internal/observe secondsOfMinute":    "a unit of time",
	"internal/observe latenessBuckets":    "the buckets of the metric, and what lies above them",
	"console aroundMinute":                "what users meet",
	"console failuresWithin":              "what users meet",
	"console heatDays":                    "what users meet",
	"console heatLevels":                  "what users meet",
	"console examples":                    "what users meet",
	"console timersPart":                  "the API's, which says no number",
	"console maxPartsTried":               "what users meet",
	"console typedAbove":                  "what users meet",
	"console/cron/limits.go":              "the calendar, and what a sentence has room for",
	"console mostListed":                  "what users meet",
	"console shownOccurrences":            "what users meet",
	"console shownNotices":                "what users meet",
	"api markLen":                         "part of the form of a page token",
	"api policyDepth":                     "part of the form of a policy",
	"api pollIDParts":                     "part of the form of the id of a ring",
	"internal/oidc/oidctest/issuer.go":    "an identity provider of tests",
	"engine/enginetest/answers.go":        "what stands in for Temporal in tests",
	"engine/enginetest/answers_lists.go":  "what stands in for Temporal in tests",
	"engine/enginetest/server.go":         "what stands in for Temporal in tests",
	"engine/enginetest/service.go":        "what stands in for Temporal in tests",
	"engine/enginetest/tasks.go":          "what stands in for Temporal in tests",
	"engine tokenVersion":                 "part of the form of the server's token",
	"engine TakenOver":                    "what users meet",
	"engine DefaultWait":                  "what users meet",
	"engine MaxWait":                      "what users meet",
	"activities time.Millisecond":         "at once: Temporal takes no wait of zero",
	"engine time.Millisecond":             "the step of an instant",
}

// numbers returns the numbers that a file states itself: a constant with a literal, and a
// duration written out at its use.
func numbers(file *ast.File) (found []string) {
	for _, decl := range file.Decls {
		general, ok := decl.(*ast.GenDecl)
		if !ok || general.Tok != token.CONST {
			ast.Inspect(decl, func(n ast.Node) bool {
				if call, ok := n.(*ast.CallExpr); ok && !takesUnit(call) {
					for _, argument := range call.Args {
						found = append(found, durations(argument)...)
					}
				}
				if pair, ok := n.(*ast.KeyValueExpr); ok {
					found = append(found, durations(pair.Value)...)
				}
				return true
			})
			continue
		}
		for _, spec := range general.Specs {
			value := spec.(*ast.ValueSpec)
			for i, name := range value.Names {
				if i < len(value.Values) && (hasNumber(value.Values[i]) || len(durations(value.Values[i])) > 0) {
					found = append(found, name.Name)
				}
			}
		}
	}
	return found
}

// takesUnit reports whether a call takes a duration as a unit: it rounds to it, or converts by
// it.
func takesUnit(call *ast.CallExpr) bool {
	switch function := call.Fun.(type) {
	case *ast.SelectorExpr:
		return slices.Contains([]string{"Truncate", "Round"}, function.Sel.Name)
	case *ast.Ident:
		return slices.Contains([]string{"float64", "int", "int64"}, function.Name)
	}
	return false
}

func hasNumber(value ast.Expr) (has bool) {
	ast.Inspect(value, func(n ast.Node) bool {
		literal, ok := n.(*ast.BasicLit)
		has = has || ok && (literal.Kind == token.INT || literal.Kind == token.FLOAT) && literal.Value != "0" && literal.Value != "1"
		return !has
	})
	return has
}

var units = regexp.MustCompile(`^(Nano|Micro|Milli)?second$|^(Second|Minute|Hour)$`)

// durations returns the units of time that an expression is or multiplies: 5 * time.Second, but
// not d / time.Second.
func durations(value ast.Expr) (found []string) {
	switch x := value.(type) {
	case *ast.SelectorExpr:
		if of, ok := x.X.(*ast.Ident); ok && of.Name == "time" && units.MatchString(x.Sel.Name) {
			return []string{"time." + x.Sel.Name}
		}
	case *ast.BinaryExpr:
		if _, literal := x.X.(*ast.BasicLit); x.Op == token.MUL && literal {
			return durations(x.Y)
		}
		if x.Op == token.ADD || x.Op == token.SUB {
			return append(durations(x.X), durations(x.Y)...)
		}
	}
	return nil
}

func productionFiles(t *testing.T, room string) map[string]*ast.File {
	t.Helper()
	found := map[string]*ast.File{}
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(filepath.Join(root, filepath.FromSlash(room)), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		name, _ := filepath.Rel(root, path)
		found[filepath.ToSlash(name)] = file
		return err
	})
	require.NoError(t, err)
	require.NotEmpty(t, found, room)
	return found
}

// Every tunable is in one place.
func TestTunablesStandInOnePlace(t *testing.T) {
	t.Parallel()
	excused := map[string]bool{}
	for _, room := range tuned {
		for path, file := range productionFiles(t, room) {
			if untuned[path] != "" {
				excused[path] = true
				continue
			}
			for _, name := range numbers(file) {
				if at := room + " " + name; untuned[at] != "" {
					excused[at] = true
					continue
				}
				require.Fail(t, "a number of its own", "%s states %s: it belongs in internal/tuning, with its unit, its reason and its record", path, name)
			}
		}
	}
	require.Len(t, excused, len(untuned), "each excuse is needed")
}

// The oracle finds exactly such numbers.
func TestNumbersAreSeen(t *testing.T) {
	t.Parallel()
	for source, want := range map[string][]string{
		`const patience = 5 * time.Second`:                                    {"patience"},
		`const patience = time.Second`:                                        {"patience"},
		`const most = 1 << 16`:                                                {"most"},
		`const factor = 0.95`:                                                 {"factor"},
		`const sum = tuning.A + 15*time.Second`:                               {"sum"},
		`func f() { context.WithTimeout(ctx, 3*time.Minute) }`:                {"time.Minute"},
		`func f() { context.WithTimeout(ctx, time.Second) }`:                  {"time.Second"},
		`var server = http.Server{ReadTimeout: time.Second}`:                  {"time.Second"},
		`const sum = tuning.A + tuning.B`:                                     nil,
		`const seconds = int(timer.MaxTaskTimeout / time.Second)`:             nil,
		`func f() { g(float64(time.Second) / rate) }`:                         nil,
		`const name = "5s"`:                                                   nil,
		`const first, second = 0, 1`:                                          nil,
		`func f(d time.Duration) { g(d.Truncate(time.Second), d.Seconds()) }`: nil,
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x\n"+source, 0)
		require.NoError(t, err)
		require.Equal(t, want, numbers(file), source)
	}
}

// A tunable has a comment or is in a commented group, is used, and names existing records.
func TestTunablesAreExplainedAndUsed(t *testing.T) {
	t.Parallel()
	used := map[string]bool{}
	for _, room := range tuned {
		for path := range productionFiles(t, room) {
			text, err := os.ReadFile(filepath.Join("..", "..", path))
			require.NoError(t, err)
			for _, mention := range tunable.FindAllSubmatch(text, -1) {
				used[string(mention[1])] = true
			}
		}
	}
	records, err := os.ReadDir(filepath.Join("..", "..", "docs", "decisions"))
	require.NoError(t, err)
	seen := 0
	for path, file := range productionFiles(t, "internal/tuning") {
		for _, decl := range file.Decls {
			general, ok := decl.(*ast.GenDecl)
			if !ok || general.Tok != token.CONST {
				continue
			}
			for _, spec := range general.Specs {
				for _, name := range spec.(*ast.ValueSpec).Names {
					seen++
					require.NotEmpty(t, general.Doc.Text()+spec.(*ast.ValueSpec).Doc.Text(), "%s: %s", path, name)
					require.True(t, used[name.Name], "%s is used by nobody", name)
				}
			}
		}
		for _, comment := range file.Comments {
			for _, record := range recordNumber.FindAllStringSubmatch(comment.Text(), -1) {
				require.True(t, slices.ContainsFunc(records, func(e fs.DirEntry) bool { return strings.HasPrefix(e.Name(), record[1]+"-") }), "%s names %s", path, record[1])
			}
		}
	}
	require.Greater(t, seen, 40)
}

var tunable = regexp.MustCompile(`\btuning\.(\w+)`)

var recordNumber = regexp.MustCompile(`\((\d{4})\)`)
