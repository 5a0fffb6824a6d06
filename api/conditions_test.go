package api

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/api/apitest"
	"github.com/wakecall/wakecall/api/calls"
	"github.com/wakecall/wakecall/api/front"
	"github.com/wakecall/wakecall/api/paths"
	apipolicies "github.com/wakecall/wakecall/api/policies"
	"github.com/wakecall/wakecall/api/requests"
	"github.com/wakecall/wakecall/api/timers"
	"github.com/wakecall/wakecall/engine/policies"
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
		return requests.IfMatchTimer(echo.New().NewContext(request, httptest.NewRecorder()))
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
		require.Equal(t, []string{"If-Match"}, apitest.Pointers(t, err), "%q", values)
	}
}

// putting notes what policies are put.
type putting struct {
	apipolicies.Policies
	changes []policies.Change
}

func (p *putting) Put(_ context.Context, change policies.Change) (policies.Result, error) {
	p.changes = append(p.changes, change)
	return policies.Result{Policy: change.Policy, Created: true}, nil
}

// A policy is made only where there is none, if that is asked for in the one form there is.
func TestIfNoneMatchIsReadStrictly(t *testing.T) {
	t.Parallel()
	policies := &putting{}
	server := New(Options{Front: front.Options{Auth: auth.Anyone(), Telemetry: uncounted{}, Logger: slog.New(slog.DiscardHandler)}, Timers: timers.Options{Timers: silent{}, Failures: silent{}}, Policies: policies})
	put := func(method string, values ...string) *httptest.ResponseRecorder {
		request := httptest.NewRequest(method, here+"/v1/policies/order", strings.NewReader(`{"paused":true}`))
		request.Header["If-None-Match"] = values
		request.Header.Set("Content-Type", "application/json")
		answer := httptest.NewRecorder()
		server.Handler().ServeHTTP(answer, request)
		return answer
	}
	for _, values := range [][]string{nil, {"*"}, {" * "}} {
		answer := put(http.MethodPut, values...)
		require.Equal(t, http.StatusCreated, answer.Code, "%q: %s", values, answer.Body)
		require.Equal(t, len(values) > 0, policies.changes[len(policies.changes)-1].MustBeNew)
	}
	policies.changes = nil
	for _, values := range [][]string{{""}, {`"3"`}, {`W/"3"`}, {"**"}, {`"*"`}, {`*, "3"`}, {"*", "*"}} {
		answer := put(http.MethodPut, values...)
		require.Equal(t, http.StatusUnprocessableEntity, answer.Code, "%q: %s", values, answer.Body)
		require.Contains(t, answer.Body.String(), `"pointer":"If-None-Match"`)
	}
	require.Equal(t, http.StatusUnprocessableEntity, put(http.MethodPatch, "*").Code, "an edit makes nothing else")
	require.Empty(t, policies.changes)
}

// A call that would ignore a condition refuses it; the calls that honour one exist.
func TestConditionsAreHonouredOrRefused(t *testing.T) {
	t.Parallel()
	server := New(Options{Front: front.Options{Auth: auth.Anyone(), Telemetry: uncounted{}, Logger: slog.New(slog.DiscardHandler)}, Timers: timers.Options{Timers: silent{}, Failures: silent{}}})
	changes, honoured := 0, 0
	for _, route := range server.Handler().(*echo.Echo).Routes() {
		if route.Method == http.MethodGet || route.Method == echo.RouteNotFound || !strings.HasPrefix(route.Path, paths.Prefix) {
			continue
		}
		changes++
		if server.contract.Scopes[calls.Call{Method: route.Method, Path: route.Path}].Understands(calls.IfMatch) {
			honoured++
		}
		for _, condition := range calls.Conditions {
			request := httptest.NewRequest(route.Method, here+strings.NewReplacer(":type", "order", ":id", "1").Replace(route.Path), nil)
			request.Header.Set(condition.Header, `W/"3"`)
			answer := httptest.NewRecorder()
			server.Handler().ServeHTTP(answer, request)
			require.Equal(t, http.StatusUnprocessableEntity, answer.Code, "%s %s: %s", route.Method, route.Path, answer.Body)
			require.Contains(t, answer.Body.String(), `"pointer":"`+condition.Header+`"`, "%s %s", route.Method, route.Path)
		}
	}
	require.Greater(t, changes, honoured)
	require.Greater(t, honoured, 8)
}

// uncounted is a telemetry for requests that are served.
type uncounted struct{ silent }

func (uncounted) Requested(_, _ string, _ int, _ time.Duration) {}
