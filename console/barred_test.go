package console_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/console/site"
	"github.com/wakecall/wakecall/internal/seal"
)

// Who may change nothing of what a page shows is told once why, and whom to ask: also where nothing may be
// changed by any user, and where a page is not shown at all. Who may change something is not.
func TestWhomToAsk(t *testing.T) {
	t.Parallel()
	const ask = "Ask ops@example.com."
	some := []string{
		"/console/", "/console/types", list + "?q=type:order-close", "/console/jobs", "/console/dispatches?business_type=order-close", "/console/forecast?type=order-close",
		"/console/jobs/count", "/console/dispatches/order-close/d", timerPath, timerPath + "/rule", "/console/timers/order-close/1/payload",
	}
	admins := []string{"/console/emergency", typePage}
	const foreign = "/console/types/invoice"
	told := func(h *harness, path string, want int) {
		t.Helper()
		page := h.get(path)
		require.Equal(t, want, strings.Count(page.body, ask), "%d %s %s", page.StatusCode, path, page.body)
	}
	for _, mode := range []site.Mode{site.On, site.ReadOnly} {
		h := stocked(t, plan{keys: staff, secret: seal.NewKey(), mode: mode, look: site.Look{Contact: "ops@example.com"}})
		for who, c := range map[string]struct{ some, admins, foreign int }{"root": {0, 0, 0}, "anna": {0, 1, 1}, "eve": {1, 1, 0}} {
			h.signIn(who)
			if mode == site.ReadOnly {
				c.some, c.admins = 1, 1
			}
			for _, path := range some {
				told(h, path, c.some)
			}
			for _, path := range admins {
				told(h, path, c.admins)
			}
			if c.foreign > 0 {
				require.Equal(t, http.StatusForbidden, h.get(foreign).StatusCode)
				told(h, foreign, c.foreign)
			}
		}
		h.signIn("eve")
		refused := h.post("/console/timers/order-close/1/fire", tagOf(h.shelf.views[0]))
		require.Equal(t, http.StatusForbidden, refused.StatusCode)
		require.Equal(t, 1, strings.Count(refused.body, ask), refused.body)
		require.NotContains(t, h.get("/console/nowhere").body, "<p>"+ask+"</p>", "there is none for any user")
	}

	away := stocked(t, plan{look: site.Look{Contact: "ops@example.com"}})
	for _, down := range []bool{false, true} {
		away.shelf.down, away.shelf.listless = down, down
		for _, path := range []string{timerPath, typePage} {
			require.Equal(t, down, strings.Contains(mainOf(away.get(path).body), "Temporal does not answer."), path)
			told(away, path, 0) // no right would help
		}
	}

	silent := open(t, plan{keys: staff, secret: seal.NewKey()})
	silent.signIn("eve")
	require.Contains(t, silent.get("/console/emergency").body, "<p>You may look here, and change nothing.</p>")
	silent.signIn("anna")
	require.Contains(t, silent.get("/console/emergency").body, "<p>Only an admin of all business types may pause everything.</p>")
	require.NotContains(t, silent.get("/console/types").body, "change nothing")
}
