package calls

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/wakecall/wakecall/internal/auth"
)

// Call is what a request is routed by.
type Call struct{ Method, Path string }

// callOf is the call that a request makes.
func callOf(c echo.Context) Call {
	method := c.Request().Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	return Call{method, c.Path()}
}

// Routes adds calls of the contract. One without a scope does not compile.
type Routes struct {
	group  *echo.Group
	prefix string
	Scopes map[Call]*Scope
}

// NewRoutes returns routes to which no call is added yet.
func NewRoutes(e *echo.Echo) Routes {
	return Routes{group: e.Group(""), Scopes: map[Call]*Scope{}}
}

// Recorded is the call that a request makes, if it leaves a record: it changes something, or shows a
// payload to a user of the console.
func (r Routes) Recorded(c echo.Context) (method, route string, ok bool) {
	made := callOf(c)
	return made.Method, made.Path, r.Scopes[made].recorded(c)
}

// recorded reports whether a call leaves a record.
func (s *Scope) recorded(c echo.Context) bool {
	switch {
	case s == nil:
		return false
	case s.changes:
		return true
	default:
		who := auth.Caller(c.Request().Context())
		return s.Payloads == Payloads && who != nil && who.Via == auth.ViaConsole && c.QueryParam(ParamPayload) == "true"
	}
}

// ParamPayload asks for the payload of a timer.
const ParamPayload = "payload"

// Under are the routes below a path.
func (r Routes) Under(path string) Routes {
	r.prefix += path
	return r
}

func (r Routes) add(to Call, who Scope, do echo.HandlerFunc, around ...echo.MiddlewareFunc) {
	to.Path = r.prefix + to.Path
	who.reads = to.Method == http.MethodGet || who.Role < auth.Operator
	who.changes = !who.reads && !who.Receives
	r.Scopes[to] = &who
	r.group.Add(to.Method, to.Path, do, around...)
}

// Get adds a call by GET.
func (r Routes) Get(path string, who Scope, do echo.HandlerFunc) {
	r.add(Call{http.MethodGet, path}, who, do)
}

// Post adds a call by POST.
func (r Routes) Post(path string, who Scope, do echo.HandlerFunc, around ...echo.MiddlewareFunc) {
	r.add(Call{http.MethodPost, path}, who, do, around...)
}

// Put adds a call by PUT.
func (r Routes) Put(path string, who Scope, do echo.HandlerFunc) {
	r.add(Call{http.MethodPut, path}, who, do)
}

// Patch adds a call by PATCH.
func (r Routes) Patch(path string, who Scope, do echo.HandlerFunc) {
	r.add(Call{http.MethodPatch, path}, who, do)
}

// Delete adds a call by DELETE.
func (r Routes) Delete(path string, who Scope, do echo.HandlerFunc) {
	r.add(Call{http.MethodDelete, path}, who, do)
}
