package api

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/internal/auth"
)

// What is no single strong tag is refused by the header's name, and never taken
// for "no condition".
func TestIfMatchIsReadStrictly(t *testing.T) {
	t.Parallel()
	read := func(values ...string) (string, error) {
		request := httptest.NewRequest(http.MethodPatch, "/", nil)
		for _, value := range values {
			request.Header.Add("If-Match", value)
		}
		return ifTimer(echo.New().NewContext(request, httptest.NewRecorder()))
	}
	for _, c := range []struct {
		values []string
		tag    string
	}{
		{nil, ""}, {[]string{"*"}, "*"}, {[]string{`"3"`}, "3"}, {[]string{` "12-0a1b2c3d" `}, "12-0a1b2c3d"},
	} {
		tag, err := read(c.values...)
		require.NoError(t, err)
		require.Equal(t, c.tag, tag)
	}
	for _, values := range [][]string{
		{""}, {"3"}, {`W/"3"`}, {`w/"3"`}, {`"0"`}, {`"-1"`}, {`"3`}, {`3"`}, {`"3-xyz"`}, {`"3-0A1B2C3D"`}, {`"1", "2"`},
		{`"1"`, `"2"`}, {"*", "*"}, {`"99999999999999999999"`}, {`"3" `, ""},
	} {
		_, err := read(values...)
		require.Equal(t, []string{"If-Match"}, pointersOf(t, err), "%q", values)
	}
}

// A call that would ignore a condition refuses it; the calls that honour one exist.
func TestConditionsAreHonouredOrRefused(t *testing.T) {
	t.Parallel()
	server := New(Options{Auth: auth.Anyone(), Timers: silent{}, Failures: silent{}, Telemetry: uncounted{}, Logger: slog.New(slog.DiscardHandler)})
	changes := 0
	for _, route := range server.Handler().(*echo.Echo).Routes() {
		if route.Method == http.MethodGet || route.Method == echo.RouteNotFound || !strings.HasPrefix(route.Path, versionPrefix) {
			continue
		}
		changes++
		for _, name := range conditions {
			request := httptest.NewRequest(route.Method, here+strings.NewReplacer(":type", "order", ":id", "1").Replace(route.Path), nil)
			request.Header.Set(name, `W/"3"`)
			answer := httptest.NewRecorder()
			server.Handler().ServeHTTP(answer, request)
			require.Equal(t, http.StatusUnprocessableEntity, answer.Code, "%s %s: %s", route.Method, route.Path, answer.Body)
			require.Contains(t, answer.Body.String(), `"pointer":"`+name+`"`, "%s %s", route.Method, route.Path)
		}
	}
	require.Greater(t, changes, len(conditional))
	for _, call := range conditional {
		method, path, _ := strings.Cut(call, " ")
		require.True(t, containsRoute(server, method, path), call)
	}
}

// uncounted is a telemetry for requests that are served.
type uncounted struct{ silent }

func (uncounted) Requested(_, _ string, _ int, _ time.Duration) {}

func containsRoute(server *Server, method, path string) bool {
	for _, route := range server.Handler().(*echo.Echo).Routes() {
		if route.Method == method && route.Path == path {
			return true
		}
	}
	return false
}
