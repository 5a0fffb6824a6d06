package console_test

import (
	"bytes"
	"compress/flate"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/console/site"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/internal/seal"
	"github.com/wakecall/wakecall/internal/tuning"
)

const list = "/console/timers"

func TestSignIn(t *testing.T) {
	t.Parallel()
	h := open(t, plan{keys: staff, secret: seal.NewKey()})
	answer := h.get(list + "?q=type:order-close")
	require.Equal(t, http.StatusSeeOther, answer.StatusCode)
	require.Equal(t, "/console/login?next="+url.QueryEscape(list+"?q=type:order-close"), answer.Header.Get("Location"))
	require.Contains(t, h.get(answer.Header.Get("Location")).body, `value="/console/timers?q=type:order-close"`)

	for _, wrong := range []string{"", "nobody", strings.TrimPrefix(staff[0], "root:")} {
		refused := h.post("/console/login", url.Values{"key": {wrong}})
		require.Equal(t, http.StatusForbidden, refused.StatusCode)
		require.Empty(t, refused.Cookies())
		require.Contains(t, refused.body, "not known")
	}
	in := h.post("/console/login", url.Values{"key": {" anna\n"}, "next": {list + "?q=type:order-close"}})
	require.Equal(t, list+"?q=type:order-close", in.Header.Get("Location"))
	require.Len(t, in.Cookies(), 1)
	cookie := in.Cookies()[0]
	require.Equal(t, "wakecall", cookie.Name)
	require.True(t, cookie.HttpOnly)
	require.False(t, cookie.Secure, "plain HTTP to this machine")
	require.Equal(t, http.SameSiteLaxMode, cookie.SameSite)
	require.Equal(t, "/", cookie.Path)
	require.NotContains(t, cookie.Value, "anna")
	require.Equal(t, http.StatusOK, h.get(list+"?q=type:order-close").StatusCode)
	require.Equal(t, http.StatusUnauthorized, h.get("/v1/whoami").StatusCode, "the cookie is good for the console only")

	out := h.post("/console/logout", nil)
	require.Equal(t, "/console/login", out.Header.Get("Location"))
	require.Equal(t, http.StatusSeeOther, h.get(list).StatusCode)
	for _, secret := range []string{"nobody", cookie.Value, " anna\\n"} {
		require.NotContains(t, h.logged.String(), `"`+secret+`"`)
	}
}

// Behind a proxy, the log has the address of the user and not that of the proxy.
func TestTheLogOfSignIns(t *testing.T) {
	t.Parallel()
	h := open(t, plan{keys: staff, proxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	for _, key := range []string{"nobody", "anna"} {
		h.post("/console/login", url.Values{"key": {key}}, "X-Forwarded-Proto", "https", "X-Forwarded-For", "203.0.113.7")
	}
	for _, line := range []string{"an unknown API key was refused at the console", "signed in to the console"} {
		require.Regexp(t, `"`+line+`".*"from":"203\.0\.113\.7"`, h.logged.String())
	}
}

func TestTheCookieOverTLS(t *testing.T) {
	t.Parallel()
	h := open(t, plan{keys: staff, tls: true})
	h.signIn("anna")
	in := h.post("/console/login", nil)
	require.Equal(t, http.StatusSeeOther, in.StatusCode, "who is in is in")
	require.Equal(t, "__Host-wakecall", h.session().Name)
	require.Contains(t, h.logged.String(), "WAKECALL_SECRET_KEY", "who signs in is told how long that lasts")
}

// A session is over when its time is, when nobody uses it, and when it was made by nobody.
func TestSessionsEnd(t *testing.T) {
	t.Parallel()
	in := func(h *harness) bool { return h.get(list+"?q=type:order-close").StatusCode == http.StatusOK }
	h := open(t, plan{keys: staff, secret: seal.NewKey()})
	h.signIn("anna")
	began := *h.now

	*h.now = began.Add(tuning.SessionIdle - time.Second)
	require.True(t, in(h))
	*h.now = began.Add(2*tuning.SessionIdle - 2*time.Second)
	require.True(t, in(h), "whoever goes on stays in")
	*h.now = h.now.Add(tuning.SessionIdle)
	require.False(t, in(h), "nobody was there")

	*h.now = began
	h.signIn("anna")
	for h.now.Before(began.Add(tuning.SessionLife - tuning.SessionIdle/2)) {
		*h.now = h.now.Add(tuning.SessionIdle / 2)
		require.True(t, in(h))
	}
	*h.now = began.Add(tuning.SessionLife)
	require.False(t, in(h), "a day's work is over")
}

// A part of an open page is refused once the session is over, so that the page keeps what it shows. A page is not. To
// ask for a part is no use of the session: the page asks by itself.
func TestAPartAfterTheSession(t *testing.T) {
	t.Parallel()
	h := open(t, plan{keys: staff, secret: seal.NewKey()})
	h.signIn("anna")
	h.shelf.views = append(h.shelf.views, viewOf(timer.Scheduled))
	byScript := []string{"HX-Request", "true"}
	*h.now = h.now.Add(tuning.SessionIdle - time.Second)
	require.Equal(t, http.StatusOK, h.get(timerPath, byScript...).StatusCode, "the control")
	*h.now = h.now.Add(time.Second)
	part := h.get(timerPath, byScript...)
	require.Equal(t, http.StatusForbidden, part.StatusCode)
	require.Empty(t, part.Header.Get("Location"))
	require.NotContains(t, part.body, "<", "nothing that could take the place of the part")
	require.Contains(t, h.get("/console/live", byScript...).body, "event: over", "the stream tells that the session is over")
	require.Equal(t, http.StatusSeeOther, h.get(timerPath).StatusCode)
}

func TestSessionsThatAreNotOurs(t *testing.T) {
	t.Parallel()
	secret := seal.NewKey()
	h := open(t, plan{keys: staff, secret: secret})
	h.signIn("anna")
	cookie := h.session().Value
	box, err := seal.New(secret)
	require.NoError(t, err)
	text, err := box.OpenAs("console session", cookie)
	require.NoError(t, err)
	asHeader, err := box.Seal(text)
	require.NoError(t, err)
	asSession, err := box.SealAs("console session", text)
	require.NoError(t, err)
	nobodys, err := box.SealAs("console session", packed(t, `{"key":"00","ends":"2999-01-01T00:00:00Z","seen":"2999-01-01T00:00:00Z"}`))
	require.NoError(t, err)
	strangers, err := box.SealAs("console session", packed(t, `{"person":{"name":"ada","groups":["ops"]},"ends":"2999-01-01T00:00:00Z","seen":"2999-01-01T00:00:00Z"}`))
	require.NoError(t, err)
	endless, err := box.SealAs("console session", strings.Repeat("x", 100))
	require.NoError(t, err)

	same := open(t, plan{keys: staff, secret: secret})
	revoked := open(t, plan{keys: staff[2:], secret: secret})
	other := open(t, plan{keys: staff, secret: seal.NewKey()})
	rotated := open(t, plan{keys: staff, secret: seal.NewKey() + "," + secret})
	for name, c := range map[string]struct {
		at    *harness
		value string
		want  int
	}{
		"as it is":                        {h, cookie, http.StatusOK},
		"sealed by its key":               {h, asSession, http.StatusOK},
		"another gateway":                 {same, cookie, http.StatusOK},
		"another gateway, the key is old": {rotated, cookie, http.StatusOK},
		"the API key is revoked":          {revoked, cookie, http.StatusSeeOther},
		"another secret key":              {other, cookie, http.StatusSeeOther},
		"tampered":                        {h, cookie[:len(cookie)-6] + "AAAAA=", http.StatusSeeOther},
		"cut":                             {h, cookie[:len(cookie)/2], http.StatusSeeOther},
		"of a provider that is not there": {h, strangers, http.StatusSeeOther},
		"no session at all":               {h, endless, http.StatusSeeOther},
		"in clear":                        {h, `{"key":"00"}`, http.StatusSeeOther},
		"sealed as a header is":           {h, asHeader, http.StatusSeeOther},
		"with no key of an API key":       {h, nobodys, http.StatusSeeOther},
		"twice":                           {h, cookie + "; wakecall=" + cookie, http.StatusSeeOther},
	} {
		c.at.client.Jar = nil
		answer := c.at.get(list+"?q=type:order-close", "Cookie", "wakecall="+c.value)
		require.Equal(t, c.want, answer.StatusCode, name)
	}
	require.Equal(t, http.StatusSeeOther, h.get(list, "Cookie", "__Host-wakecall="+cookie).StatusCode, "the name tells by what it came")
}

// packed is a text as the cookies have it.
func packed(t *testing.T, text string) string {
	t.Helper()
	var buffer bytes.Buffer
	w, err := flate.NewWriter(&buffer, flate.BestCompression)
	require.NoError(t, err)
	_, err = w.Write([]byte(text))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return buffer.String()
}

// Plain HTTP is for the machine itself: a cookie on the way can be read.
func TestPlainHTTP(t *testing.T) {
	t.Parallel()
	proxied := plan{keys: staff, proxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}
	for name, c := range map[string]struct {
		plan    plan
		headers []string
		want    int
	}{
		"localhost":                      {plan{keys: staff}, []string{"Host", "localhost:8080"}, http.StatusOK},
		"a name":                         {plan{keys: staff}, []string{"Host", "wakecall.example"}, http.StatusForbidden},
		"a name, and who says it is TLS": {plan{keys: staff}, []string{"Host", "wakecall.example", "X-Forwarded-Proto", "https"}, http.StatusForbidden},
		"a proxy that says it is TLS":    {proxied, []string{"Host", "wakecall.example", "X-Forwarded-Proto", "https"}, http.StatusOK},
		"a proxy that says it is not":    {proxied, []string{"Host", "wakecall.example", "X-Forwarded-Proto", "http"}, http.StatusForbidden},
		"a proxy that says nothing":      {proxied, []string{"Host", "wakecall.example"}, http.StatusForbidden},
		"TLS":                            {plan{keys: staff, tls: true}, []string{"Host", "wakecall.example"}, http.StatusOK},
	} {
		answer := open(t, c.plan).get("/console/login", c.headers...)
		require.Equal(t, c.want, answer.StatusCode, name)
		require.Equal(t, c.want == http.StatusForbidden, strings.Contains(answer.body, "HTTPS only"), name)
	}
}

// The page that refuses plain HTTP has its style, which tells nothing, and no form that would be refused too.
func TestThePageThatRefusesPlainHTTP(t *testing.T) {
	t.Parallel()
	h := open(t, plan{keys: staff})
	plain := []string{"Host", "wakecall.example"}
	refused := h.get("/console/", plain...)
	require.Equal(t, http.StatusForbidden, refused.StatusCode)
	require.NotContains(t, refused.body, "<form")
	sheet := stylesheet.FindStringSubmatch(refused.body)
	require.NotNil(t, sheet)
	answer := h.get(sheet[1], plain...)
	require.Equal(t, http.StatusOK, answer.StatusCode)
	require.Contains(t, answer.Header.Get("Content-Type"), "text/css")
	require.Contains(t, h.get("/console/login").body, `action="/console/preferences"`, "the control")
	for _, path := range []string{"/console/login", "/console/live", "/console/nowhere", "/console/assets"} {
		require.Equal(t, http.StatusForbidden, h.get(path, plain...).StatusCode, path)
	}
	for _, path := range []string{"login", "logout", "preferences"} {
		require.Equal(t, http.StatusForbidden, h.post("/console/"+path, nil, plain...).StatusCode, path)
	}
}

// Without keys there is nobody to sign in, and the rules of loopback hold.
func TestNobodyIsAsked(t *testing.T) {
	t.Parallel()
	h := open(t, plan{})
	answer := h.get(list)
	require.Equal(t, http.StatusOK, answer.StatusCode)
	require.NotContains(t, answer.body, "logout")
	require.Contains(t, answer.body, "anonymous")
	require.Equal(t, list, h.get("/console/login?next="+list).Header.Get("Location"))
	require.Equal(t, http.StatusForbidden, h.get(list, "Host", "evil.example").StatusCode)
	require.Equal(t, http.StatusForbidden, h.get(list, "Origin", "https://evil.example").StatusCode)
}

// A way back leads into the console and nowhere else.
func TestWaysBack(t *testing.T) {
	t.Parallel()
	h := open(t, plan{keys: staff})
	for next, want := range map[string]string{
		"/console/timers?q=a%2Fb": "/console/timers?q=a%2Fb", "": "/console/", "/": "/console/", "//evil.example/console/": "/console/",
		"https://evil.example/console/": "/console/", "/console/../v1/timers": "/console/", `/console/\evil.example`: "/console/", "javascript:alert(1)": "/console/",
		"/v1/timers": "/console/", "/console/%2e%2e/x": "/console/", "/console/\r\nX: y": "/console/", "/consolex": "/console/",
	} {
		answer := h.post("/console/login", url.Values{"key": {"anna"}, "next": {next}})
		require.Equal(t, want, answer.Header.Get("Location"), next)
		h.post("/console/logout", nil)
	}
}

func TestModes(t *testing.T) {
	t.Parallel()
	view := viewOf("scheduled")
	for mode, want := range map[site.Mode]int{site.On: http.StatusSeeOther, site.ReadOnly: http.StatusForbidden, "": http.StatusSeeOther} {
		h := open(t, plan{mode: mode, look: site.Look{Contact: "ops@example.com"}})
		h.shelf.views = append(h.shelf.views, view)
		answer := h.post("/console/timers/order-close/1/fire", tagOf(view))
		require.Equal(t, want, answer.StatusCode, mode)
		require.Equal(t, want == http.StatusSeeOther, len(h.shelf.changes()) == 1)
		page := h.get("/console/timers/order-close/1").body
		require.Equal(t, want == http.StatusSeeOther, strings.Contains(page, "Ring now"))
		require.Equal(t, want != http.StatusSeeOther, strings.Contains(page, "Ask ops@example.com."))
	}
}
