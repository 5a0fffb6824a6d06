package console_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/timer"
)

// mainOf is what a page shows between its head and its foot.
func mainOf(page string) string {
	_, page, _ = strings.Cut(page, "<main")
	page, _, _ = strings.Cut(page, "</main>")
	return page
}

// changingPages are pages on which something can be changed.
var changingPages = []string{
	"/console/", list, timerPath, "/console/types", typePage, "/console/jobs/count", "/console/dispatches/order-close/d", "/console/emergency",
}

func changing(t *testing.T) *harness {
	t.Helper()
	h := stocked(t, plan{})
	h.shelf.views, h.shelf.sent = []timer.View{viewOf(timer.Scheduled)}, []dispatch.View{dispatchOf(dispatch.Running)}
	h.shelf.rules = []policy.Policy{closing()}
	return h
}

// While Temporal is away each page shows what was known last, and from when that is. Nothing can be done
// on it, and it says why.
func TestTemporalIsAway(t *testing.T) {
	t.Parallel()
	h := changing(t)
	for _, page := range changingPages {
		here := h.get(page)
		require.Equal(t, http.StatusOK, here.StatusCode, page)
		require.Contains(t, mainOf(here.body), `method="post"`, page)
		require.NotContains(t, here.body, "Some of this cannot be read now", page)
		require.NotContains(t, here.body, "nothing can be changed", page)
	}
	h.shelf.down, h.shelf.listless = true, true
	for _, page := range changingPages {
		away := h.get(page)
		require.Equal(t, http.StatusOK, away.StatusCode, page)
		require.Contains(t, away.body, `class="strip alarm away"`, page)
		require.Contains(t, away.body, "Temporal does not answer. It did at ", page)
		require.Equal(t, 1, strings.Count(mainOf(away.body), "Until it does, nothing can be changed."), "where the actions were: %s", page)
		require.NotContains(t, mainOf(away.body), `method="post"`, page)
		require.Contains(t, away.body, "order-close", page)
	}
	for _, page := range []string{timerPath, list, typePage} {
		require.Regexp(t, `Some of this cannot be read now\. It is what was known last\. As of <time [^>]*>\d\d:`, h.get(page).body, page)
	}
	unknown := h.get("/console/timers/order-close/2")
	require.Equal(t, http.StatusServiceUnavailable, unknown.StatusCode)
	require.Contains(t, unknown.body, `http-equiv="refresh"`, "it appears by itself")
	require.Contains(t, unknown.body, "hx-sse:connect=")
	require.NotContains(t, h.get("/console/nowhere").body, `http-equiv="refresh"`)
	h.shelf.down, h.shelf.listless = false, false
	for _, page := range changingPages {
		again := h.get(page).body
		require.Contains(t, mainOf(again), `method="post"`, page)
		require.NotContains(t, again, "Some of this cannot be read now", page)
		require.NotContains(t, again, `away"`, page)
	}
}

// A first look that finds nothing does not say that there is nothing.
func TestTemporalWasNeverThere(t *testing.T) {
	t.Parallel()
	h := open(t, plan{})
	h.shelf.down = true
	for _, page := range []string{"/console/", "/console/types", "/console/forecast", "/console/emergency"} {
		away := h.get(page).body
		require.Contains(t, away, "Temporal does not answer.")
		require.NotContains(t, away, "has a policy", page)
		require.NotContains(t, away, "Nothing is paused.", page)
	}
}

// While visibility is away lists stay as they were known last, with their age. A timer is found by its
// type and id, or by its id.
func TestVisibilityIsAway(t *testing.T) {
	t.Parallel()
	h := changing(t)
	h.get(list + "?q=ended:1h")
	h.get("/console/")
	h.shelf.listless = true
	for _, page := range []string{list + "?q=ended:1h", "/console/"} {
		away := h.get(page)
		require.Equal(t, http.StatusOK, away.StatusCode)
		require.Regexp(t, `As of <time [^>]*>\d\d:`, mainOf(away.body), page)
		require.Contains(t, mainOf(away.body), "order-close")
		require.Contains(t, mainOf(away.body), `method="post"`, "Temporal itself is there")
	}
	require.Equal(t, http.StatusServiceUnavailable, h.get(list+"?q=ended:2h").StatusCode, "the control: nothing is known of this one")
	for _, word := range []string{"order-close/1", "1"} {
		require.Equal(t, timerPath, h.get(list+"?"+url.Values{"q": {word}}.Encode()).Header.Get("Location"), word)
	}
}
