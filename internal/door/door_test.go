package door_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/internal/door"
)

func TestGuard(t *testing.T) {
	t.Parallel()
	public := door.Rule{Public: true, Names: []string{"wakecall.example"}}
	for name, c := range map[string]struct {
		rule         door.Rule
		host, origin string
		want         int
	}{
		"localhost":             {door.Rule{}, "localhost:8233", "http://localhost:8233", http.StatusOK},
		"127.0.0.1":             {door.Rule{}, "127.0.0.1:8233", "", http.StatusOK},
		"[::1]":                 {door.Rule{}, "[::1]:8233", "http://[::1]:8233", http.StatusOK},
		"no host":               {door.Rule{}, "", "", http.StatusOK},
		"a foreign host":        {door.Rule{}, "evil.example:8233", "http://evil.example:8233", http.StatusForbidden},
		"a foreign origin":      {door.Rule{}, "127.0.0.1:8233", "https://evil.example", http.StatusForbidden},
		"a sandbox":             {door.Rule{}, "127.0.0.1:8233", "null", http.StatusForbidden},
		"an address of another": {door.Rule{}, "192.0.2.1:8233", "", http.StatusForbidden},
		"public, an address":    {public, "192.0.2.1:8233", "http://192.0.2.1:8233", http.StatusOK},
		"public, its name":      {public, "Wakecall.example.:8233", "", http.StatusOK},
		"public, another name":  {public, "evil.example:8233", "", http.StatusForbidden},
		"public, another page":  {public, "192.0.2.1:8233", "https://evil.example", http.StatusForbidden},
	} {
		request := httptest.NewRequest(http.MethodGet, "/", nil)
		request.Host = c.host
		if c.origin != "" {
			request.Header.Set("Origin", c.origin)
		}
		answer := httptest.NewRecorder()
		c.rule.Guard(http.NotFoundHandler()).ServeHTTP(answer, request)
		want := c.want
		if want == http.StatusOK { // admitted requests ask for a missing page
			want = http.StatusNotFound
		}
		require.Equal(t, want, answer.Code, name)
	}
}
