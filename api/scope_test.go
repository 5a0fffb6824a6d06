package api

import (
	"log/slog"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/api/calls"
	"github.com/wakecall/wakecall/api/front"
	"github.com/wakecall/wakecall/api/paths"
	"github.com/wakecall/wakecall/api/timers"
	"github.com/wakecall/wakecall/internal/auth"
)

// How the document calls what a scope says.
var (
	typingNames = map[calls.TypeSource]string{calls.InPath: "path", calls.Named: "named", calls.ByID: "id", calls.Filtered: "filtered", calls.Untyped: "none", calls.AllTypes: "all"}
	showsNames  = map[calls.PayloadRule]any{calls.NoPayloads: nil, calls.Payloads: "left_out", calls.OnlyPayloads: "required"}
)

// Every call under /v1 declares who may make it.
func TestEveryCallDeclaresItsScope(t *testing.T) {
	t.Parallel()
	server := New(Options{Timers: timers.Options{Timers: silent{}, Failures: silent{}}, Front: front.Options{Telemetry: silent{}, Logger: slog.New(slog.DiscardHandler)}})
	served := map[calls.Call]bool{}
	for _, route := range routesOfContract(t) {
		one := calls.Call{Method: route.Method, Path: route.Path}
		served[one] = true
		who := server.contract.Scopes[one]
		require.NotNil(t, who, one)
		require.NotZero(t, who.Type, one)
		require.Equal(t, strings.Contains(route.Path, "/:"+paths.Type), who.Type == calls.InPath, "%s: a type in the path is the type of the call", one)
		require.True(t, who.Role > auth.NoRole || who.Type == calls.Untyped, one)
	}
	require.Len(t, server.contract.Scopes, len(served), "each scope is that of a route")
}

var pathParameter = regexp.MustCompile(`{(\w+)}`)

// The document says of every call what the code says.
func TestDocumentHasTheScopes(t *testing.T) {
	t.Parallel()
	server := New(Options{Timers: timers.Options{Timers: silent{}, Failures: silent{}}, Front: front.Options{Telemetry: silent{}, Logger: slog.New(slog.DiscardHandler)}})
	document, found := readDocument(t), 0
	for path, methods := range document.at(t, "paths") {
		for method, operation := range methods.(node) {
			operation, ok := operation.(node)
			if _, described := operation["operationId"]; !ok || !described || !strings.HasPrefix(path, paths.Prefix) {
				continue
			}
			found++
			one := calls.Call{Method: strings.ToUpper(method), Path: pathParameter.ReplaceAllString(path, ":$1")}
			who := server.contract.Scopes[one]
			require.NotNil(t, who, one)
			said := operation.at(t, "x-scope")
			require.Equal(t, who.Role.String(), said["role"], one)
			require.Equal(t, typingNames[who.Type], said["business_type"], one)
			require.Equal(t, showsNames[who.Payloads], said["payloads"], one)
			require.Equal(t, document.tells(t, operation["responses"]), who.Payloads != calls.NoPayloads, "%s: what an answer tells of payloads is declared", one)
		}
	}
	require.Len(t, server.contract.Scopes, found)
}

// telling are the schemas and fields that hold payloads, or what receivers answered. The state
// of a timer has the latter in its last failure.
var telling = []string{"Timer", "Attempt", "DispatchFailure", "PastOccurrence", "Ring", "TestResult"}

// tells reports whether one of these stands anywhere in a part of the document.
func (n node) tells(t *testing.T, part any) bool {
	t.Helper()
	seen := map[string]bool{}
	var walk func(part any) bool
	walk = func(part any) bool {
		switch part := part.(type) {
		case []any:
			return slices.ContainsFunc(part, walk)
		case node:
			if reference, ok := part["$ref"].(string); ok {
				if seen[reference] {
					return false
				}
				seen[reference] = true
				names := strings.Split(strings.TrimPrefix(reference, "#/"), "/")
				return slices.Contains(telling, names[len(names)-1]) || walk(n.at(t, names...))
			}
			for name, below := range part {
				if name != "example" && name != "examples" && walk(below) {
					return true
				}
			}
		}
		return false
	}
	answers, _ := part.(node)
	for status, answer := range answers {
		if status < "300" && walk(answer) {
			return true
		}
	}
	return false
}

// leastRole is what the rule says of a call: who reads is a viewer, who changes timers, jobs
// and pauses an operator, and who changes policies an admin.
func leastRole(one calls.Call) auth.Role {
	switch {
	case one.Method == http.MethodGet:
		return auth.Viewer
	case strings.HasPrefix(one.Path, paths.Prefix+"policies"):
		return auth.Admin
	default:
		return auth.Operator
	}
}

// otherwise are the calls for which the rule does not hold, and why.
var otherwise = map[calls.Call]struct {
	role auth.Role
	why  string
}{
	{Method: http.MethodGet, Path: "/v1/whoami"}:                          {auth.NoRole, "who may do nothing shall see that"},
	{Method: http.MethodGet, Path: "/v1/keys"}:                            {auth.Admin, "keys are an admin's"},
	{Method: http.MethodGet, Path: "/v1/audit"}:                           {auth.Admin, "it tells who did what"},
	{Method: http.MethodGet, Path: "/v1/streams/:type"}:                   {auth.Operator, "to take rings is to change timers"},
	{Method: http.MethodPost, Path: paths.Prefix + "recurrences/preview"}: {auth.Viewer, "it changes nothing"},
	{Method: http.MethodPost, Path: paths.Prefix + "policies/:type/test"}: {auth.Operator, "it sends what a ring sends, and changes no policy"},
}

// departures are the calls whose scope departs from the rule without being listed.
func departures(scopes map[calls.Call]*calls.Scope) (found []calls.Call) {
	for one, who := range scopes {
		want := leastRole(one)
		if exception, ok := otherwise[one]; ok {
			want = exception.role
		}
		if who.Role != want {
			found = append(found, one)
		}
	}
	return found
}

// A scope that is wrong in the code and in the document alike departs from the rule.
func TestScopesFollowTheRoles(t *testing.T) {
	t.Parallel()
	server := New(Options{Timers: timers.Options{Timers: silent{}, Failures: silent{}}, Front: front.Options{Telemetry: silent{}, Logger: slog.New(slog.DiscardHandler)}})
	require.Empty(t, departures(server.contract.Scopes))
	for one := range otherwise {
		require.Contains(t, server.contract.Scopes, one, "an exception that is gone")
	}
	for one, who := range server.contract.Scopes { // the negative control
		wrong := maps.Clone(server.contract.Scopes)
		wrong[one] = &calls.Scope{Role: who.Role ^ auth.Admin, Type: who.Type}
		require.Equal(t, []calls.Call{one}, departures(wrong))
	}
}
