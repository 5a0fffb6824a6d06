package console

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	quotedKey = regexp.MustCompile(`"([a-z]+(?:\.[a-z_.]*)?)"`)
	// builtKey is a key of which the end is known when the page is made.
	builtKey       = regexp.MustCompile(`"([a-z]+\.)"`)
	letters        = regexp.MustCompile(`[A-Za-z]{2,}`)
	templateAction = regexp.MustCompile(`(?s)\{\{.*?\}\}`)
	markup         = regexp.MustCompile(`(?s)<code>.*?</code>|<[^>]*>`)
)

// sources are the files that name keys.
func sources(t *testing.T) (all string) {
	t.Helper()
	for _, pattern := range []string{"*.go", "templates/*.html"} {
		files, err := filepath.Glob(pattern)
		require.NoError(t, err)
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") || file == "english.go" || file == "chinese.go" {
				continue
			}
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			all += string(text)
		}
	}
	return all
}

// No word is missing in a language, and none is kept that nobody says.
func TestCatalogues(t *testing.T) {
	t.Parallel()
	all := sources(t)
	said := map[string]bool{}
	for _, found := range quotedKey.FindAllStringSubmatch(all, -1) {
		said[found[1]] = true
	}
	var prefixes []string
	for _, found := range builtKey.FindAllStringSubmatch(all, -1) {
		prefixes = append(prefixes, found[1])
	}
	require.Contains(t, prefixes, "status.")
	for key, text := range englishWords {
		require.NotEmpty(t, text, key)
		if many, one := strings.CutSuffix(key, ".one"); one { // Chinese says it as of many
			require.Contains(t, englishWords, many)
			require.NotContains(t, chineseWords, key)
			continue
		}
		require.NotEmpty(t, chineseWords[key], "%s has no word in Chinese", key)
		require.Equal(t, verbs(text), verbs(chineseWords[key]), key)
		used := said[key]
		for _, prefix := range prefixes {
			used = used || strings.HasPrefix(key, prefix)
		}
		require.True(t, used, "nobody says %s", key)
	}
	for key := range chineseWords {
		require.Contains(t, englishWords, key)
	}
	for _, found := range regexp.MustCompile(`(?:\.T|say\(v?\.?|say|refuse\(v, [a-zA-Z.]+,|frame\(v,|T)\(?\s*"([a-z]+\.?[a-z_.]*[a-z])"`).FindAllStringSubmatch(all, -1) {
		require.Contains(t, englishWords, found[1], "there is no word for it")
	}
}

var verb = regexp.MustCompile(`%[a-z]`)

func verbs(text string) []string { return verb.FindAllString(text, -1) }

// Templates have no words of their own but names.
func TestTemplatesHaveNoWords(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("templates/*.html")
	require.NoError(t, err)
	require.Len(t, files, len(pageNames)+len(sharedTemplates))
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Empty(t, ownWords(string(text)), file)
		require.NotRegexp(t, `(?i)<script|<style|\sstyle=|\son[a-z]+=|javascript:|\bhx-on|\bjs:`, string(text), file)
	}
	require.Equal(t, []string{"Held"}, ownWords(`<p title="x">{{.T "a"}} Held</p>`), "the oracle sees a word")
}

func ownWords(text string) (words []string) {
	text = markup.ReplaceAllString(templateAction.ReplaceAllString(text, ""), "")
	for _, word := range letters.FindAllString(text, -1) {
		switch word {
		case "Wakecall", "wakecall", "curl", "Temporal", "HTTP", "UTC":
		default:
			words = append(words, word)
		}
	}
	return words
}

// Every route says who may ask for it, and GET changes nothing.
func TestRoutes(t *testing.T) {
	t.Parallel()
	for _, r := range table {
		require.Contains(t, []access{open, signedIn, changing}, r.access, r.path)
		if r.access == changing {
			require.Equal(t, "POST", r.method, r.path)
		}
		if r.method == "POST" && r.access != changing {
			require.Contains(t, []string{"login", "logout", "preferences"}, r.path, "what changes nothing but the browser")
		}
	}
}

func TestCounts(t *testing.T) {
	t.Parallel()
	require.Equal(t, "nothing.such", english.say("nothing.such"))
	require.NotEqual(t, english.Name(), chinese.Name())
}
