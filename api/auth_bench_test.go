package api

import (
	"crypto/sha256"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/api/calls"
	"github.com/wakecall/wakecall/api/front"
	"github.com/wakecall/wakecall/api/paths"
	"github.com/wakecall/wakecall/api/timers"
	"github.com/wakecall/wakecall/internal/audit"
	"github.com/wakecall/wakecall/internal/auth"
)

// maxAuthAllocs is what a booking allocates for who calls and whether it may: a context, and
// the request that carries it.
const maxAuthAllocs = 2

// authorized is what a booking passes through before its handler, with a key of one type.
func authorized(t testing.TB, authenticator *auth.Authenticator) func() {
	server := New(Options{Timers: timers.Options{Timers: silent{}, Failures: silent{}}, Front: front.Options{Telemetry: unmetered{}, Logger: slog.New(slog.DiscardHandler), Auth: authenticator}})
	e := echo.New()
	request := httptest.NewRequest(http.MethodPost, paths.Timers, nil)
	request.Header.Set(echo.HeaderAuthorization, "Bearer secret")
	passed := 0
	handle := server.contract.Authenticate(authenticator, nil)(server.contract.Authorize(func(c echo.Context) error {
		passed++
		return calls.Permit(c.Request().Context(), "order")
	}))
	c := e.NewContext(request, httptest.NewRecorder())
	c.SetPath(paths.Timers)
	return func() {
		c.SetRequest(request)
		before := passed
		if err := handle(c); err != nil || passed == before {
			t.Fatal(err)
		}
	}
}

// Whoever is configured beside keys, a booking with a key pays nothing for it.
func TestABookingWithAKeyPaysForNothingElse(t *testing.T) { //nolint:paralleltest // it counts allocations
	for name, with := range map[string]*auth.Authenticator{
		"keys only":        authOf(t, "shop", ":operator:order"),
		"a provider, too":  authOf(t, "shop", ":operator:order").WithTokens(refusing{auth.ErrNoProvider}),
		"and certificates": authOf(t, "shop", ":operator:order").WithTokens(refusing{auth.ErrNoProvider}).WithSubjects(auth.Mappings{{Name: "a"}}),
	} {
		require.LessOrEqual(t, testing.AllocsPerRun(100, authorized(t, with)), float64(maxAuthAllocs), name)
	}
}

func BenchmarkAuthorizedBooking(b *testing.B) {
	digest := sha256.Sum256([]byte("secret"))
	key := auth.Key{SHA256: digest, Principal: auth.Principal{Name: "shop", By: auth.ByKey, Grants: []auth.Grant{{Role: auth.Operator, Types: []string{"order"}}}}}
	pass := authorized(b, auth.New([]auth.Key{key}))
	b.ReportAllocs()
	for b.Loop() {
		pass()
	}
}

// BenchmarkBookingWithAKey is the whole way of a booking through the front door, without records of
// calls and with those that a gateway keeps in memory.
func BenchmarkBookingWithAKey(b *testing.B) {
	for name, records := range map[string]*audit.Log{"unrecorded": nil, "recorded": audit.NewLog(audit.NewRecent(time.Now()))} {
		b.Run(name, func(b *testing.B) { benchmarkBooking(b, records) })
	}
}

func benchmarkBooking(b *testing.B, records *audit.Log) {
	digest := sha256.Sum256([]byte("secret"))
	key := auth.Key{SHA256: digest, Principal: auth.Principal{Name: "shop", By: auth.ByKey, Grants: []auth.Grant{{Role: auth.Operator, Payloads: true, Types: []string{"order"}}}}}
	server := New(Options{
		Timers: timers.Options{Timers: &types{}, Failures: silent{}},
		Front:  front.Options{Telemetry: unmetered{}, Logger: slog.New(slog.DiscardHandler), Auth: auth.New([]auth.Key{key}), Audit: records},
	})
	b.ReportAllocs()
	for b.Loop() {
		request := httptest.NewRequest(http.MethodPost, paths.Timers, strings.NewReader(`{"business_type":"order","business_id":"1","delay":"1h"}`))
		request.Header.Set(echo.HeaderAuthorization, "Bearer secret")
		request.Header.Set(echo.HeaderContentType, "application/json")
		answer := httptest.NewRecorder()
		server.Handler().ServeHTTP(answer, request)
		if answer.Code != http.StatusCreated {
			b.Fatal(answer.Body)
		}
	}
}
