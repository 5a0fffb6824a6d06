package auth

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/x509"
	"errors"
	"fmt"
	"strings"
	"time"
)

var (
	// ErrRepeated means that Authorization was sent more than once. A proxy in front may have
	// used another of them.
	ErrRepeated = errors.New("the header Authorization was sent more than once")
	// ErrUnknown means that the request has no valid credential. What wraps it tells the log which
	// one was refused, and why.
	ErrUnknown = errors.New("the caller is not known")
	// ErrExpired means that a token was valid once.
	ErrExpired = errors.New("the token has expired")
	// ErrNoProvider means that a token cannot be checked now.
	ErrNoProvider = errors.New("the identity provider does not answer")
)

var (
	errNothing = fmt.Errorf("%w: it sent no credential", ErrUnknown)
	errScheme  = fmt.Errorf("%w: its header Authorization is not Bearer and a key or token", ErrUnknown)
	errKey     = fmt.Errorf("%w: it sent an API key that is not known", ErrUnknown)
)

// Tokens authenticates bearer tokens that are no API keys.
type Tokens interface {
	// Bearer returns the owner of a token; digest is its SHA-256. The error is, or wraps,
	// [ErrUnknown], [ErrExpired] or [ErrNoProvider].
	Bearer(ctx context.Context, token string, digest [sha256.Size]byte) (*Principal, error)
}

// Authenticator authenticates callers. The zero value admits none.
type Authenticator struct {
	keys     []Key
	tokens   Tokens // nil if no provider is configured
	subjects Mappings
	// anyone is the principal of all callers if none is authenticated.
	anyone *Principal
}

// New returns an authenticator that admits the owners of the keys.
func New(keys []Key) *Authenticator { return &Authenticator{keys: keys} }

// WithTokens also admits the bearers of tokens.
func (a *Authenticator) WithTokens(tokens Tokens) *Authenticator {
	a.tokens = tokens
	return a
}

// WithSubjects grants roles to client certificates, by common name.
func (a *Authenticator) WithSubjects(subjects Mappings) *Authenticator {
	a.subjects = subjects
	return a
}

// Anonymous is the name of an unauthenticated principal.
const Anonymous = "anonymous"

// Anyone returns an authenticator that admits every caller to do everything. It is only for an
// API that listens on loopback.
func Anyone() *Authenticator {
	return &Authenticator{anyone: &Principal{Name: Anonymous, By: ByNothing, Grants: []Grant{unrestricted}}}
}

// AsksForKeys reports whether callers must authenticate.
func (a *Authenticator) AsksForKeys() bool { return a.anyone == nil }

// TakesTokens reports whether a token of an identity provider may replace a key.
func (a *Authenticator) TakesTokens() bool { return a.tokens != nil }

// Keys returns the entries of the API keys, in the configured order.
func (a *Authenticator) Keys() []Key { return a.keys }

// Shown holds the credentials of a request.
type Shown struct {
	// Authorization has all values of the header.
	Authorization []string
	// Certificate is the client's verified certificate; nil without one.
	Certificate *x509.Certificate
}

// Authenticate returns the sender of a request. A bearer token (RFC 6750) is an API key or a
// provider's token. Without one, the client certificate counts. A certificate does not replace a
// refused token, because its sender meant the token.
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
	if len(shown.Authorization) == 0 {
		return nil, errNothing
	}
	token, ok := bearer(shown.Authorization[0])
	if !ok {
		return nil, errScheme
	}
	digest := sha256.Sum256([]byte(token))
	if key := a.find(digest); key != nil {
		return &key.Principal, nil
	}
	if a.tokens == nil {
		return nil, errKey
	}
	return a.tokens.Bearer(ctx, token, digest)
}

// ByDigest returns the owner of the API key with this digest, nil if there is none.
func (a *Authenticator) ByDigest(digest [sha256.Size]byte) *Principal {
	if key := a.find(digest); key != nil {
		return &key.Principal
	}
	return nil
}

// AllCallers returns the principal that all callers have if none is authenticated; otherwise nil.
func (a *Authenticator) AllCallers() *Principal { return a.anyone }

// find compares every digest, each in constant time, so that the time reveals nothing about the
// keys.
func (a *Authenticator) find(digest [sha256.Size]byte) (found *Key) {
	for i := range a.keys {
		if subtle.ConstantTimeCompare(digest[:], a.keys[i].SHA256[:]) == 1 {
			found = &a.keys[i]
		}
	}
	return found
}

// bearer returns the bearer token. Case does not matter in the scheme (RFC 9110, section 11.1).
func bearer(authorization string) (token string, ok bool) {
	scheme, token, ok := strings.Cut(authorization, " ")
	token = strings.TrimLeft(token, " ")
	return token, ok && token != "" && strings.EqualFold(scheme, "Bearer")
}
