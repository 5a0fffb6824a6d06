package audit

import (
	"context"

	"github.com/wakecall/wakecall/core/wire"
)

// Caller is who makes the changes of a context.
type Caller interface {
	// Actor is the caller in its role for a business type, "" for all of them. known is
	// false where nobody knows who it is. It is no pointer: a booking asks for it.
	Actor(businessType string) (actor wire.Actor, known bool)
}

type contextKey struct{}

// With returns a context whose changes the caller makes.
func With(ctx context.Context, c Caller) context.Context {
	return context.WithValue(ctx, contextKey{}, c)
}

// Asks is whether a context is asked who makes its changes. A context that says more answers
// with a [Caller] itself, at the price of one.
func Asks(key any) bool {
	_, ok := key.(contextKey)
	return ok
}

// Actor is who makes the changes of a context to a business type. known is false for nobody
// but Wakecall itself.
func Actor(ctx context.Context, businessType string) (actor wire.Actor, known bool) {
	if c, ok := ctx.Value(contextKey{}).(Caller); ok {
		return c.Actor(businessType)
	}
	return wire.Actor{}, false
}

// Who is [Actor] as a record holds it: nil for nobody.
func Who(ctx context.Context, businessType string) *wire.Actor {
	actor, known := Actor(ctx, businessType)
	if !known {
		return nil
	}
	return &actor
}

// Wakecall makes changes of its own: it books the events of the audit.
var Wakecall = &wire.Actor{Name: "wakecall", By: "wakecall"}

// Behalf is a [Caller] for which something else works: the same actor, whatever is changed.
type Behalf struct{ Of *wire.Actor }

// Actor implements [Caller].
func (b Behalf) Actor(string) (actor wire.Actor, known bool) {
	if b.Of == nil {
		return wire.Actor{}, false
	}
	return *b.Of, true
}
