package wire

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

func clip(text string, most int) string {
	if len(text) > most {
		return strings.ToValidUTF8(text[:most-len("…")], "") + "…"
	}
	return text
}

// EscapePointer escapes one reference token of an RFC 6901 JSON pointer.
func EscapePointer(token string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(token)
}

// NotVisibleASCII reports whether r is not a visible ASCII character.
func NotVisibleASCII(r rune) bool { return r <= ' ' || r > '~' }

// Excerpt cuts text to [MaxFailureMessage]. It drops characters that change the direction of a line
// for what follows, and makes spaces of others that a log or a terminal could misread.
func Excerpt(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.Is(unicode.Bidi_Control, r):
			return -1
		case unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp) || r == utf8.RuneError:
			return ' '
		default:
			return r
		}
	}, text)
	if len(text) > MaxFailureMessage {
		text = strings.ToValidUTF8(text[:MaxFailureMessage], "")
	}
	return strings.TrimSpace(text)
}

// Clip cuts a text to most bytes, and marks it where it was longer.
func Clip(text string, most int) string {
	if len(text) > most {
		return strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}
