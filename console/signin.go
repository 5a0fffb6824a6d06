package console

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// loginPage asks who is there: by an API key, by the identity provider, or by either.
type loginPage struct {
	frame
	// Next is where to go then, and Refused why the last sign-in was refused.
	Next    string
	Refused string
	// Keys and Provider are the ways that there are.
	Keys, Provider bool
	// FormKept reports whether a form waits to be sent again, and FormLost whether one cannot.
	FormKept, FormLost bool
}

// ProviderLink leads to the identity provider.
func (p loginPage) ProviderLink() string {
	return Root + "login/provider?" + url.Values{"next": {p.Next}}.Encode()
}

// againPath is the page that shows a form that was not sent.
const againPath = Root + "again"

func (c *Console) loginPage(v *visit, next string) loginPage {
	return loginPage{
		frame: c.frame(v, "login.title"), Next: next, FormKept: next == againPath,
		Keys: len(c.Auth.Keys()) > 0 || c.SignIn == nil, Provider: c.SignIn != nil,
	}
}

func (c *Console) showLogin(v *visit) {
	next := within(v.r.FormValue("next"))
	if v.who != nil {
		v.redirect(next)
		return
	}
	page := c.loginPage(v, next)
	page.FormLost = v.r.FormValue("form") == "lost"
	c.render(v, http.StatusOK, "login", page)
}

// showRefusedLogin asks again, and says why.
func (c *Console) showRefusedLogin(v *visit, status int, why string) {
	page := c.loginPage(v, within(v.r.FormValue("next")))
	page.Refused = why
	c.render(v, status, "login", page)
}

// askToSignIn shows who is not signed in where to do so. A form that was sent is not done: the
// browser keeps it, to be sent again.
func (c *Console) askToSignIn(v *visit) {
	query := url.Values{"next": {v.r.URL.RequestURI()}}
	if v.r.Method == http.MethodPost {
		query.Set("next", againPath)
		if !c.keepForm(v) {
			query = url.Values{"next": {parent(v.r.URL.EscapedPath())}, "form": {"lost"}}
		}
	}
	v.redirect(Root + "login?" + query.Encode())
}

// parent is the page that a form of a change stands on.
func parent(path string) string { return path[:strings.LastIndexByte(path, '/')] }

func (c *Console) login(v *visit) {
	next := within(v.r.PostFormValue("next"))
	if v.who != nil {
		v.redirect(next)
		return
	}
	digest := sha256.Sum256([]byte(strings.TrimSpace(v.r.PostFormValue("key"))))
	who := c.Auth.ByDigest(digest)
	if who == nil {
		c.Logger.Info("an unknown API key was refused at the console", "from", v.r.RemoteAddr)
		c.showRefusedLogin(v, http.StatusForbidden, v.lang.say("login.refused"))
		return
	}
	if err := c.begin(v, session{Key: hex.EncodeToString(digest[:])}, who); err != nil {
		c.refuse(v, http.StatusInternalServerError, "refused.broken")
		return
	}
	v.redirect(next)
}

func (c *Console) logout(v *visit) {
	c.end(v)
	v.redirect(Root + "login")
}

// prefer keeps a language or a theme. They are nobody's secret.
func (c *Console) prefer(v *visit) {
	year := c.Now().AddDate(1, 0, 0)
	if lang := language(v.r.PostFormValue("lang")); catalogues[lang] != nil {
		http.SetCookie(v.w, preference(cookieLanguage, string(lang), year))
	}
	if theme := v.r.PostFormValue("theme"); isTheme(theme) {
		http.SetCookie(v.w, preference(cookieTheme, theme, year))
	}
	v.redirect(within(v.r.PostFormValue("next")))
}

func preference(name, value string, until time.Time) *http.Cookie {
	return &http.Cookie{Name: name, Value: value, Path: Root, Expires: until, HttpOnly: true, SameSite: http.SameSiteLaxMode}
}

// within is a path of the console, and its start for whatever leads elsewhere.
func within(next string) string {
	u, err := url.Parse(next)
	if err != nil || u.Scheme != "" || u.Host != "" || u.User != nil || !strings.HasPrefix(u.Path, Root) || strings.ContainsAny(next, "\\\r\n\t") {
		return Root
	}
	if strings.Contains(u.Path, "/..") || strings.Contains(u.Path, "/./") {
		return Root
	}
	return next
}
