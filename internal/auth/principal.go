package auth

import (
	"context"
	"slices"
	"time"
)

// Means is how a principal was authenticated.
type Means string

// The means. A request without a principal has the empty one.
const (
	ByKey         Means = "key"
	ByOIDC        Means = "oidc"
	ByCertificate Means = "certificate"
	// ByAckToken is the token of one delivery, given to its receiver.
	ByAckToken Means = "ack_token"
	// ByNothing is a call on loopback without authentication.
	ByNothing Means = "nothing"
)

// ViaConsole marks the console's calls for a signed-in user.
const ViaConsole = "console"

// Principal is an authenticated caller.
type Principal struct {
	// Name is in the log and is the author of changes. ID is the name that never changes, if it
	// differs: the subject of a token or of a certificate.
	Name, ID string
	By       Means
	// Via is the origin of the calls: [ViaConsole], or empty for the API itself.
	Via    string
	Grants []Grant
	// Ends is when the credential expires; zero for never.
	Ends time.Time
}

// Role returns the principal's highest role for a business type; "" stands for all of them.
func (p Principal) Role(businessType string) (highest Role) {
	for _, grant := range p.Grants {
		if grant.Role > highest && grant.covers(businessType) {
			highest = grant.Role
		}
	}
	return highest
}

// May reports whether the principal has a role for a business type; "" stands for all of them.
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

// SeesPayloads reports whether the principal may see the payloads of a business type; "" stands
// for all of them.
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

// Context is a context with a caller. The principal must not change. It is a separate type so
// that another context can embed it in one allocation.
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

// With returns a context with the principal as the caller.
func With(ctx context.Context, p *Principal) context.Context { return &Context{ctx, p} }

// From returns the caller: the zero principal if there is none.
func From(ctx context.Context) Principal {
	if p := Caller(ctx); p != nil {
		return *p
	}
	return Principal{}
}

// Caller returns the caller, nil if there is none.
func Caller(ctx context.Context) *Principal {
	p, _ := ctx.Value(contextKey{}).(*Principal)
	return p
}

// Until returns a context that ends when the caller's credential expires. It is for long calls.
func Until(ctx context.Context) (context.Context, context.CancelFunc) {
	if ends := From(ctx).Ends; !ends.IsZero() {
		return context.WithDeadline(ctx, ends)
	}
	return context.WithCancel(ctx)
}
