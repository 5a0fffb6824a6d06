package wire

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A text from outside acts on no line that it stands in. What only has a meaning stays.
func TestAnExcerptIsPlainText(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"out of paper":                       "out of paper",
		"a\nb\tc\r\n":                        "a b c",
		"a\x1b[31mb\x7f\x00c":                "a [31mb  c",
		"a\u009b31mb":                        "a 31mb",
		"a\u2028b\u2029c":                    "a b c",
		"a\xffb\uFFFDc":                      "a b c",
		"\u202egpj.exe\u202c":                "gpj.exe",
		"a\u2066b\u2067c\u2068d\u2069e":      "abcde",
		"a\u200eb\u200fc\u061cd":             "abcd",
		"\u202a\u202b\u202d \u202e":          "",
		"\u05e9\u05dc\u05d5\u05dd":           "\u05e9\u05dc\u05d5\u05dd",
		"\U0001F468\u200d\U0001F469":         "\U0001F468\u200d\U0001F469",
		strings.Repeat("\u00e9", 2000):       strings.Repeat("\u00e9", MaxFailureMessage/2),
		strings.Repeat("\u202e", 2000) + "x": "x",
	} {
		require.Equal(t, want, Excerpt(text), "%q", text)
	}
}
