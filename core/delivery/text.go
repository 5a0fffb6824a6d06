package delivery

import "strings"

func alphanumeric(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
}

func notHostRune(r rune) bool { return !alphanumeric(r) && r != '-' && r != '_' }

// notTokenRune is false for the token characters of RFC 9110, section 5.6.2.
func notTokenRune(r rune) bool {
	return !alphanumeric(r) && !strings.ContainsRune("!#$%&'*+-.^_`|~", r)
}
