package api

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/audit"
	"github.com/wakecall/wakecall/internal/auth"
)

// scope is who may make a call. Every route declares one; the zero value is none.
type scope struct {
	// role is the least that the caller must have for the business type of the call.
	role   auth.Role
	typing typing
	// shows is what of payloads, and of bodies of answers, the answer may tell.
	shows shows
	// receives is whether the caller is a receiver that takes rings and answers them: like the
	// answers to callbacks, what it says stands in the record of attempts, and not in the audit.
	receives bool
	// accepts are the parts of a request that the call understands. It refuses the others.
	accepts part
	// examples are values that parameters of the query take in this call only.
	examples map[string]string
	// changes reports whether the call changes something, so that it is recorded. Its method
	// says so.
	changes bool
}

// accepting is the scope of a call that understands these parts.
func (s scope) accepting(understood part) scope {
	s.accepts |= understood
	return s
}

// showing is the scope of a call whose refused parameters show these examples.
func (s scope) showing(examples map[string]string) scope {
	s.examples = examples
	return s
}

// typing is how the business type of a call is found.
type typing uint8

const (
	// inPath: it stands in the path, and is judged before the handler is called.
	inPath typing = iota + 1
	// named: the body or the query names it, or none for all. The handler asks [permit].
	named
	// byID: what the call is about is found by an id and has a business type. For a caller
	// who may not see that type it is absent.
	byID
	// filtered: the answer leaves out what the caller may not see. The handler asks [sees].
	filtered
	// untyped: the call is about no business type.
	untyped
	// allTypes: the call is about all business types together.
	allTypes
)

// shows is what an answer tells of payloads.
type shows uint8

const (
	noPayloads shows = iota
	// payloads: the answer has them, or bodies of answers. They are left out for a caller
	// without the right.
	payloads
	// onlyPayloads: the call is of no use without them, and is refused without the right.
	onlyPayloads
)

// The scopes of most calls.
func viewing(t typing, s shows) scope   { return scope{role: auth.Viewer, typing: t, shows: s} }
func operating(t typing, s shows) scope { return scope{role: auth.Operator, typing: t, shows: s} }
func administering(t typing) scope      { return scope{role: auth.Admin, typing: t} }
func receiving(s shows) scope {
	return scope{role: auth.Operator, typing: inPath, shows: s, receives: true}
}

// call is what a request is routed by.
type call struct{ method, path string }

// callOf is the call that a request makes.
func callOf(c echo.Context) call {
	method := c.Request().Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	return call{method, c.Path()}
}

// routes adds calls of the contract. One without a scope does not compile.
type routes struct {
	group  *echo.Group
	prefix string
	scopes map[call]*scope
}

func newRoutes(e *echo.Echo) routes {
	return routes{group: e.Group(""), scopes: map[call]*scope{}}
}

// changing is the call that a request makes, if it changes something.
func (r routes) changing(c echo.Context) (method, route string, ok bool) {
	made := callOf(c)
	who := r.scopes[made]
	return made.method, made.path, who != nil && who.changes
}

// under are the routes below a path.
func (r routes) under(path string) routes {
	r.prefix += path
	return r
}

func (r routes) add(to call, who scope, do echo.HandlerFunc, around ...echo.MiddlewareFunc) {
	to.path = r.prefix + to.path
	who.changes = to.method != http.MethodGet && who.role >= auth.Operator && !who.receives
	r.scopes[to] = &who
	r.group.Add(to.method, to.path, do, around...)
}

func (r routes) get(path string, who scope, do echo.HandlerFunc) {
	r.add(call{http.MethodGet, path}, who, do)
}

func (r routes) post(path string, who scope, do echo.HandlerFunc, around ...echo.MiddlewareFunc) {
	r.add(call{http.MethodPost, path}, who, do, around...)
}

func (r routes) put(path string, who scope, do echo.HandlerFunc) {
	r.add(call{http.MethodPut, path}, who, do)
}

func (r routes) patch(path string, who scope, do echo.HandlerFunc) {
	r.add(call{http.MethodPatch, path}, who, do)
}

func (r routes) delete(path string, who scope, do echo.HandlerFunc) {
	r.add(call{http.MethodDelete, path}, who, do)
}

// authorize refuses what the caller may not do, as far as the request's line tells.
func (r routes) authorize(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if !strings.HasPrefix(c.Path(), versionPrefix) { // nothing is there, or it is open to all
			return next(c)
		}
		who, ok := r.scopes[callOf(c)]
		if !ok { // the resource does not know the method
			return next(c)
		}
		if err := who.admit(auth.From(c.Request().Context()), c); err != nil {
			return err
		}
		return next(c)
	}
}

// admit judges what can be judged before the handler is called.
func (s scope) admit(p auth.Principal, c echo.Context) error {
	businessType := ""
	switch s.typing {
	case inPath:
		businessType = pathParam(c, paramType)
	case allTypes:
	case untyped:
		if s.role == auth.NoRole && p.By != "" && p.By != auth.ByAckToken {
			return nil
		}
		fallthrough
	case named, byID, filtered:
		if !p.MaySomewhere(s.role) {
			return refusedRole(s.role)
		}
		return nil
	default: // undeclared
		return refusedRole(auth.Admin)
	}
	if !p.May(s.role, businessType) {
		return s.refused(businessType)
	}
	if s.shows == onlyPayloads && !p.SeesPayloads(businessType) {
		return &wire.Error{Code: forbidden, Message: "The call needs the right to see payloads."}
	}
	return nil
}

type scopeKey struct{}

// callContext is the context of a call: who makes it, from where, and the scope of what is
// called. It is the [audit.Caller] of what the call changes.
type callContext struct {
	auth.Context
	scope           *scope // nil where there is no such call
	from, requestID string
	// entry is nil where the call changes nothing, or nothing is recorded.
	entry *entry
}

// Value implements [context.Context].
func (c *callContext) Value(key any) any {
	switch key.(type) {
	case scopeKey:
		return c.scope
	case entryKey:
		return c.entry
	}
	if audit.Asks(key) && c.scope != nil && c.scope.changes {
		return c
	}
	return c.Context.Value(key)
}

// isCall reports whether a context is of a call of the contract: else nothing is there, or not
// by the method that was asked for.
func isCall(ctx context.Context) bool {
	s, _ := ctx.Value(scopeKey{}).(*scope)
	return s != nil
}

// Actor implements [audit.Caller].
func (c *callContext) Actor(businessType string) (actor wire.Actor, known bool) {
	actor, known = actorOf(c.Principal, businessType)
	actor.From, actor.RequestID = c.from, c.requestID
	return actor, known
}

// scopeOf is the scope of the call that a context is of; the zero scope permits nothing.
func scopeOf(ctx context.Context) scope {
	if s, _ := ctx.Value(scopeKey{}).(*scope); s != nil {
		return *s
	}
	return scope{}
}

// permit refuses a business type for which the caller has not the role that the call
// needs; "" stands for all types.
func permit(ctx context.Context, businessType string) error {
	return scopeOf(ctx).permit(ctx, businessType)
}

func (s scope) permit(ctx context.Context, businessType string) error {
	if auth.From(ctx).May(s.role, businessType) {
		return nil
	}
	return s.refused(businessType)
}

// permitFound is permit for what was found by an id. Of what the caller may not even see
// nothing is told: it is absent.
func permitFound(ctx context.Context, businessType string, absent error) error {
	if !auth.From(ctx).May(auth.Viewer, businessType) {
		return absent
	}
	return permit(ctx, businessType)
}

// sees reports whether an answer may tell the caller of a business type.
func sees(ctx context.Context, businessType string) bool { return permit(ctx, businessType) == nil }

func (s scope) refused(businessType string) error {
	switch {
	case businessType != "":
		return &wire.Error{Code: forbidden, Message: fmt.Sprintf("The call needs the role %s for its business type.", s.role)}
	case s.typing == allTypes:
		return &wire.Error{Code: forbidden, Message: fmt.Sprintf("The call needs the role %s for all business types.", s.role)}
	default:
		return &wire.Error{Code: forbidden, Message: fmt.Sprintf("The call must name a business type for which you have the role %s.", s.role)}
	}
}

// refusedRole refuses a caller that has the role for no business type.
func refusedRole(role auth.Role) error {
	return &wire.Error{Code: forbidden, Message: fmt.Sprintf("The call needs the role %s.", role)}
}
