package site

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	letters        = regexp.MustCompile(`[A-Za-z]{2,}`)
	templateAction = regexp.MustCompile(`(?s)\{\{.*?\}\}`)
	markup         = regexp.MustCompile(`(?s)<code>.*?</code>|<[^>]*>`)
)

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
