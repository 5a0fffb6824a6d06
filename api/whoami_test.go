package api

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/api/front"
	"github.com/wakecall/wakecall/api/timers"
	"github.com/wakecall/wakecall/internal/auth"
)

func TestWhoAmI(t *testing.T) {
	t.Parallel()
	for entry, want := range map[string]string{
		"":                           `[{"role":"admin","payloads":true,"business_types":["*"]}]`,
		":viewer:order-*":            `[{"role":"viewer","payloads":false,"business_types":["order-*"]}]`,
		":operator+no-payloads:a+b.": `[{"role":"operator","payloads":false,"business_types":["a","b."]}]`,
	} {
		_, ask := guarded(authOf(t, "shop", entry))
		answer := ask("GET", "/v1/whoami", "")
		require.Equal(t, http.StatusOK, answer.Code)
		require.JSONEq(t, `{"name":"shop","by":"key","grants":`+want+`}`, answer.Body.String())
		require.Equal(t, http.StatusUnprocessableEntity, ask("GET", "/v1/whoami?a=b", "").Code)
	}
	_, body := openFront(t, Options{}).get("/v1/whoami")
	require.JSONEq(t, `{"name":"anonymous","by":"nothing","grants":[{"role":"admin","payloads":true,"business_types":["*"]}]}`, body)
	answer, _ := openFront(t, Options{Front: front.Options{Auth: authOf(t, "shop", "")}}).get("/v1/whoami")
	require.Equal(t, http.StatusUnauthorized, answer.StatusCode)
}

// Who may do nothing is told so, with the id by which it is to be given a role.
func TestWhoAmIWithoutARole(t *testing.T) {
	t.Parallel()
	stranger := pair(t, "stranger")
	by := auth.New(nil).WithSubjects(nil)
	server := New(Options{Timers: timers.Options{Timers: silent{}, Failures: silent{}}, Front: front.Options{Telemetry: unmetered{}, Logger: slog.New(slog.DiscardHandler), Auth: by}})
	request, answer := httptest.NewRequest(http.MethodGet, "/v1/whoami", nil), httptest.NewRecorder()
	request.TLS = &tls.ConnectionState{VerifiedChains: [][]*x509.Certificate{{stranger.Leaf}}}
	server.Handler().ServeHTTP(answer, request)
	require.JSONEq(t, `{"name":"stranger","id":"CN=stranger,O=Example","by":"certificate","grants":[]}`, answer.Body.String())
}

// An admin of everything sees which keys there are, and nothing of the keys themselves.
func TestKeysAreListed(t *testing.T) {
	t.Parallel()
	authenticator := authOf(t, "ops", "")
	_, ask := guarded(authenticator)
	answer := ask("GET", "/v1/keys", "")
	require.Equal(t, http.StatusOK, answer.Code)
	require.JSONEq(t, `{"keys":[{"name":"ops","role":"admin","payloads":true,"business_types":["*"]}]}`, answer.Body.String())
	digest := authenticator.Keys()[0].SHA256
	require.NotContains(t, answer.Body.String(), hex.EncodeToString(digest[:8]))
	require.Equal(t, http.StatusUnprocessableEntity, ask("GET", "/v1/keys?a=b", "").Code)
	for _, entry := range []string{":admin:order", ":operator", ":viewer"} {
		_, ask := guarded(authOf(t, "shop", entry))
		require.Equal(t, http.StatusForbidden, ask("GET", "/v1/keys", "").Code, entry)
	}
	_, body := openFront(t, Options{}).get("/v1/keys")
	require.JSONEq(t, `{"keys":[]}`, body)
}
