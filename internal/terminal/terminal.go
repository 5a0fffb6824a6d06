// Package terminal keeps the text of strangers from acting on an operator's terminal.
package terminal

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Safe returns text that a terminal may show. It replaces characters that move the cursor,
// change colours, change the direction, end a line or are invisible by their number, such as
// \u001b. In JSON the result means the same.
func Safe(text string) string {
	if !strings.ContainsFunc(text, acts) {
		return text
	}
	var safe strings.Builder
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&safe, `\x%02x`, text[0])
		case !acts(r):
			safe.WriteRune(r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&safe, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&safe, `\u%04x`, r)
		}
		text = text[size:]
	}
	return safe.String()
}

// acts reports whether a character has an effect beyond its glyph, or has no glyph.
func acts(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Variation_Selector) || invisible(r) || r == utf8.RuneError
}

// invisible reports characters of other classes without a glyph: fillers of Hangul, the grapheme
// joiner, and the blank of Braille.
func invisible(r rune) bool {
	switch r {
	case 0x034f, 0x115f, 0x1160, 0x17b4, 0x17b5, 0x2800, 0x3164, 0xffa0:
		return true
	default:
		return false
	}
}

// Writer returns a writer that makes text safe. It keeps line ends and tabs, because programs
// lay out their own text with them. Each write must hold whole characters.
func Writer(to io.Writer) io.Writer { return writer{to} }

type writer struct{ to io.Writer }

// Write implements [io.Writer].
func (w writer) Write(text []byte) (int, error) {
	var safe strings.Builder
	for part := range strings.SplitAfterSeq(string(text), "\n") {
		line, ended := strings.CutSuffix(part, "\n")
		for i, cell := range strings.Split(line, "\t") {
			if i > 0 {
				safe.WriteByte('\t')
			}
			safe.WriteString(Safe(cell))
		}
		if ended {
			safe.WriteByte('\n')
		}
	}
	if _, err := io.WriteString(w.to, safe.String()); err != nil {
		return 0, err
	}
	return len(text), nil
}
