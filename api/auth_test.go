package api

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/labstack/echo/v4"
	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/api/front"
	"github.com/wakecall/wakecall/api/operations"
	"github.com/wakecall/wakecall/api/paths"
	"github.com/wakecall/wakecall/api/policies"
	apitimers "github.com/wakecall/wakecall/api/timers"
	"github.com/wakecall/wakecall/core/health"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/bookings"
	"github.com/wakecall/wakecall/engine/timers"
	"github.com/wakecall/wakecall/internal/auth"
)

// authOf admits the key secret; rest is what its entry says after the digest.
func authOf(t *testing.T, name, rest string) *auth.Authenticator {
	t.Helper()
	digest := sha256.Sum256([]byte("secret"))
	parsed, err := auth.ParseKey(name + ":" + hex.EncodeToString(digest[:]) + rest)
	require.NoError(t, err)
	return auth.New([]auth.Key{parsed})
}

// types are timers that note for which business types they are asked.
type types struct {
	apitimers.Timers
	asked []string
}

// policiesOfTwo lists the policies of two business types.
type policiesOfTwo struct{ policies.Policies }

func (policiesOfTwo) List(context.Context) ([]policy.Policy, error) {
	return []policy.Policy{{BusinessType: "invoice"}, {BusinessType: "order"}}, nil
}

func (e *types) Add(_ context.Context, r bookings.Request) (timer.View, bool, error) {
	e.asked = append(e.asked, r.Key.BusinessType)
	return timer.View{}, true, nil
}

func (e *types) List(_ context.Context, r timers.PageRequest) (timers.Page, error) {
	if r.Named != (timers.Named{}) {
		return timers.Page{Timers: []timer.View{{Key: wire.Key{BusinessType: "order"}}, {Key: wire.Key{BusinessType: "invoice"}}}}, nil
	}
	e.asked = append(e.asked, r.Filter.BusinessType)
	return timers.Page{}, nil
}

// guarded is an API whose caller has a key, and what it asks of its timers.
func guarded(authenticator *auth.Authenticator) (*types, func(method, path, body string) *httptest.ResponseRecorder) {
	e := &types{}
	server := New(Options{
		Timers:      apitimers.Options{Timers: e, Failures: silent{}},
		Front:       front.Options{Telemetry: unmetered{}, Logger: slog.New(slog.DiscardHandler), Auth: authenticator},
		Policies:    policiesOfTwo{},
		Bulk:        &bulkJobs{},
		Emergencies: pausing{types: 2, asked: new([]policy.EmergencyOrder)},
	})
	return e, func(method, path, body string) *httptest.ResponseRecorder {
		request := httptest.NewRequest(method, path, strings.NewReader(body))
		request.Header.Set("Authorization", "Bearer secret")
		if body != "" {
			request.Header.Set("Content-Type", "application/json")
		}
		answer := httptest.NewRecorder()
		server.Handler().ServeHTTP(answer, request)
		return answer
	}
}

// routesOfContract are those under /v1, which need a key.
func routesOfContract(t *testing.T) (routes []*echo.Route) {
	t.Helper()
	server := New(Options{Timers: apitimers.Options{Timers: silent{}, Failures: silent{}}, Front: front.Options{Telemetry: silent{}, Logger: slog.New(slog.DiscardHandler)}})
	for _, route := range server.Handler().(*echo.Echo).Routes() {
		if strings.HasPrefix(route.Path, paths.Prefix) && route.Method != echo.RouteNotFound {
			routes = append(routes, route)
		}
	}
	require.Greater(t, len(routes), 20)
	return routes
}

func pathOf(route *echo.Route, businessType string) string {
	return strings.NewReplacer(":type", businessType, ":id", "x").Replace(route.Path)
}

// Every call is refused to a key of other business types, unless it decides by itself
// for whom it is.
func TestAKeyOfOneBusinessTypeIsForThatTypeOnly(t *testing.T) {
	t.Parallel()
	_, ask := guarded(authOf(t, "shop", ":admin:order"))
	for _, route := range routesOfContract(t) {
		if !strings.Contains(route.Path, ":type") {
			continue
		}
		call := route.Method + " " + route.Path
		answer := ask(route.Method, pathOf(route, "invoice"), "")
		require.Equal(t, http.StatusForbidden, answer.Code, call)
		require.Contains(t, answer.Body.String(), `"urn:wakecall:problem:forbidden"`, call)
		require.NotEqual(t, http.StatusForbidden, ask(route.Method, pathOf(route, "order"), "").Code, call)
		require.Equal(t, http.StatusForbidden, ask(route.Method, pathOf(route, "%69nvoice"), "").Code, call)
		require.NotEqual(t, http.StatusForbidden, ask(route.Method, pathOf(route, "%6frder"), "").Code, call)
	}
	require.Equal(t, http.StatusForbidden, ask("HEAD", "/v1/timers/invoice/x", "").Code)
	require.Equal(t, http.StatusNotFound, ask("GET", "/v1/nowhere", "").Code)
	require.Equal(t, http.StatusMethodNotAllowed, ask("POST", "/v1/timers/invoice/x", "").Code)
	require.Equal(t, http.StatusOK, ask("GET", "/livez", "").Code)
}

func TestCallsThatDecideByTheirBodyOrQuery(t *testing.T) {
	t.Parallel()
	e, ask := guarded(authOf(t, "shop", ":operator:order"))
	booking := `{"business_type":%q,"business_id":"1","delay":"1h"}`
	for name, c := range map[string]struct {
		method, path, body string
		want               int
	}{
		"a booking":                 {"POST", "/v1/timers", fmt.Sprintf(booking, "order"), 201},
		"a booking of another type": {"POST", "/v1/timers", fmt.Sprintf(booking, "invoice"), 403},
		"a list":                    {"GET", "/v1/timers?business_type=order", "", 200},
		"the same by HEAD":          {"HEAD", "/v1/timers?business_type=order", "", 200},
		"a list of another type":    {"GET", "/v1/timers?business_type=invoice", "", 403},
		"a list of all types":       {"GET", "/v1/timers", "", 403},
		"a rule, which has no type": {"POST", "/v1/recurrences/preview", `{"recurrence":{"every":"1h"}}`, 200},
		"an order for all types":    {"POST", "/v1/bulk", `{"operation":"redeliver","filter":{}}`, 403},
		"a bulk job":                {"POST", "/v1/bulk", `{"operation":"cancel","filter":{"business_type":"order"}}`, 202},
		"one of another type":       {"POST", "/v1/bulk", `{"operation":"cancel","filter":{"business_type":"invoice"}}`, 403},
		"to pause a type":           {"POST", "/v1/emergency/pause", `{"business_types":["order"]}`, 200},
		"to pause another type":     {"POST", "/v1/emergency/pause", `{"business_types":["order","invoice"]}`, 403},
		"to pause everything":       {"POST", "/v1/emergency/pause", `{"everything":true}`, 403},
		"to resume another type":    {"POST", "/v1/emergency/resume", `{"business_types":["invoice"]}`, 403},
		"a policy of another type":  {"PUT", "/v1/policies/invoice", `{}`, 403},
		"the secrets of a receiver": {"GET", "/v1/policies/invoice/versions", "", 403},
	} {
		e.asked = nil
		answer := ask(c.method, c.path, c.body)
		require.Equal(t, c.want, answer.Code, "%s: %s", name, answer.Body)
		for _, businessType := range e.asked {
			require.Equal(t, "order", businessType, name)
		}
	}
	e.asked = nil
	answer := ask("POST", "/v1/timers/batch", `{"timers":[`+fmt.Sprintf(booking, "order")+","+fmt.Sprintf(booking, "invoice")+`]}`)
	require.Regexp(t, `^{"results":\[{"status":201,.*},{"status":403,.*}\]}\n$`, answer.Body.String())
	require.Equal(t, []string{"order"}, e.asked)
	require.Regexp(t, `^{"paused":\[{"business_type":"order"[^[{]*}\]}\n$`, ask("GET", "/v1/emergency", "").Body.String())
	require.Regexp(t, `^{"policies":\[{"business_type":"order"[^[]*}\]}\n$`, ask("GET", "/v1/policies", "").Body.String())
}

// An entry that names no role is an admin of all types who sees payloads.
// The other roles are the control.
func TestAnEntryWithoutARoleMayDoEverything(t *testing.T) {
	t.Parallel()
	_, ask := guarded(authOf(t, "ops", ""))
	_, askAsOperator := guarded(authOf(t, "ops", ":operator"))
	refused := 0
	for _, route := range routesOfContract(t) {
		name := route.Method + " " + route.Path
		require.NotContains(t, []int{http.StatusUnauthorized, http.StatusForbidden}, ask(route.Method, pathOf(route, "order"), "").Code, name)
		if askAsOperator(route.Method, pathOf(route, "order"), "").Code == http.StatusForbidden {
			refused++
		}
	}
	require.Positive(t, refused, "an operator may not change policies")
}

// A principal without a role may do nothing, and where nobody says who calls, nobody
// comes in.
func TestTheAPIFailsClosed(t *testing.T) {
	t.Parallel()
	powerless := auth.New([]auth.Key{{
		Principal: auth.Principal{Name: "none", By: auth.ByKey, Grants: []auth.Grant{{Types: []string{auth.AllBusinessTypes}}}}, SHA256: sha256.Sum256([]byte("secret")),
	}})
	for want, authenticator := range map[int]*auth.Authenticator{http.StatusForbidden: powerless, http.StatusUnauthorized: nil} {
		e, ask := guarded(authenticator)
		for _, route := range routesOfContract(t) {
			if route.Path == "/v1/whoami" && want == http.StatusForbidden { // it tells just that
				continue
			}
			require.Equal(t, want, ask(route.Method, pathOf(route, "order"), "").Code, "%s %s", route.Method, route.Path)
		}
		require.Empty(t, e.asked)
	}
}

// The log names who called, and never the key.
func TestTheLogNamesThePrincipal(t *testing.T) {
	t.Parallel()
	f := openFront(t, Options{Front: front.Options{Auth: authOf(t, "ops", "")}})
	f.get("/v1/timers", "Authorization: Bearer secret")
	require.Contains(t, f.logged.String(), `"client":"ops"`)
	f.get("/v1/timers", "Authorization: Bearer guessed")
	require.Contains(t, f.logged.String(), `"client":"anonymous"`)
	require.NotContains(t, f.logged.String(), "secret")
	require.NotContains(t, f.logged.String(), "guessed")
}

// refusing are tokens of which a provider says one thing.
type refusing struct{ err error }

func (s refusing) Bearer(context.Context, string, [sha256.Size]byte) (*auth.Principal, error) {
	return nil, s.err
}

// Who is not let in is told whether to send something else, to get a new token, or to wait.
// What exactly is wrong with a token stands in the log, without the token.
func TestTokensThatAreNotLetIn(t *testing.T) {
	t.Parallel()
	for detail, c := range map[string]struct {
		err    error
		status int
		slug   string
	}{
		"or a token of the identity provider": {fmt.Errorf("%w: for mail", auth.ErrUnknown), http.StatusUnauthorized, "unauthorized"},
		"The token has expired":               {auth.ErrExpired, http.StatusUnauthorized, "unauthorized"},
		"The identity provider does not":      {fmt.Errorf("%w: gone", auth.ErrNoProvider), http.StatusServiceUnavailable, "sign-in-unavailable"},
	} {
		f := openFront(t, Options{Front: front.Options{Auth: authOf(t, "ops", "").WithTokens(refusing{c.err})}})
		answer, body := f.get("/v1/timers", "Authorization: Bearer guessed")
		require.Equal(t, c.status, answer.StatusCode)
		require.Contains(t, body, `"urn:wakecall:problem:`+c.slug+`"`)
		require.Contains(t, body, detail)
		require.NotContains(t, body, c.err.Error())
		require.Contains(t, f.logged.String(), c.err.Error())
		require.NotContains(t, f.logged.String(), "guessed")
		require.NotContains(t, f.logged.String(), `"level":"ERROR"`, "anybody could fill the log with it")
		require.Equal(t, c.status == http.StatusUnauthorized, answer.Header.Get("WWW-Authenticate") != "")
		require.Equal(t, c.status == http.StatusServiceUnavailable, answer.Header.Get("Retry-After") != "")
		answer, _ = f.get("/v1/timers", "Authorization: Bearer secret")
		require.Equal(t, http.StatusOK, answer.StatusCode, "keys go on beside it")
	}
}

// /readyz tells what is amiss beside what is paused, and is ready all the same.
func TestReadinessTellsOfTheProvider(t *testing.T) {
	t.Parallel()
	f := openFront(t, Options{Operations: operations.Options{Note: func() string { return "the identity provider does not answer" }}, Emergencies: pausing{types: 2}})
	answer, body := f.get("/readyz")
	require.Equal(t, http.StatusOK, answer.StatusCode)
	require.JSONEq(t, `{"status":"ready","note":"callbacks are paused for 2 business types; the identity provider does not answer"}`, body)
	f = openFront(t, Options{Operations: operations.Options{Note: func() string { return "" }}})
	_, body = f.get("/readyz")
	require.JSONEq(t, `{"status":"ready"}`, body)
}

// Readiness tells what was found of the installation to who asks, and the details to who is let
// in.
func TestChecksOfTheInstallation(t *testing.T) {
	t.Parallel()
	found := func() []health.Check {
		return []health.Check{{Name: "canary", Status: health.Failing, Detail: "step ring"}}
	}
	checksIn := func(body string) (checks []health.Check) {
		var answer struct {
			Checks []health.Check `json:"checks"`
		}
		require.NoError(t, json.Unmarshal([]byte(body), &answer))
		for i := range answer.Checks {
			answer.Checks[i].At = 0
		}
		return answer.Checks
	}
	for name, c := range map[string]struct {
		ready  error
		status int
		probe  health.Check
	}{
		"ready":     {nil, http.StatusOK, health.Check{Name: "probe", Status: health.OK}},
		"not ready": {errors.New("away"), http.StatusServiceUnavailable, health.Check{Name: "probe", Status: health.Failing, Detail: "Temporal does not store a request, or no worker handles it"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := openFront(t, Options{
				Front:      front.Options{Auth: authOf(t, "shop", ":viewer:a")},
				Operations: operations.Options{Ready: func(context.Context) error { return c.ready }, Checks: found},
			})
			answer, body := f.get("/readyz?verbose", "Authorization: Bearer secret")
			require.Equal(t, c.status, answer.StatusCode)
			require.Equal(t, append([]health.Check{c.probe}, found()...), checksIn(body))
			_, body = f.get("/readyz?verbose")
			require.Equal(t, []health.Check{{Name: "probe", Status: c.probe.Status}, {Name: "canary", Status: health.Failing}}, checksIn(body))
			answer, body = f.get("/readyz?verbose=1", "Authorization: Bearer guessed")
			require.Equal(t, http.StatusUnauthorized, answer.StatusCode)
			require.Empty(t, checksIn(body))
			_, body = f.get("/readyz", "Authorization: Bearer secret")
			require.Empty(t, checksIn(body), "a load balancer asks for none")
		})
	}
}
