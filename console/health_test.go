package console_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/health"
	"github.com/wakecall/wakecall/core/wire"
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

// The processes stand on the page as the API has them, with what is not told and what cannot be read.
func TestHealthShowsTheProcesses(t *testing.T) {
	t.Parallel()
	h := open(t, plan{keys: staff, secret: seal.NewKey(), every: time.Hour})
	held, sending := 1234, 0
	h.shelf.running = health.Processes{Gateway: "g-1", Processes: []health.Process{
		{ID: "w-2", State: health.Silent, LastSeen: 1, About: health.About{Role: health.Worker}},
		{ID: "g-1", State: health.Alive, LastSeen: wire.At(*h.now), About: health.About{
			Role: health.Node, Version: "1.2.3", Host: "<box>", Preloaded: &held, InFlight: &sending,
		}},
	}}
	h.signIn("eve")
	page := h.get("/console/health").body
	require.Less(t, strings.Index(page, "<code>w-2</code>"), strings.Index(page, "<code>g-1</code>"))
	for _, shown := range []string{
		"no sign of life", "not told", "gateway and worker", "<code>1.2.3</code>", "&lt;box&gt;", ">1,234<", ">0<", "answers you", "Several versions run at once.",
	} {
		require.Contains(t, page, shown)
	}
	h.shelf.running.Processes, h.shelf.running.Note = h.shelf.running.Processes[1:], "Temporal lists <none>."
	page = h.get("/console/health").body
	require.NotContains(t, page, "Several versions")
	require.Contains(t, page, "Temporal lists &lt;none&gt;.")
	require.Contains(t, h.follow("/console/health").page(), "<code>g-1</code>", "the page lives")

	h.signIn("anna")
	page = h.get("/console/health").body
	require.Contains(t, page, "They are shown to those with a role for all business types.")
	require.NotContains(t, page, "g-1", "the counts are of all types")

	h = open(t, plan{every: time.Hour})
	h.shelf.down = true
	page = h.get("/console/health").body
	require.Contains(t, page, "Temporal did not answer.")
	require.NotContains(t, page, "Seen last")
}
