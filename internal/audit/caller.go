package audit

import (
	"context"

	"github.com/wakecall/wakecall/core/wire"
)

// Caller is the author of the changes of a context.
type Caller interface {
	// Actor returns the caller in its role for a business type, "" for all of them. known is
	// false if the author is unknown. It returns no pointer, to save bookings an allocation.
	Actor(businessType string) (actor wire.Actor, known bool)
}

type contextKey struct{}

// With returns a context whose changes the caller makes.
func With(ctx context.Context, c Caller) context.Context {
	return context.WithValue(ctx, contextKey{}, c)
}

// Asks reports whether key asks a context for the author of its changes. Another context can
// then answer with a [Caller] itself, in one allocation.
func Asks(key any) bool {
	_, ok := key.(contextKey)
	return ok
}

// Actor returns the author of the changes of a context to a business type. known is false if the
// only author is Wakecall.
func Actor(ctx context.Context, businessType string) (actor wire.Actor, known bool) {
	if c, ok := ctx.Value(contextKey{}).(Caller); ok {
		return c.Actor(businessType)
	}
	return wire.Actor{}, false
}

// Who returns [Actor] for a record: nil if unknown.
func Who(ctx context.Context, businessType string) *wire.Actor {
	actor, known := Actor(ctx, businessType)
	if !known {
		return nil
	}
	return &actor
}

// Wakecall is the author of Wakecall's own changes: it books the events of the audit.
var Wakecall = &wire.Actor{Name: "wakecall", By: "wakecall"}

// Behalf is a [Caller] for which another part works: the same actor for every change.
type Behalf struct{ Of *wire.Actor }

// Actor implements [Caller].
func (b Behalf) Actor(string) (actor wire.Actor, known bool) {
	if b.Of == nil {
		return wire.Actor{}, false
	}
	return *b.Of, true
}
