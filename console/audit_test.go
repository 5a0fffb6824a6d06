package console_test

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/internal/seal"
)

// An admin sees who did what, and what was refused; nobody else sees the page.
func TestTheAuditPage(t *testing.T) {
	t.Parallel()
	h := open(t, plan{keys: append(staff, entryOf("ada", "ada", ":admin:order-*")), secret: seal.NewKey()})
	h.shelf.rules = []policy.Policy{closing()}
	h.signIn("eve")
	require.Equal(t, http.StatusForbidden, h.post(typePage+"/pause", nil).StatusCode)
	require.Equal(t, http.StatusForbidden, h.get("/console/audit").StatusCode)
	require.NotContains(t, h.get("/console/").body, `href="/console/audit"`)
	h.signIn("anna")
	require.Equal(t, http.StatusSeeOther, h.post(typePage+"/pause", url.Values{"note": {"<fire>"}}).StatusCode)
	h.signIn("root")
	require.Equal(t, http.StatusSeeOther, h.post("/console/emergency/pause", url.Values{"note": {"all"}}).StatusCode)

	require.Contains(t, h.get("/console/").body, `href="/console/audit"`)
	page := h.get("/console/audit").body
	for _, shown := range []string{"<code>POST /v1/emergency/pause</code>", ">refused</span>", "eve</span> (viewer) in the console", "gateway-1", "Everything"} {
		require.Contains(t, page, shown)
	}
	refused := h.get("/console/audit?outcome=refused&who=eve&from=2020-01-01T10:00&to=").body
	require.Contains(t, refused, `<option value="refused" selected>`)
	require.Contains(t, refused, "eve</span>")
	require.NotContains(t, refused, "anna</span>")
	require.Contains(t, h.get("/console/audit?who=stranger").body, "No such call is known here.")
	require.Equal(t, http.StatusUnprocessableEntity, h.get("/console/audit?from=soon").StatusCode)

	h.signIn("ada")
	own := h.get("/console/audit").body
	require.Contains(t, own, "order-close")
	require.NotContains(t, own, "root</span>", "what is about all types is for who administers all")
}
