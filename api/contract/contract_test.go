package contract_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/api/contract"
)

// The control: a call that violates the document is found, in each of its parts.
func TestViolationsAreFound(t *testing.T) {
	t.Parallel()
	document, err := contract.Wakecall()
	require.NoError(t, err)
	good := func() contract.Exchange {
		request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/v1/policies/order-close", nil)
		return contract.Exchange{
			Request: request, Status: http.StatusNotFound,
			Header: http.Header{"Content-Type": {"application/problem+json"}, "X-Request-Id": {"1"}},
			Body: []byte(`{"type":"urn:wakecall:problem:not-found","title":"There is no such thing","status":404,` +
				`"detail":"There is no such policy.","request_id":"1"}`),
		}
	}
	require.NoError(t, document.Check(good()))
	for name, alter := range map[string]func(x *contract.Exchange){
		"another status":     func(x *contract.Exchange) { x.Status = http.StatusTeapot },
		"another path":       func(x *contract.Exchange) { x.Request.URL.Path = "/v1/nowhere"; x.Status = http.StatusOK },
		"another media type": func(x *contract.Exchange) { x.Header.Set("Content-Type", "text/html") },
		"no header":          func(x *contract.Exchange) { x.Header.Del("X-Request-Id") },
		"an unknown field":   func(x *contract.Exchange) { x.Body = []byte(strings.Replace(string(x.Body), `"title"`, `"name"`, 1)) },
		"another type":       func(x *contract.Exchange) { x.Body = []byte(strings.Replace(string(x.Body), `404`, `"404"`, 1)) },
	} {
		x := good()
		alter(&x)
		require.Error(t, document.Check(x), name)
	}
}
