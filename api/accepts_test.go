package api

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/api/calls"
	"github.com/wakecall/wakecall/internal/auth"
)

// A body that says something is read or refused by every call, whether its length is said
// or it comes in chunks.
func TestBodiesAreReadOrRefused(t *testing.T) {
	t.Parallel()
	const why = "takes no body"
	server := gate(auth.Anyone())
	refused, read := 0, 0
	for _, route := range routesOfContract(t) {
		for _, length := range []int64{2, -1} {
			request := httptest.NewRequest(route.Method, here+route.Path, strings.NewReader("{}"))
			request.ContentLength = length
			if server.contract.Scopes[calls.Call{Method: route.Method, Path: route.Path}].Understands(calls.Body) {
				read++
				continue
			}
			answer := httptest.NewRecorder()
			server.Handler().ServeHTTP(answer, request)
			require.Equal(t, http.StatusBadRequest, answer.Code, "%s %s: %s", route.Method, route.Path, answer.Body)
			require.Contains(t, answer.Body.String(), why)
			refused++
		}
	}
	require.Greater(t, refused, 40)
	require.Greater(t, read, 30)
}

// What the resource does not know is told first: the body says nothing then.
func TestAnUnknownMethodComesBeforeItsBody(t *testing.T) {
	t.Parallel()
	server := gate(auth.Anyone())
	for path, want := range map[string]int{"/v1/timers": http.StatusMethodNotAllowed, "/v1/nothing": http.StatusNotFound} {
		answer := httptest.NewRecorder()
		server.Handler().ServeHTTP(answer, httptest.NewRequest(http.MethodPut, here+path, strings.NewReader("{}")))
		require.Equal(t, want, answer.Code, path)
	}
}
