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

	"github.com/wakecall/wakecall/internal/auth"
)

// How the document calls what a scope says.
var (
	typingNames = map[typing]string{inPath: "path", named: "named", byID: "id", filtered: "filtered", untyped: "none", allTypes: "all"}
	showsNames  = map[shows]any{noPayloads: nil, payloads: "left_out", onlyPayloads: "required"}
)

// Every call under /v1 declares who may make it.
func TestEveryCallDeclaresItsScope(t *testing.T) {
	t.Parallel()
	server := New(Options{Timers: TimerOptions{Timers: silent{}, Failures: silent{}}, Front: FrontOptions{Telemetry: silent{}, Logger: slog.New(slog.DiscardHandler)}})
	calls := map[call]bool{}
	for _, route := range routesOfContract(t) {
		one := call{route.Method, route.Path}
		calls[one] = true
		who := server.contract.scopes[one]
		require.NotNil(t, who, one)
		require.NotZero(t, who.typing, one)
		require.Equal(t, strings.Contains(route.Path, "/:"+paramType), who.typing == inPath, "%s: a type in the path is the type of the call", one)
		require.True(t, who.role > auth.NoRole || who.typing == untyped, one)
	}
	require.Len(t, server.contract.scopes, len(calls), "each scope is that of a route")
	everybody := auth.Principal{By: auth.ByKey, Grants: []auth.Grant{{Role: auth.Admin, Payloads: true, Types: []string{auth.AllBusinessTypes}}}}
	require.Error(t, scope{}.admit(everybody, nil), "the negative control: what is not declared is refused")
}

var pathParameter = regexp.MustCompile(`{(\w+)}`)

// The document says of every call what the code says.
func TestDocumentHasTheScopes(t *testing.T) {
	t.Parallel()
	server := New(Options{Timers: TimerOptions{Timers: silent{}, Failures: silent{}}, Front: FrontOptions{Telemetry: silent{}, Logger: slog.New(slog.DiscardHandler)}})
	document, found := readDocument(t), 0
	for path, methods := range document.at(t, "paths") {
		for method, operation := range methods.(node) {
			operation, ok := operation.(node)
			if _, described := operation["operationId"]; !ok || !described || !strings.HasPrefix(path, versionPrefix) {
				continue
			}
			found++
			one := call{strings.ToUpper(method), pathParameter.ReplaceAllString(path, ":$1")}
			who := server.contract.scopes[one]
			require.NotNil(t, who, one)
			said := operation.at(t, "x-scope")
			require.Equal(t, who.role.String(), said["role"], one)
			require.Equal(t, typingNames[who.typing], said["business_type"], one)
			require.Equal(t, showsNames[who.shows], said["payloads"], one)
			require.Equal(t, document.tells(t, operation["responses"]), who.shows != noPayloads, "%s: what an answer tells of payloads is declared", one)
		}
	}
	require.Len(t, server.contract.scopes, found)
}

// telling are the schemas and fields that hold payloads, or what receivers answered. The state
// of a timer has the latter in its last failure.
var telling = []string{"Timer", "Attempt", "DispatchFailure", "PastOccurrence", "Ring"}

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
func leastRole(one call) auth.Role {
	switch {
	case one.method == http.MethodGet:
		return auth.Viewer
	case strings.HasPrefix(one.path, versionPrefix+"policies"):
		return auth.Admin
	default:
		return auth.Operator
	}
}

// otherwise are the calls for which the rule does not hold, and why.
var otherwise = map[call]struct {
	role auth.Role
	why  string
}{
	{http.MethodGet, whoamiPath}:                             {auth.NoRole, "who may do nothing shall see that"},
	{http.MethodGet, keysPath}:                               {auth.Admin, "keys are an admin's"},
	{http.MethodGet, streamsPath + "/:type"}:                 {auth.Operator, "to take rings is to change timers"},
	{http.MethodPost, versionPrefix + "recurrences/preview"}: {auth.Viewer, "it changes nothing"},
}

// departures are the calls whose scope departs from the rule without being listed.
func departures(scopes map[call]*scope) (found []call) {
	for one, who := range scopes {
		want := leastRole(one)
		if exception, ok := otherwise[one]; ok {
			want = exception.role
		}
		if who.role != want {
			found = append(found, one)
		}
	}
	return found
}

// A scope that is wrong in the code and in the document alike departs from the rule.
func TestScopesFollowTheRoles(t *testing.T) {
	t.Parallel()
	server := New(Options{Timers: TimerOptions{Timers: silent{}, Failures: silent{}}, Front: FrontOptions{Telemetry: silent{}, Logger: slog.New(slog.DiscardHandler)}})
	require.Empty(t, departures(server.contract.scopes))
	for one := range otherwise {
		require.Contains(t, server.contract.scopes, one, "an exception that is gone")
	}
	for one, who := range server.contract.scopes { // the negative control
		wrong := maps.Clone(server.contract.scopes)
		wrong[one] = &scope{role: who.role ^ auth.Admin, typing: who.typing}
		require.Equal(t, []call{one}, departures(wrong))
	}
}
