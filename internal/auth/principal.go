package auth

import (
	"context"
	"slices"
	"time"
)

// Means is by what a principal has shown who it is.
type Means string

// The means. A request without a principal has the empty one.
const (
	ByKey         Means = "key"
	ByOIDC        Means = "oidc"
	ByCertificate Means = "certificate"
	// ByAckToken is the token of one delivery, which its receiver was given.
	ByAckToken Means = "ack_token"
	// ByNothing is a call on loopback, where nobody is asked who calls.
	ByNothing Means = "nothing"
)

// ViaConsole marks the calls that the console makes for who is signed in.
const ViaConsole = "console"

// Principal is who calls.
type Principal struct {
	// Name stands in the log and as the author of changes. ID is the name that never
	// changes, where that is another one: the subject of a token or of a certificate.
	Name, ID string
	By       Means
	// Via is through what the calls are made: [ViaConsole], or empty where it is the API itself.
	Via    string
	Grants []Grant
	// Ends is when what was shown is good no longer; zero for never.
	Ends time.Time
}

// Role is what the principal may do with a business type; "" stands for all of them.
func (p Principal) Role(businessType string) (highest Role) {
	for _, grant := range p.Grants {
		if grant.Role > highest && grant.covers(businessType) {
			highest = grant.Role
		}
	}
	return highest
}

// May reports whether the principal has a role for a business type; "" stands for all of
// them.
func (p Principal) May(role Role, businessType string) bool {
	return role > NoRole && p.Role(businessType) >= role
}

// MaySomewhere reports whether the principal has a role for any business type.
func (p Principal) MaySomewhere(role Role) bool {
	for _, grant := range p.Grants {
		if role > NoRole && grant.Role >= role {
			return true
		}
	}
	return false
}

// SeesPayloads reports whether the principal is shown the payloads of a business type; ""
// stands for all of them.
func (p Principal) SeesPayloads(businessType string) bool {
	for _, grant := range p.Grants {
		if grant.Payloads && grant.covers(businessType) {
			return true
		}
	}
	return false
}

// SeesAllPayloads reports whether every grant of the principal shows payloads.
func (p Principal) SeesAllPayloads() bool {
	return !slices.ContainsFunc(p.Grants, func(grant Grant) bool { return !grant.Payloads })
}

type contextKey struct{}

// Context is a context in which somebody calls. The principal must not change. It is a type
// of its own so that a context that says more can embed it, at the price of one.
type Context struct {
	context.Context
	Principal *Principal
}

// Value implements [context.Context].
func (c Context) Value(key any) any {
	if _, ok := key.(contextKey); ok {
		return c.Principal
	}
	return c.Context.Value(key)
}

// With returns a context in which the principal is who calls.
func With(ctx context.Context, p *Principal) context.Context { return &Context{ctx, p} }

// From returns who calls: the zero principal where nobody was authenticated.
func From(ctx context.Context) Principal {
	if p := Caller(ctx); p != nil {
		return *p
	}
	return Principal{}
}

// Caller is who calls, nil where nobody was authenticated.
func Caller(ctx context.Context) *Principal {
	p, _ := ctx.Value(contextKey{}).(*Principal)
	return p
}

// Until returns a context that ends when who calls is to be asked again, for calls that go on.
func Until(ctx context.Context) (context.Context, context.CancelFunc) {
	if ends := From(ctx).Ends; !ends.IsZero() {
		return context.WithDeadline(ctx, ends)
	}
	return context.WithCancel(ctx)
}
