package auth

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"strings"
)

var (
	// ErrRepeated says that Authorization was sent more than once: a proxy in front may
	// have gone by another of them.
	ErrRepeated = errors.New("the header Authorization was sent more than once")
	// ErrUnknown says that no known key was sent.
	ErrUnknown = errors.New("no known API key was sent")
)

// Authenticator tells whose key was sent. The zero value admits nobody.
type Authenticator struct {
	keys []Key
	// anyone is who calls where no key is asked for.
	anyone *Principal
}

// New returns an authenticator that admits who sends one of the keys.
func New(keys []Key) *Authenticator { return &Authenticator{keys: keys} }

// Anonymous is the name of a principal that was not asked who it is.
const Anonymous = "anonymous"

// Anyone returns an authenticator that admits everybody, to do everything. It is for an
// API that listens on loopback only.
func Anyone() *Authenticator {
	return &Authenticator{anyone: &Principal{Name: Anonymous, By: ByNothing, Grants: []Grant{unrestricted}}}
}

// AsksForKeys is whether nobody is admitted without a key.
func (a *Authenticator) AsksForKeys() bool { return a.anyone == nil }

// Authenticate tells who sent a request by the values of its header Authorization. The
// key is a bearer token (RFC 6750). The error is [ErrRepeated] or [ErrUnknown].
//
// Every digest is compared, each in constant time: how long it takes tells nothing of
// the keys.
func (a *Authenticator) Authenticate(authorization []string) (*Principal, error) {
	if len(authorization) > 1 {
		return nil, ErrRepeated
	}
	if a.anyone != nil {
		return a.anyone, nil
	}
	token, ok := bearer(authorization)
	if !ok {
		return nil, ErrUnknown
	}
	digest := sha256.Sum256([]byte(token))
	found := -1
	for i := range a.keys {
		if subtle.ConstantTimeCompare(digest[:], a.keys[i].SHA256[:]) == 1 {
			found = i
		}
	}
	if found < 0 {
		return nil, ErrUnknown
	}
	return &a.keys[found].Principal, nil
}

// bearer is the token that was sent, under a scheme whose name has any case (RFC 9110,
// section 11.1).
func bearer(authorization []string) (token string, ok bool) {
	if len(authorization) == 0 {
		return "", false
	}
	scheme, token, ok := strings.Cut(authorization[0], " ")
	token = strings.TrimLeft(token, " ")
	return token, ok && token != "" && strings.EqualFold(scheme, "Bearer")
}
