package console_test

import (
	"net/http"
	"net/url"
	"path"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/console"
	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/engine/bulk"
	"github.com/wakecall/wakecall/internal/seal"
)

// An answer may stand at the address of its form. GET of that address leads to a page, and changes nothing.
func TestEveryAddressOfAFormLeadsToItsPage(t *testing.T) {
	t.Parallel()
	h := open(t, plan{keys: staff, secret: seal.NewKey()})
	view := dailyOf(viewOf(timer.Scheduled))
	h.shelf.views = []timer.View{view}
	h.shelf.jobs = []bulk.Job{countOf(timer.Filter{BusinessType: "order-close"})}
	h.shelf.sent = []dispatch.View{dispatchOf(dispatch.Running)}
	h.shelf.rules = []policy.Policy{withSecondLink(closing())}
	rules := routeRules(tagOf(view))
	h.signIn("root")
	forms := 0
	for _, route := range console.Routes() {
		name, isForm := strings.CutPrefix(route.Name, "POST ")
		if !isForm {
			continue
		}
		forms++
		at := rules[route.Name].path
		if at == "" { // it asks for no sign-in
			at = "/console/" + name
		}
		shown := h.get(at)
		for hops := 0; shown.StatusCode == http.StatusSeeOther && hops < 2; hops++ {
			to := shown.Header.Get("Location")
			require.True(t, strings.HasPrefix(at, path.Clean(to)), "%s leads to %s", at, to)
			shown = h.get(to)
		}
		require.Equal(t, http.StatusOK, shown.StatusCode, at)
	}
	require.Greater(t, forms, 10, "the table has forms")
	require.Empty(t, h.shelf.changes())
	require.NotContains(t, h.get("/console/").Header.Get("Location"), "login", "GET signs no one out")

	require.Equal(t, typePage, h.get(typePage+"/test").Header.Get("Location"))
	h.post("/console/logout", nil)
	asked := h.get(typePage + "/test").Header.Get("Location")
	require.Equal(t, "/console/login?"+url.Values{"next": {typePage + "/test"}}.Encode(), asked)
}
