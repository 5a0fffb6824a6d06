package embedded

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/internal/door"
)

// A page of another site, by its own name or by one that resolves to this machine, gets nothing
// of the Web UI: no page, no cookie, no call.
func TestTheWebUIAnswersItsOwnPagesOnly(t *testing.T) {
	pages, err := uiPages(Options{Addr: "127.0.0.1:1", Namespace: "default"})
	require.NoError(t, err)
	guarded := door.Rule{}.Guard(pages)
	call := func(method, path, host, origin string) *httptest.ResponseRecorder {
		request := httptest.NewRequest(method, path, nil)
		request.Host = host
		if origin != "" {
			request.Header.Set("Origin", origin)
		}
		answer := httptest.NewRecorder()
		guarded.ServeHTTP(answer, request)
		return answer
	}
	for _, path := range []string{"/", "/healthz", "/api/v1/settings", "/api/v1/namespaces/default/workflows", "/render"} {
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			for _, c := range [][2]string{
				{"evil.example:8233", ""}, {"evil.example:8233", "http://evil.example:8233"}, {"127.0.0.1:8233", "http://evil.example:8233"}, {"127.0.0.1:8233", "null"},
			} {
				answer := call(method, path, c[0], c[1])
				require.Equal(t, http.StatusForbidden, answer.Code, "%s %s of %v", method, path, c)
				require.Empty(t, answer.Header().Values("Set-Cookie"))
			}
		}
	}
	for _, host := range []string{"localhost:8233", "127.0.0.1:8233", "[::1]:8233"} {
		for _, path := range []string{"/", "/healthz", "/api/v1/settings"} {
			answer := call(http.MethodGet, path, host, "http://"+host)
			require.Equal(t, http.StatusOK, answer.Code, "%s of %s: %s", path, host, answer.Body)
			require.Contains(t, answer.Header().Values("Content-Security-Policy"), "frame-ancestors 'none'")
			require.Equal(t, "DENY", answer.Header().Get("X-Frame-Options"))
		}
	}
}
