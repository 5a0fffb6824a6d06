// Package terminal keeps what strangers wrote from acting on an operator's terminal.
package terminal

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Safe is text as a terminal may show it. What moves the cursor, changes colours, turns the
// direction, ends a line or cannot be seen is shown by its number, such as \u001b. In a
// JSON text it means the same.
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

// acts is whether a character does something beside standing there, or is none.
func acts(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Variation_Selector) || invisible(r) || r == utf8.RuneError
}

// invisible are characters of other classes that show nothing: fillers of Hangul, the
// grapheme joiner, and the blank of Braille.
func invisible(r rune) bool {
	switch r {
	case 0x034f, 0x115f, 0x1160, 0x17b4, 0x17b5, 0x2800, 0x3164, 0xffa0:
		return true
	default:
		return false
	}
}

// Writer passes on what is written, safe but for line ends and tabs, by which a program
// lays out what it says itself. Each write is whole characters.
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
