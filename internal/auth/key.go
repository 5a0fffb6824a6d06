package auth

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/wakecall/wakecall/timer"
)

// Key is an entry of the key file: who has the key, and its digest. The key itself is
// kept nowhere. It has enough randomness of its own to need no slow hash.
type Key struct {
	Principal Principal
	SHA256    [sha256.Size]byte
}

// maxName is how many bytes the name of a principal may have.
const maxName = 128

// The errors of an entry name what is wrong and never repeat the entry, which may hold
// a key by mistake.
var (
	errForm   = errors.New("an API key is name:sha256-hex, or name:sha256-hex:role:business-type+business-type")
	errName   = fmt.Errorf("the name of an API key is 1 to %d bytes of printable text", maxName)
	errDigest = errors.New("the digest of an API key is 64 hexadecimal digits")
	errEmpty  = errors.New("the digest of an API key is that of no text at all")
	errRole   = fmt.Errorf("the roles of an API key, with + between them, are among %v", roles)
	errTypes  = fmt.Errorf("the business types of an API key, with + between them, are names of business types, or %s alone", AllBusinessTypes)
	errShared = errors.New("two entries have the same API key")
)

// ParseKey reads one entry: name:sha256-hex[:roles[:business types]], the roles and the
// business types with + between them. An entry that names no role has [Operator], and
// one that names no business types has all of them.
func ParseKey(entry string) (Key, error) {
	parts := strings.Split(strings.TrimSpace(entry), ":")
	if len(parts) < 2 || len(parts) > 4 {
		return Key{}, errForm
	}
	key := Key{Principal: Principal{Name: parts[0], Roles: []Role{Operator}, BusinessTypes: []string{AllBusinessTypes}}}
	if err := checkName(key.Principal.Name); err != nil {
		return Key{}, err
	}
	var err error
	if key.SHA256, err = parseDigest(parts[1]); err != nil {
		return Key{}, err
	}
	if len(parts) > 2 {
		if key.Principal.Roles, err = parseRoles(parts[2]); err != nil {
			return Key{}, err
		}
	}
	if len(parts) > 3 {
		if key.Principal.BusinessTypes, err = parseTypes(parts[3]); err != nil {
			return Key{}, err
		}
	}
	return key, nil
}

func checkName(name string) error {
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

func parseRoles(text string) (found []Role, err error) {
	for name := range strings.SplitSeq(text, "+") {
		if !slices.Contains(roles, Role(name)) {
			return nil, errRole
		}
		found = append(found, Role(name))
	}
	return found, nil
}

func parseTypes(text string) ([]string, error) {
	types := strings.Split(text, "+")
	if len(types) == 1 && types[0] == AllBusinessTypes {
		return types, nil
	}
	for _, businessType := range types {
		if timer.CheckBusinessType(businessType) != nil {
			return nil, errTypes
		}
	}
	return types, nil
}

// CheckKeys says what is wrong with entries that are right one by one: whose calls
// would those with a key that two entries share be?
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
