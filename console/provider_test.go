package console_test

import (
	"crypto/rand"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/console/site"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/internal/auth"
	"github.com/wakecall/wakecall/internal/oidc"
	"github.com/wakecall/wakecall/internal/oidc/oidctest"
	"github.com/wakecall/wakecall/internal/seal"
	"github.com/wakecall/wakecall/internal/tuning"
)

// browserAt is the sign-in at an issuer, where a group operates order-close.
func browserAt(t *testing.T, issuer, group string) *oidc.Browser {
	t.Helper()
	provider, err := oidc.New(oidc.Options{
		Issuer: issuer, Audience: "api", Groups: "groups", Logger: slog.New(slog.DiscardHandler),
		Roles: auth.Mappings{{Name: group, Grant: auth.Grant{Role: auth.Operator, Types: []string{"order-close"}}}},
	})
	require.NoError(t, err)
	return provider.Browser(oidc.Client{ID: oidctest.ClientID, Secret: oidctest.ClientSecret})
}

// returned follows a sign-in to the provider and back, up to the answer of the console.
func (h *harness) returned(issuer *oidctest.Issuer, next string) reply {
	h.t.Helper()
	sent := h.get("/console/login/provider?" + url.Values{"next": {next}}.Encode())
	require.Equal(h.t, http.StatusSeeOther, sent.StatusCode, sent.body)
	back := issuer.Visit(sent.Header.Get("Location"))
	require.Equal(h.t, h.url+"/console/login/callback", "http://"+back.Host+back.Path)
	return h.get(back.RequestURI())
}

// A person with two roles is told where only the lesser one counts.
func TestSeveralRoles(t *testing.T) {
	t.Parallel()
	issuer := oidctest.New(t)
	provider, err := oidc.New(oidc.Options{
		Issuer: issuer.URL, Audience: "api", Groups: "groups", Logger: slog.New(slog.DiscardHandler),
		Roles: auth.Mappings{
			{Name: "shop", Grant: auth.Grant{Role: auth.Operator, Types: []string{"order-close"}}}, {Name: "support", Grant: auth.Grant{Role: auth.Viewer, Types: []string{auth.AllBusinessTypes}}},
		},
	})
	require.NoError(t, err)
	issuer.Says(map[string]any{"groups": []string{"shop", "support"}})
	h := open(t, plan{signIn: provider.Browser(oidc.Client{ID: oidctest.ClientID, Secret: oidctest.ClientSecret}), secret: seal.NewKey()})
	require.Equal(t, list, h.returned(issuer, list).Header.Get("Location"))
	const barred = "<p>You may look here, and change nothing.</p>"
	for search, want := range map[string]bool{"": false, "type:order-close": false, "type:invoice": true, "type:invoice status:failed": true} {
		page := h.get(list + "?" + url.Values{"q": {search}}.Encode())
		require.Equal(t, http.StatusOK, page.StatusCode, search)
		require.Equal(t, want, strings.Contains(page.body, barred), search)
	}
}

func TestSignInAtTheProvider(t *testing.T) {
	t.Parallel()
	issuer, secret := oidctest.New(t), seal.NewKey()
	h := open(t, plan{signIn: browserAt(t, issuer.URL, "shop"), secret: secret})
	require.Contains(t, h.get("/console/login?next="+list).body, `href="/console/login/provider?next=%2Fconsole%2Ftimers"`)
	require.NotContains(t, h.get("/console/login").body, `name="key"`, "there are no keys")
	in := h.returned(issuer, list+"?q=type:order-close")
	require.Equal(t, list+"?q=type:order-close", in.Header.Get("Location"), in.body)
	cookie := h.session()
	require.NotNil(t, cookie)
	require.Equal(t, http.StatusOK, h.get(list+"?q=type:order-close").StatusCode)

	h.shelf.views = []timer.View{viewOf(timer.Scheduled)}
	require.Equal(t, http.StatusSeeOther, h.post("/console/timers/order-close/1/fire", tagOf(h.shelf.views[0])).StatusCode)
	record := h.records()[0]
	require.Equal(t, "ada", record.Who.Name)
	require.Equal(t, "7", record.Who.ID)
	require.Equal(t, "oidc", record.Who.By)
	require.Equal(t, "console", record.Who.Via)
	require.Equal(t, http.StatusForbidden, h.get(list+"?q=type:invoice").StatusCode, "the role of the group is for one type")

	// What the session is worth, the configuration says at each request.
	for name, c := range map[string]struct {
		plan plan
		want int
	}{
		"another gateway":           {plan{signIn: browserAt(t, issuer.URL, "shop"), secret: secret}, http.StatusOK},
		"the provider is gone":      {plan{keys: staff, secret: secret}, http.StatusSeeOther},
		"another provider":          {plan{signIn: browserAt(t, oidctest.New(t).URL, "shop"), secret: secret}, http.StatusSeeOther},
		"the group has no role now": {plan{signIn: browserAt(t, issuer.URL, "ops"), secret: secret}, http.StatusForbidden},
	} {
		again := open(t, c.plan)
		again.client.Jar = nil
		require.Equal(t, c.want, again.get(list+"?q=type:order-close", "Cookie", cookie.Name+"="+cookie.Value).StatusCode, name)
	}
}

func TestSignInsAtTheProviderThatFail(t *testing.T) {
	t.Parallel()
	issuer := oidctest.New(t)
	h := open(t, plan{signIn: browserAt(t, issuer.URL, "shop"), look: site.Look{Contact: "ops@example.com"}})
	refused := func(answer reply, status int, why string) {
		t.Helper()
		require.Equal(t, status, answer.StatusCode)
		require.Contains(t, answer.body, why)
		require.Nil(t, h.session())
	}
	refused(h.get("/console/login/callback?code=x&state=y"), http.StatusForbidden, "did not succeed")

	sent := h.get("/console/login/provider?next=" + list)
	back := issuer.Visit(sent.Header.Get("Location"))
	denied := h.get("/console/login/callback?error=access_denied&state=" + url.QueryEscape(back.Query().Get("state")))
	refused(denied, http.StatusForbidden, "did not succeed")
	require.Contains(t, denied.body, `href="/console/login/provider?next=%2Fconsole%2Ftimers"`, "another try leads to the same page")
	refused(h.get(back.RequestURI()), http.StatusForbidden, "did not succeed") // that attempt is over

	sent = h.get("/console/login/provider")
	back = issuer.Visit(sent.Header.Get("Location"))
	*h.now = h.now.Add(tuning.SignInLife)
	refused(h.get(back.RequestURI()), http.StatusForbidden, "did not succeed")
	*h.now = time.Now()

	issuer.Says(map[string]any{"groups": []string{"everybody"}})
	refused(h.returned(issuer, list), http.StatusForbidden, "You are known as ada, and have no role here. Ask ops@example.com.")
	issuer.Says(map[string]any{"nonce": "another"})
	refused(h.returned(issuer, list), http.StatusForbidden, "did not succeed")

	for _, why := range []string{
		"no sign-in that was begun here", "the provider refuses the sign-in: access_denied", "begun more than 10m0s ago", "the token is of another sign-in",
	} {
		require.Regexp(t, `"a sign-in at the console was refused".*`+why, h.logged.String())
	}
	for _, wrong := range []string{"API key", oidctest.ClientSecret, back.Query().Get("code")} {
		require.NotContains(t, h.logged.String(), wrong)
	}

	silent := open(t, plan{signIn: browserAt(t, "http://127.0.0.1:1", "shop")})
	away := silent.get("/console/login/provider")
	require.Equal(t, http.StatusServiceUnavailable, away.StatusCode)
	require.Contains(t, away.body, "does not answer")
	keyed := open(t, plan{keys: staff})
	keyed.signIn("root")
	for _, path := range []string{"/console/login/provider", "/console/login/callback?code=x&state=y"} {
		require.Equal(t, http.StatusNotFound, keyed.get(path).StatusCode)
	}
}

// A session that does not fit into a cookie is not begun, and the log says so.
func TestASessionThatIsTooLong(t *testing.T) {
	t.Parallel()
	issuer, group := oidctest.New(t), ""
	for len(group) < 2*tuning.CookieBytes { // which cannot be packed
		group += rand.Text()
	}
	h := open(t, plan{signIn: browserAt(t, issuer.URL, group)})
	issuer.Says(map[string]any{"groups": []string{group}})
	require.Equal(t, http.StatusInternalServerError, h.returned(issuer, list).StatusCode)
	require.Nil(t, h.session())
	require.Regexp(t, `"a sign-in at the console failed".*too long for a cookie`, h.logged.String())
	require.NotContains(t, h.logged.String(), "signed in to the console")
}

// A way back from the provider leads into the console and nowhere else.
func TestTheWayBackFromTheProvider(t *testing.T) {
	t.Parallel()
	issuer := oidctest.New(t)
	h := open(t, plan{signIn: browserAt(t, issuer.URL, "shop")})
	require.Equal(t, "/console/", h.returned(issuer, "https://evil.example/console/").Header.Get("Location"))
}

// Where no user can sign in, as with client certificates only, the page says what to set, and has no field
// that would take nothing.
func TestNoWayToSignIn(t *testing.T) {
	t.Parallel()
	h := open(t, plan{wayless: true, secret: seal.NewKey()})
	page := h.get("/console/login").body
	require.NotContains(t, page, `name="key"`)
	require.NotContains(t, page, "8 hours")
	require.Contains(t, page, "Set WAKECALL_OIDC_CLIENT_ID, or add a key to WAKECALL_API_KEYS.")
	require.Contains(t, h.get("/console/login?lang=zh-CN").body, "此处尚无登录方式")
	require.Equal(t, http.StatusForbidden, h.post("/console/login", url.Values{"key": {"root"}}).StatusCode)
	for _, way := range []plan{{keys: staff}, {signIn: browserAt(t, oidctest.New(t).URL, "shop")}} {
		require.NotContains(t, open(t, way).get("/console/login").body, "WAKECALL_", "the control")
	}
}
