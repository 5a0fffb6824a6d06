package api

import (
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
)

// part is what a call may understand of a request. One that it does not understand is
// refused: the caller sent it for what it means.
type part uint8

const (
	// aBody: the call reads a body.
	aBody part = 1 << iota
	// ifMatch: the call knows the condition If-Match.
	ifMatch
	// ifNoneMatch: the call knows the condition If-None-Match.
	ifNoneMatch
	// anIdempotencyKey: the call can be repeated under one key.
	anIdempotencyKey
	// anAckToken: the token of a callback is good for the call, in place of an API key.
	anAckToken
)

// conditions are the headers that make a change depend on the present state (RFC 9110,
// section 13.1), each with its part. No call understands the last one.
var conditions = map[string]part{timer.HeaderIfMatch: ifMatch, headerIfNoneMatch: ifNoneMatch, "If-Unmodified-Since": 0}

// understands reports whether a call understands a part of its request.
func (s scope) understands(p part) bool { return s.accepts&p != 0 }

// acceptBody refuses a body that the call would ignore.
func acceptBody(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := c.Request()
		if !isCall(r.Context()) || scopeOf(r.Context()).understands(aBody) || isEmpty(r) {
			return next(c)
		}
		return &wire.Error{Code: malformedRequest, Message: "This call takes no body; leave it out."}
	}
}

// isEmpty reports whether a request has no body. One in chunks may turn out to have none.
func isEmpty(r *http.Request) bool {
	if r.ContentLength >= 0 {
		return r.ContentLength == 0
	}
	n, err := io.ReadFull(r.Body, make([]byte, 1))
	return n == 0 && err == io.EOF
}

// acceptConditions refuses a condition that the call would ignore.
func acceptConditions(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := c.Request()
		if r.Method == http.MethodGet || r.Method == http.MethodHead || !strings.HasPrefix(c.Path(), versionPrefix) {
			return next(c)
		}
		var errs wire.FieldErrors
		for _, name := range slices.Sorted(maps.Keys(conditions)) {
			if len(r.Header.Values(name)) > 0 && !scopeOf(r.Context()).understands(conditions[name]) {
				errs.Add(name, wire.CodeUnknownField, "is not understood by this call")
			}
		}
		if err := errs.Err(); err != nil {
			return err
		}
		return next(c)
	}
}

// acceptIdempotencyKey refuses an idempotency key that the call would ignore. Other calls may
// be repeated as they are.
func (r routes) acceptIdempotencyKey(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		sent := len(c.Request().Header.Values(headerIdempotencyKey)) > 0
		if sent && strings.HasPrefix(c.Path(), versionPrefix) && !scopeOf(c.Request().Context()).understands(anIdempotencyKey) {
			return wire.FieldErrors{{
				Pointer: headerIdempotencyKey, Code: wire.CodeUnknownField, Detail: "goes with " + strings.Join(r.understanding(anIdempotencyKey), " and "),
			}}.Err()
		}
		return next(c)
	}
}

// understanding lists the calls that understand a part, in their order.
func (r routes) understanding(p part) (calls []string) {
	for to, who := range r.scopes {
		if who.understands(p) {
			calls = append(calls, to.method+" "+to.path)
		}
	}
	slices.Sort(calls)
	return calls
}
