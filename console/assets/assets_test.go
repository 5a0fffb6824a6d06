package assets

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/internal/tuning"
)

// What comes from others is what `make console-assets` wrote, and has its licence beside it.
func TestVendored(t *testing.T) {
	t.Parallel()
	sums, err := os.ReadFile("SHA256SUMS")
	require.NoError(t, err)
	vendored := map[string]bool{}
	for line := range strings.Lines(string(sums)) {
		want, name, ok := strings.Cut(strings.TrimSpace(line), "  ")
		require.True(t, ok, line)
		text, err := os.ReadFile(filepath.Join("files", name))
		require.NoError(t, err)
		sum := sha256.Sum256(text)
		require.Equal(t, want, hex.EncodeToString(sum[:]), name)
		vendored[name] = true
	}
	files, err := os.ReadDir("files")
	require.NoError(t, err)
	for _, file := range files {
		ours := strings.HasPrefix(file.Name(), "console.")
		require.NotEqual(t, ours, vendored[file.Name()], "%s is ours or written by make console-assets", file.Name())
		if base := strings.TrimSuffix(file.Name(), filepath.Ext(file.Name())); !ours {
			require.True(t, vendored[base+".LICENSE"], "%s has no licence beside it", file.Name())
		}
	}
	text, err := os.ReadFile("files/htmx.LICENSE")
	require.NoError(t, err)
	require.Contains(t, string(text), "Zero-Clause BSD")
}

// Packages are named by an exact version and by what must be in them, and the files are of them.
func TestVersions(t *testing.T) {
	t.Parallel()
	list, err := os.Open("vendored.txt")
	require.NoError(t, err)
	defer func() { _ = list.Close() }()
	versions := map[string]string{}
	for lines := bufio.NewScanner(list); lines.Scan(); {
		require.Regexp(t, `^[a-z.]+ \d+\.\d+\.\d+ sha512-[A-Za-z0-9+/]{86}==$`, lines.Text())
		fields := strings.Fields(lines.Text())
		versions[fields[0]] = fields[1]
	}
	require.Len(t, versions, 1)
	require.Contains(t, string(all()["htmx.js"].plain), `version="`+versions["htmx.org"]+`"`)
	require.Contains(t, string(all()["htmx.js"].plain), `registerExtension("sse"`, "one file: two deferred scripts may miss each other")
}

func TestServe(t *testing.T) {
	t.Parallel()
	require.Empty(t, Path("htmx.LICENSE"), "it is no page's")
	require.Regexp(t, `^/console/assets/[0-9a-f]{16}/console\.js$`, Path("console.js"))
	ask := func(name, hash, accepts string) (*httptest.ResponseRecorder, bool) {
		w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header.Set("Accept-Encoding", accepts)
		return w, Serve(w, r, hash, name)
	}
	for name, one := range all() {
		plain, ok := ask(name, one.hash, "")
		require.True(t, ok)
		require.Equal(t, one.plain, plain.Body.Bytes())
		require.Equal(t, one.mediaType, plain.Header().Get("Content-Type"))
		require.Contains(t, plain.Header().Get("Cache-Control"), "immutable")
		packed, ok := ask(name, one.hash, "br;q=1.0, gzip;q=0.8")
		require.True(t, ok)
		require.Equal(t, "gzip", packed.Header().Get("Content-Encoding"))
		require.Less(t, packed.Body.Len(), plain.Body.Len())
		_, ok = ask(name, "0"+one.hash[1:], "")
		require.False(t, ok && one.hash[0] != '0')
	}
	refused, ok := ask("console.js", all()["console.js"].hash, "gzip;q=0.0, br")
	require.True(t, ok)
	require.Empty(t, refused.Header().Get("Content-Encoding"))
}

// The budgets: what a browser loads with its first page.
func TestBudgets(t *testing.T) {
	t.Parallel()
	raw, packed := 0, 0
	for name, one := range all() {
		if strings.HasSuffix(name, ".js") {
			raw, packed = raw+len(one.plain), packed+len(one.packed)
		}
	}
	require.LessOrEqual(t, raw, 110<<10, "all scripts")
	require.LessOrEqual(t, packed, 45<<10, "all scripts, packed")
	require.LessOrEqual(t, len(all()["console.js"].plain), 8<<10, "our script")
	require.LessOrEqual(t, len(all()["console.css"].plain), 12<<10, "the style sheet")
}

// What is taken out of our script is no part of a text that goes over several lines.
func TestOurScriptHasNoTextOfLines(t *testing.T) {
	t.Parallel()
	text, err := fs.ReadFile(files, "files/console.js")
	require.NoError(t, err)
	behind := regexp.MustCompile(`^\s*[^\s/].*//.*[;,{]$`) // a remark behind a statement would take in the next one
	quoted := regexp.MustCompile("'[^']*'|`[^`]*`")
	odd := func(text string) (lines []string) {
		for line := range strings.Lines(text) {
			line = strings.TrimSpace(line)
			if strings.HasPrefix(line, "//") {
				continue
			}
			sign := slices.ContainsFunc(quoted.FindAllString(line, -1), func(text string) bool { return denseSigns.Replace(text) != text })
			if sign || strings.Count(line, "`")%2 == 1 || strings.Contains(line, "/*") || strings.HasSuffix(line, `\`) || behind.MatchString(line) {
				lines = append(lines, line)
			}
		}
		return lines
	}
	require.Empty(t, odd(string(text)))
	require.Len(t, odd("a = `b\n  c`;\n"), 2, "the oracle sees one")
	require.Len(t, odd("a = 'b = c';\n"), 1, "and a sign of equality")
	require.Len(t, odd("a = 'b => c';\na('b', c => 'd');\n"), 1, "and an arrow")
	require.Len(t, odd("a = 'b && c';\nif ('b' && 'c') {\na = 'if (b) {c';\n"), 2, "and other signs")
	require.Len(t, odd("a; // b;\n  // c;\nd;\n"), 1, "and a remark")
	require.Equal(t, "a;b('// c');", denseScript("// x\n  a;\n\n  b('// c');\n"))
	require.Equal(t, "if(a&&b||c===d){e();", denseScript("if (a && b || c === d) {\n  e();\n"))
	require.Equal(t, "a=()=>{b(1,2)\n};c; // d\ne\n", denseScript("a = () => {\n  b(1,\n  2)\n};\nc; // d\ne\n"),
		"an end of a line that ends a statement, or a comment, stays")
}

// A stream that lives is kept open: its beats come well before our script takes it for one that stands still.
func TestAStreamThatLivesIsKept(t *testing.T) {
	t.Parallel()
	found := regexp.MustCompile(`\+\+silent > (\d+)`).FindSubmatch(all()["console.js"].plain)
	require.Len(t, found, 2)
	seconds, err := strconv.Atoi(string(found[1]))
	require.NoError(t, err)
	require.LessOrEqual(t, tuning.LiveBeat+2*time.Second, time.Duration(seconds)*time.Second)
}

// evaluated is what needs a script to be made of text, which the policy of pages forbids.
var evaluated = regexp.MustCompile(`\beval\(|new Function|innerHTML|outerHTML|insertAdjacentHTML|document\.write|setTimeout\(["']`)

func TestOurScriptMakesNoCode(t *testing.T) {
	t.Parallel()
	require.NotRegexp(t, evaluated, string(all()["console.js"].plain))
	require.Regexp(t, evaluated, `box.innerHTML = answer`, "the oracle sees it")
}
