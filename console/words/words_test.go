package words

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	quotedKey = regexp.MustCompile(`"([a-z]+(?:\.[a-z_.]*)?)"`)
	// builtKey is a key of which the end is known when the page is made.
	builtKey = regexp.MustCompile(`"([a-z]+\.)"`)
)

// sources are the files that name keys.
func sources(t *testing.T) (all string) {
	t.Helper()
	for _, pattern := range []string{"../*.go", "../*/*.go", "../site/templates/*.html"} {
		files, err := filepath.Glob(pattern)
		require.NoError(t, err)
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") || strings.HasSuffix(file, "english.go") || strings.HasSuffix(file, "chinese.go") {
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
	for _, found := range regexp.MustCompile(`(?:\.T|\.HTML|[sS]ay|Refuse\(v, [a-zA-Z.]+,|Frame\(v,|T)\(?\s*"([a-z]+\.?[a-z_.]*[a-z])"`).FindAllStringSubmatch(all, -1) {
		require.Contains(t, englishWords, found[1], "there is no word for it")
	}
}

var verb = regexp.MustCompile(`%(\[\d\])?[a-z]`)

// verbs are those of a text. Where they name their values, each language has its own order.
func verbs(text string) []string {
	all := verb.FindAllString(text, -1)
	if strings.Contains(text, "%[") {
		slices.Sort(all)
	}
	return all
}

// A text for one of something may leave the number out.
func TestOneOfSomething(t *testing.T) {
	t.Parallel()
	said := Speech{Lang: English}
	require.Equal(t, "one attempt", said.N("policy.attempts", 1))
	require.Equal(t, "1 timer", said.N("selected.count", 1))
	require.Equal(t, "2 timers", said.N("selected.count", 2))
}
