package timer

import "strings"

// escapePointer escapes one reference token of an RFC 6901 JSON pointer.
func escapePointer(token string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(token)
}

func notVisibleASCII(r rune) bool { return r <= ' ' || r > '~' }

func alphanumeric(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
}

func notHostRune(r rune) bool { return !alphanumeric(r) && r != '-' && r != '_' }

// notTokenRune is false for the token characters of RFC 9110, section 5.6.2.
func notTokenRune(r rune) bool {
	return !alphanumeric(r) && !strings.ContainsRune("!#$%&'*+-.^_`|~", r)
}

// Excerpt cuts text to the length of a failure message and drops what a log
// or a terminal could misread.
func Excerpt(text string) string {
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == '\uFFFD' {
			return ' '
		}
		return r
	}, text)
	if len(text) > MaxFailureMessage {
		text = strings.ToValidUTF8(text[:MaxFailureMessage], "")
	}
	return strings.TrimSpace(text)
}
