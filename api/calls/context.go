package calls

import (
	"context"

	"github.com/labstack/echo/v4"

	"github.com/wakecall/wakecall/api/audits"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/audit"
	"github.com/wakecall/wakecall/internal/auth"
)

type scopeKey struct{}

// callContext is the context of a call: its caller, their address, and the scope of the call. It is the
// [audit.Caller] of the changes that the call makes.
type callContext struct {
	auth.Context
	scope           *Scope // nil where there is no such call
	from, requestID string
	// entry is nil where the call changes nothing, or nothing is recorded.
	entry *audits.Entry
}

// Value implements [context.Context].
func (c *callContext) Value(key any) any {
	switch key.(type) {
	case scopeKey:
		return c.scope
	case audits.EntryKey:
		return c.entry
	}
	if audit.Asks(key) && c.scope != nil && c.scope.changes {
		return c
	}
	return c.Context.Value(key)
}

// isCall reports whether a context is that of a call of the contract. It is not if no route has
// the path and the method.
func isCall(ctx context.Context) bool {
	s, _ := ctx.Value(scopeKey{}).(*Scope)
	return s != nil
}

// Actor implements [audit.Caller].
func (c *callContext) Actor(businessType string) (actor wire.Actor, known bool) {
	actor, known = audits.ActorOf(c.Principal, businessType)
	actor.From, actor.RequestID = c.from, c.requestID
	return actor, known
}

// ScopeOf returns the scope of the call of a context. It is the zero scope, which permits
// nothing, if there is no such call.
func ScopeOf(ctx context.Context) Scope {
	if s, _ := ctx.Value(scopeKey{}).(*Scope); s != nil {
		return *s
	}
	return Scope{}
}

// Author returns the name of the caller.
func Author(c echo.Context) string {
	if name := auth.From(c.Request().Context()).Name; name != "" {
		return name
	}
	return auth.Anonymous
}
