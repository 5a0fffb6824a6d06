package console_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/health"
	"github.com/wakecall/wakecall/internal/seal"
)

// The checks of the gateway stand on the page, gravest first, with what to change, for who is signed
// in. Who is not sees none of it.
func TestHealthShowsTheChecks(t *testing.T) {
	t.Parallel()
	h := open(t, plan{keys: staff, secret: seal.NewKey()})
	const wrong = "The clock is 3s behind <Temporal's>: set it by NTP."
	h.shelf.checks = []health.Check{{Name: "canary", Status: health.OK, At: 1}, {Name: "lists", Status: health.Unknown}, {Name: "clock", Status: health.Failing, Detail: wrong, At: 1}}
	h.signIn("eve")
	page := h.get("/console/health").body
	require.Contains(t, page, "The clock is 3s behind &lt;Temporal&#39;s&gt;: set it by NTP.")
	require.Less(t, strings.Index(page, "<code>clock</code>"), strings.Index(page, "<code>lists</code>"))
	require.Less(t, strings.Index(page, "<code>lists</code>"), strings.Index(page, "<code>canary</code>"))
	require.Contains(t, page, "Took at most")
	stranger := h.get("/readyz?verbose")
	require.Equal(t, http.StatusOK, stranger.StatusCode)
	require.Contains(t, stranger.body, `"clock"`)
	require.NotContains(t, stranger.body, "NTP", "a cookie of the console is no key")
}
