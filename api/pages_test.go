package api

import (
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/labstack/echo/v4"
	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/api/front"
	"github.com/wakecall/wakecall/api/timers"
	"github.com/wakecall/wakecall/internal/auth"
)

// here is where a gateway without keys is called.
const here = "http://localhost"

// called is the answer to a call with these headers, Host among them.
func called(server *Server, method, path string, headers map[string]string) *httptest.ResponseRecorder {
	request := httptest.NewRequest(method, here+path, nil)
	for name, value := range headers {
		request.Header.Set(name, value)
	}
	if host, given := headers["Host"]; given {
		request.Host = host
	}
	answer := httptest.NewRecorder()
	server.Handler().ServeHTTP(answer, request)
	return answer
}

func gate(authenticator *auth.Authenticator) *Server {
	return New(Options{
		Timers:   timers.Options{Timers: &stub{}, Failures: silent{}},
		Front:    front.Options{Telemetry: uncounted{}, Logger: slog.New(slog.DiscardHandler), Auth: authenticator},
		Policies: policiesOfTwo{},
	})
}

// What a browser sends of a page of another site, where the page needs nobody's leave.
var ofOtherPages = map[string]map[string]string{
	"another site":               {"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"},
	"another site, to read":      {"Sec-Fetch-Site": "cross-site"},
	"another port":               {"Origin": "http://localhost:3000", "Sec-Fetch-Site": "same-site"},
	"another port, to read":      {"Sec-Fetch-Site": "same-site"},
	"an old browser":             {"Origin": "https://evil.example"},
	"a file, or a sandbox":       {"Origin": "null"},
	"a name that leads here":     {"Host": "evil.example:8080", "Origin": "http://evil.example:8080", "Sec-Fetch-Site": "same-origin"},
	"a name that leads here, to": {"Host": "evil.example"},
	"an address of another":      {"Host": "192.0.2.1:8080"},
	"every address":              {"Host": "0.0.0.0:8080"},
	"a name like localhost":      {"Host": "localhost.evil.example"},
	"a name like an address":     {"Host": "127.0.0.1.evil.example"},
	"another that ends so":       {"Host": "evillocalhost"},
}

func TestPagesMakeNoCallsWithoutKeys(t *testing.T) {
	t.Parallel()
	server := gate(auth.Anyone())
	for _, route := range routesOfContract(t) {
		for name, headers := range ofOtherPages {
			answer := called(server, route.Method, route.Path, headers)
			require.Equal(t, http.StatusForbidden, answer.Code, "%s: %s %s: %s", name, route.Method, route.Path, answer.Body)
			require.Equal(t, "application/problem+json", answer.Header().Get(echo.HeaderContentType))
		}
	}
	answer := called(server, http.MethodPost, "/v1/timers/order/1/fire", ofOtherPages["a name that leads here"])
	require.Contains(t, answer.Body.String(), "127.0.0.1")
	require.Contains(t, answer.Body.String(), "WAKECALL_API_KEYS")
}

func TestWhoCallsWithoutKeys(t *testing.T) {
	t.Parallel()
	server := gate(auth.Anyone())
	for name, headers := range map[string]map[string]string{
		"a program":               {},
		"an old program":          {"Host": ""},
		"the page of the gateway": {"Host": "localhost:8080", "Origin": "http://localhost:8080", "Sec-Fetch-Site": "same-origin"},
		"an old browser's":        {"Host": "localhost:8080", "Origin": "http://localhost:8080"},
		"over TLS":                {"Host": "localhost:8443", "Origin": "https://localhost:8443", "Sec-Fetch-Site": "same-origin"},
		"who types an address":    {"Sec-Fetch-Site": "none"},
		"an address":              {"Host": "127.0.0.1:8080"},
		"another of loopback":     {"Host": "127.8.9.10"},
		"IPv6":                    {"Host": "[::1]:8080"},
		"IPv6 without a port":     {"Host": "[::1]"},
		"a name under localhost":  {"Host": "wakecall.localhost:8080"},
		"a name in full":          {"Host": "LOCALHOST.:8080"},
	} {
		require.Equal(t, http.StatusOK, called(server, http.MethodGet, "/v1/policies", headers).Code, name)
	}
	require.Equal(t, http.StatusOK, called(server, http.MethodGet, "/livez", ofOtherPages["a name that leads here"]).Code, "what is open to all stays so")
}

// A key is what a page lacks: by which name the gateway is called says nothing then.
func TestKeysLetInByAnyName(t *testing.T) {
	t.Parallel()
	server := gate(authOf(t, "ops", ""))
	for name, headers := range ofOtherPages {
		require.Equal(t, http.StatusUnauthorized, called(server, http.MethodGet, "/v1/policies", headers).Code, name)
		keyed := maps.Clone(headers)
		keyed["Authorization"] = "Bearer secret"
		require.Equal(t, http.StatusOK, called(server, http.MethodGet, "/v1/policies", keyed).Code, name)
	}
	refused := called(server, http.MethodGet, "/v1/streams/order", map[string]string{"Authorization": "Bearer secret", "Sec-Fetch-Site": "cross-site"})
	require.Equal(t, http.StatusForbidden, refused.Code, "rings are for no page of another site at all")
}
