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
	// scripts are those that are files of ours.
	scripts = regexp.MustCompile(`<script src="\{\{\.Load "[a-z]+\.js"\}\}" defer></script>`)
	// evaluated is what a browser would have to make code of, which the policy of the pages forbids.
	evaluated = regexp.MustCompile(`(?i)<script|<style|\sstyle=|\son[a-z]+=|javascript:|\bhx-on|\bhx-live|\bjs:|hx-trigger="[^"]*\[`)
	markup    = regexp.MustCompile(`(?s)<code>.*?</code>|<[^>]*>`)
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
		require.NotRegexp(t, evaluated, scripts.ReplaceAllString(string(text), ""), file)
	}
	for _, wrong := range []string{
		`<script>alert(1)</script>`, `<p style="x">`, `<p onclick="x">`, `<p hx-on:click="x">`, `<p hx-vals="js:{}">`, `<p hx-trigger="click[ctrlKey]">`, `<p hx-live="x">`,
	} {
		require.Regexp(t, evaluated, scripts.ReplaceAllString(wrong, ""), "the oracle sees it")
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
