package auth

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"strings"
	"unicode"
)

// keyPrefix lets scanners for leaked secrets recognize a key.
const keyPrefix = "wck_"

// keyBytes is the randomness of a key, in bytes. It cannot be guessed, so that a digest needs no
// slow hash.
const keyBytes = 32

var errListed = errors.New("the name of a key has no colon, comma or white space: entries are lists")

// NewKey makes a key with a grant. It returns the key itself, which is stored nowhere.
func NewKey(name string, grant Grant) (secret string, key Key, err error) {
	if err := CheckName(name); err != nil {
		return "", Key{}, err
	}
	if strings.ContainsFunc(name, func(r rune) bool { return r == ':' || r == ',' || unicode.IsSpace(r) }) {
		return "", Key{}, errListed
	}
	random := make([]byte, keyBytes)
	_, _ = rand.Read(random) // never fails
	secret = keyPrefix + base64.RawURLEncoding.EncodeToString(random)
	principal := Principal{Name: name, By: ByKey, Grants: []Grant{grant}}
	return secret, Key{Principal: principal, SHA256: sha256.Sum256([]byte(secret))}, nil
}

// Granting returns the grant of a role for some business types, or for all if none is named.
// payloads overrides the role's default right to see payloads; nil keeps it.
func Granting(role string, types []string, payloads *bool) (Grant, error) {
	if _, err := ParseRole(role); err != nil {
		return Grant{}, err
	}
	text := role
	if payloads != nil {
		text += "+" + map[bool]string{true: withPayloads, false: withoutPayloads}[*payloads]
	}
	if len(types) > 0 {
		text += ":" + strings.Join(types, "+")
	}
	return ParseGrant(text)
}
