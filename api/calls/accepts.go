package calls

import (
	"bytes"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/wakecall/wakecall/api/paths"
	"github.com/wakecall/wakecall/api/problems"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
)

// Part is what a call may understand of a request. One that it does not understand is
// refused: the caller sent it for what it means.
type Part uint8

const (
	// Body is a body, which the call reads.
	Body Part = 1 << iota
	// IfMatch is the condition that the present state is a named one.
	IfMatch
	// IfNoneMatch is the condition that there is nothing yet.
	IfNoneMatch
	// IdempotencyKey is a key under which the call can be repeated.
	IdempotencyKey
	// AckToken is the token of a callback, which is good for the call in place of an API key.
	AckToken
)

// HeaderIfNoneMatch makes a change depend on that there is nothing yet.
const HeaderIfNoneMatch = "If-None-Match"

// HeaderIdempotencyKey names a request, so that it can be repeated after its timer
// has ended (draft-ietf-httpapi-idempotency-key-header-07).
const HeaderIdempotencyKey = "Idempotency-Key"

// Condition is a header that makes a change depend on the present state (RFC 9110, section
// 13.1), with its part.
type Condition struct {
	Header string
	Part   Part
}

// Conditions has every condition, by header. No call understands the last one.
var Conditions = []Condition{{timer.HeaderIfMatch, IfMatch}, {HeaderIfNoneMatch, IfNoneMatch}, {"If-Unmodified-Since", 0}}

// Understands reports whether a call understands a part of its request.
func (s Scope) Understands(p Part) bool { return s.accepts&p != 0 }

// AcceptBody refuses a body that the call would ignore.
func AcceptBody(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := c.Request()
		if !isCall(r.Context()) || ScopeOf(r.Context()).Understands(Body) || IsEmpty(r) {
			return next(c)
		}
		return &wire.Error{Code: problems.Malformed, Message: "This call takes no body; leave it out."}
	}
}

// IsEmpty reports whether a request has no body. One in chunks may turn out to have none. The body
// can be read afterwards.
func IsEmpty(r *http.Request) bool {
	if r.ContentLength >= 0 {
		return r.ContentLength == 0
	}
	first := make([]byte, 1)
	n, err := io.ReadFull(r.Body, first)
	r.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(first[:n]), r.Body), r.Body}
	return n == 0 && err == io.EOF
}

// AcceptConditions refuses a condition that the call would ignore.
func AcceptConditions(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := c.Request()
		if r.Method == http.MethodGet || r.Method == http.MethodHead || !strings.HasPrefix(c.Path(), paths.Prefix) {
			return next(c)
		}
		var errs wire.FieldErrors
		for _, condition := range Conditions {
			if len(r.Header.Values(condition.Header)) > 0 && !ScopeOf(r.Context()).Understands(condition.Part) {
				errs.Add(condition.Header, wire.CodeUnknownField, "is not supported by this call")
			}
		}
		if err := errs.Err(); err != nil {
			return err
		}
		return next(c)
	}
}

// AcceptIdempotencyKey refuses an idempotency key that the call would ignore. Other calls may
// be repeated as they are.
func (r Routes) AcceptIdempotencyKey(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		sent := len(c.Request().Header.Values(HeaderIdempotencyKey)) > 0
		if sent && strings.HasPrefix(c.Path(), paths.Prefix) && !ScopeOf(c.Request().Context()).Understands(IdempotencyKey) {
			return wire.FieldErrors{{
				Pointer: HeaderIdempotencyKey, Code: wire.CodeUnknownField,
				Detail: "is allowed only with " + strings.Join(r.understanding(IdempotencyKey), " and "),
			}}.Err()
		}
		return next(c)
	}
}

// understanding lists the calls that understand a part, in their order.
func (r Routes) understanding(p Part) (calls []string) {
	for to, who := range r.Scopes {
		if who.Understands(p) {
			calls = append(calls, to.Method+" "+to.Path)
		}
	}
	slices.Sort(calls)
	return calls
}
