package auth

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"unicode"
)

// Key is an entry of the key file: the owner of a key, and its digest. The key itself is not
// stored. It is random enough to need no slow hash.
type Key struct {
	Principal Principal
	SHA256    [sha256.Size]byte
}

// maxName bounds the name of a principal, in bytes.
const maxName = 128

// The errors of an entry describe the fault and never repeat the entry, because it may hold a
// key by mistake.
var (
	errForm   = errors.New("an API key is name:sha256-hex, or name:sha256-hex:role:business-type+business-type")
	errName   = fmt.Errorf("the name of an API key is 1 to %d bytes of printable text", maxName)
	errDigest = errors.New("the digest of an API key is 64 hexadecimal digits")
	errEmpty  = errors.New("the digest of an API key must not be that of an empty text")
	errShared = errors.New("two entries have the same API key")
)

// unrestricted is the grant of an entry without a role.
var unrestricted = Grant{Role: Admin, Payloads: true, Types: []string{AllBusinessTypes}}

// ParseKey reads one entry: name:sha256-hex, followed by a grant for [ParseGrant]. An entry
// without a role may do everything.
func ParseKey(entry string) (key Key, err error) {
	parts := strings.SplitN(strings.TrimSpace(entry), ":", 3)
	if len(parts) < 2 || strings.Count(entry, ":") > 3 {
		return Key{}, errForm
	}
	if err := CheckName(parts[0]); err != nil {
		return Key{}, err
	}
	digest, err := parseDigest(parts[1])
	if err != nil {
		return Key{}, err
	}
	grant := unrestricted
	if len(parts) > 2 {
		if grant, err = ParseGrant(parts[2]); err != nil {
			return Key{}, err
		}
	}
	return Key{Principal: Principal{Name: parts[0], By: ByKey, Grants: []Grant{grant}}, SHA256: digest}, nil
}

// Entry returns the key in the form of [ParseKey].
func (k Key) Entry() string {
	return k.Principal.Name + ":" + hex.EncodeToString(k.SHA256[:]) + ":" + k.Principal.Grants[0].String()
}

// CheckName returns what is wrong with the name of a principal.
func CheckName(name string) error {
	unprintable := func(r rune) bool { return !unicode.IsPrint(r) || r == unicode.ReplacementChar }
	if name == "" || len(name) > maxName || strings.ContainsFunc(name, unprintable) {
		return errName
	}
	return nil
}

func parseDigest(text string) (digest [sha256.Size]byte, err error) {
	if len(text) != hex.EncodedLen(len(digest)) {
		return digest, errDigest
	}
	if _, err := hex.Decode(digest[:], []byte(text)); err != nil {
		return digest, errDigest
	}
	if digest == sha256.Sum256(nil) {
		return digest, errEmpty
	}
	return digest, nil
}

// CheckKeys refuses two entries with the same key, since their calls look the same.
func CheckKeys(keys []Key) error {
	known := map[[sha256.Size]byte]bool{}
	for _, key := range keys {
		if known[key.SHA256] {
			return errShared
		}
		known[key.SHA256] = true
	}
	return nil
}
