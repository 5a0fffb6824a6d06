package console_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/internal/oidc/oidctest"
	"github.com/wakecall/wakecall/internal/seal"
	"github.com/wakecall/wakecall/internal/tuning"
)

// A form that is sent when the session is over does nothing, and comes back after the sign-in.
func TestAFormComesBack(t *testing.T) {
	t.Parallel()
	issuer := oidctest.New(t)
	for name, signIn := range map[string]func(h *harness) reply{
		"by key": func(h *harness) reply {
			return h.post("/console/login", url.Values{"key": {"anna"}, "next": {"/console/again"}})
		},
		"by provider": func(h *harness) reply { return h.returned(issuer, "/console/again") },
	} {
		h := open(t, plan{keys: staff, secret: seal.NewKey(), signIn: browserAt(t, issuer.URL, "shop")})
		view := viewOf(timer.Scheduled)
		h.shelf.views = []timer.View{view}
		form := tagOf(view)
		form.Set("delay", `5m<b>"&`)
		signIn(h)
		*h.now = h.now.Add(tuning.SessionIdle)
		sent := h.post("/console/timers/order-close/1/move", form)
		require.Equal(t, "/console/login?next=%2Fconsole%2Fagain", sent.Header.Get("Location"), name)
		require.Contains(t, h.get(sent.Header.Get("Location")).body, "What you have typed is kept")
		require.Empty(t, h.shelf.changes())

		in := signIn(h)
		require.Equal(t, "/console/again", in.Header.Get("Location"), in.body)
		page := h.get("/console/again").body
		require.Contains(t, page, `action="/console/timers/order-close/1/move"`)
		require.Contains(t, page, `name="delay" value="5m&lt;b&gt;&#34;&amp;"`)
		require.Contains(t, page, `name="etag" value="&#34;`+view.Memo.Tag()+`&#34;"`)
		require.Empty(t, h.shelf.changes(), "it is sent by who presses the button")
		form.Set("delay", "5m")
		require.Equal(t, http.StatusSeeOther, h.post("/console/timers/order-close/1/move", form).StatusCode)
		require.Len(t, h.shelf.changes(), 1)
		require.Equal(t, "/console/", h.get("/console/again").Header.Get("Location"), "it was sent")
	}
}

func TestFormsThatDoNotComeBack(t *testing.T) {
	t.Parallel()
	h := open(t, plan{keys: staff, secret: seal.NewKey()})
	long := make([]string, 1000)
	for i := range long {
		long[i] = seal.NewKey() // does not get shorter
	}
	h.signIn("anna")
	*h.now = h.now.Add(tuning.SessionIdle)
	sent := h.post("/console/timers/order-close/1/move", url.Values{"delay": long})
	require.Equal(t, "/console/login?form=lost&next=%2Fconsole%2Ftimers%2Forder-close%2F1", sent.Header.Get("Location"))
	require.Contains(t, h.get(sent.Header.Get("Location")).body, "too long to be kept")
	h.signIn("anna")
	require.Equal(t, "/console/", h.get("/console/again").Header.Get("Location"))

	*h.now = h.now.Add(tuning.SessionIdle)
	kept := h.post("/console/timers/order-close/1/move", url.Values{"delay": {"5m"}}).Cookies()
	require.Len(t, kept, 1)
	h.signIn("anna")
	session := h.session()
	h.client.Jar = nil
	with := func(value string) int {
		t.Helper()
		answer := h.get("/console/again", "Cookie", session.Name+"="+session.Value+"; "+kept[0].Name+"="+value)
		require.NotContains(t, answer.Header.Get("Location"), "login", "who asks is signed in")
		return answer.StatusCode
	}
	require.Equal(t, http.StatusOK, with(kept[0].Value))
	require.Equal(t, http.StatusSeeOther, with(session.Value), "sealed for another purpose")
	require.Equal(t, http.StatusSeeOther, with(strings.Repeat("A", 99)))
	*h.now = h.now.Add(tuning.FormLife - 1)
	require.Equal(t, http.StatusOK, with(kept[0].Value))
	*h.now = h.now.Add(1)
	require.Equal(t, http.StatusSeeOther, with(kept[0].Value))
}

// A form is shown to no other user than who had typed it, and not after a sign-out. One without a session may
// be of any user: it is not kept.
func TestAFormIsOfWhoTypedIt(t *testing.T) {
	t.Parallel()
	const path, secret = "/console/timers/order-close/1/pause", "secret of anna"
	note := url.Values{"etag": {`"x"`}, "note": {secret}}
	in := func(h *harness, key string) reply {
		return h.post("/console/login", url.Values{"key": {key}, "next": {"/console/again"}})
	}
	over := func() *harness {
		h := open(t, plan{keys: staff, secret: seal.NewKey()})
		h.signIn("anna")
		*h.now = h.now.Add(tuning.SessionLife + tuning.FormLife)
		require.Contains(t, h.post(path, note).Header.Get("Location"), "again")
		return h
	}
	h := over()
	require.Equal(t, "/console/again", in(h, "anna").Header.Get("Location"))
	require.Contains(t, h.get("/console/again").body, secret, "the control")
	h.post("/console/logout", nil)
	in(h, "anna")
	require.Equal(t, "/console/", h.get("/console/again").Header.Get("Location"), "signed out is forgotten")

	h = over()
	in(h, "eve")
	again := h.get("/console/again")
	require.Equal(t, "/console/", again.Header.Get("Location"))
	require.NotContains(t, again.body, secret)
	*h.now = h.now.Add(tuning.SessionIdle)
	in(h, "anna")
	require.Equal(t, "/console/", h.get("/console/again").Header.Get("Location"), "another user saw it is there, so it is forgotten")

	h = open(t, plan{keys: staff, secret: seal.NewKey()})
	sent := h.post(path, note)
	require.Equal(t, "/console/login?form=unknown&next=%2Fconsole%2Ftimers%2Forder-close%2F1", sent.Header.Get("Location"))
	require.Empty(t, sent.Cookies())
	require.Contains(t, h.get(sent.Header.Get("Location")).body, "no session tells whose it is")
	h.signIn("eve")
	require.Equal(t, "/console/", h.get("/console/again").Header.Get("Location"))
	require.Empty(t, h.shelf.changes())
}
