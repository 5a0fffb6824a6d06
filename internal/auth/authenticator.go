package auth

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/x509"
	"errors"
	"strings"
	"time"
)

var (
	// ErrRepeated says that Authorization was sent more than once: a proxy in front may
	// have gone by another of them.
	ErrRepeated = errors.New("the header Authorization was sent more than once")
	// ErrUnknown says that nothing was sent that tells who calls.
	ErrUnknown = errors.New("no known API key was sent")
	// ErrExpired says that a token was sent that was good once.
	ErrExpired = errors.New("the token has expired")
	// ErrNoProvider says that who sent a token cannot be told now.
	ErrNoProvider = errors.New("the identity provider does not answer")
)

// Tokens tell who has a bearer token that is no API key.
type Tokens interface {
	// Bearer is who has a token, of which digest is the SHA-256. The error is, or wraps,
	// [ErrUnknown], [ErrExpired] or [ErrNoProvider].
	Bearer(ctx context.Context, token string, digest [sha256.Size]byte) (*Principal, error)
}

// Authenticator tells who calls. The zero value admits nobody.
type Authenticator struct {
	keys     []Key
	tokens   Tokens // nil where no provider is configured
	subjects Mappings
	// anyone is who calls where nobody is asked.
	anyone *Principal
}

// New returns an authenticator that admits who sends one of the keys.
func New(keys []Key) *Authenticator { return &Authenticator{keys: keys} }

// WithTokens admits the bearers of tokens as well.
func (a *Authenticator) WithTokens(tokens Tokens) *Authenticator {
	a.tokens = tokens
	return a
}

// WithSubjects says what those may do who show a certificate, by its common name.
func (a *Authenticator) WithSubjects(subjects Mappings) *Authenticator {
	a.subjects = subjects
	return a
}

// Anonymous is the name of a principal that was not asked who it is.
const Anonymous = "anonymous"

// Anyone returns an authenticator that admits everybody, to do everything. It is for an
// API that listens on loopback only.
func Anyone() *Authenticator {
	return &Authenticator{anyone: &Principal{Name: Anonymous, By: ByNothing, Grants: []Grant{unrestricted}}}
}

// AsksForKeys is whether nobody is admitted who does not show who it is.
func (a *Authenticator) AsksForKeys() bool { return a.anyone == nil }

// TakesTokens is whether a token of an identity provider may stand in place of a key.
func (a *Authenticator) TakesTokens() bool { return a.tokens != nil }

// Keys are the entries of the API keys, in the order in which they were configured.
func (a *Authenticator) Keys() []Key { return a.keys }

// Shown is what a request shows of who sent it.
type Shown struct {
	// Authorization has all values of the header.
	Authorization []string
	// Certificate is the client's, which was verified; nil without one.
	Certificate *x509.Certificate
}

// Authenticate tells who sent a request: whose the bearer token is (RFC 6750), a key or the
// token of a provider, or without one whose the certificate is. A token that is refused is
// not made good by a certificate: who sends both means the token.
func (a *Authenticator) Authenticate(ctx context.Context, shown Shown) (*Principal, error) {
	if len(shown.Authorization) > 1 {
		return nil, ErrRepeated
	}
	if a.anyone != nil {
		return a.anyone, nil
	}
	if len(shown.Authorization) == 0 && shown.Certificate != nil {
		return a.subjects.certified(shown.Certificate, time.Now())
	}
	token, ok := bearer(shown.Authorization)
	if !ok {
		return nil, ErrUnknown
	}
	digest := sha256.Sum256([]byte(token))
	if key := a.find(digest); key != nil {
		return &key.Principal, nil
	}
	if a.tokens == nil {
		return nil, ErrUnknown
	}
	return a.tokens.Bearer(ctx, token, digest)
}

// ByDigest is who has the API key with this digest, nil for nobody.
func (a *Authenticator) ByDigest(digest [sha256.Size]byte) *Principal {
	if key := a.find(digest); key != nil {
		return &key.Principal
	}
	return nil
}

// Anybody is who calls where nobody is asked; nil where somebody is.
func (a *Authenticator) Anybody() *Principal { return a.anyone }

// find compares every digest, each in constant time: how long it takes tells nothing of the
// keys.
func (a *Authenticator) find(digest [sha256.Size]byte) (found *Key) {
	for i := range a.keys {
		if subtle.ConstantTimeCompare(digest[:], a.keys[i].SHA256[:]) == 1 {
			found = &a.keys[i]
		}
	}
	return found
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
