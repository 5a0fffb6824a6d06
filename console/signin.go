package console

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/url"
	"strings"
)

// signInPages are those before somebody is known.
type signInPages struct{ *Site }

// routes are those of the pages.
func (c *signInPages) routes() []route {
	return []route{
		{http.MethodGet, "login", open, c.showLogin},
		{http.MethodPost, "login", open, c.login},
		{http.MethodGet, "login/provider", open, c.goToProvider},
		{http.MethodGet, "login/callback", open, c.comeBack},
		{http.MethodPost, "logout", open, c.logout},
		{http.MethodGet, "again", signedIn, c.showAgain},
	}
}

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

func (c *signInPages) loginPage(v *visit, next string) loginPage {
	return loginPage{
		frame: c.frame(v, "login.title"), Next: next, FormKept: next == againPath,
		Keys: len(c.Sessions.Auth.Keys()) > 0 || c.Sessions.SignIn == nil, Provider: c.Sessions.SignIn != nil,
	}
}

func (c *signInPages) showLogin(v *visit) {
	next := within(v.R.FormValue("next"))
	if v.who != nil {
		v.redirect(next)
		return
	}
	page := c.loginPage(v, next)
	page.FormLost = v.R.FormValue("form") == "lost"
	c.render(v, http.StatusOK, "login", page)
}

// showRefusedLogin asks again, and says why.
func (c *signInPages) showRefusedLogin(v *visit, status int, why string) {
	page := c.loginPage(v, within(v.R.FormValue("next")))
	page.Refused = why
	c.render(v, status, "login", page)
}

// askToSignIn shows who is not signed in where to do so. A form that was sent is not done: the
// browser keeps it, to be sent again.
func (c *signInPages) askToSignIn(v *visit) {
	query := url.Values{"next": {v.R.URL.RequestURI()}}
	if v.R.Method == http.MethodPost {
		query.Set("next", againPath)
		if !c.keepForm(v) {
			query = url.Values{"next": {parent(v.R.URL.EscapedPath())}, "form": {"lost"}}
		}
	}
	v.redirect(Root + "login?" + query.Encode())
}

func (c *signInPages) login(v *visit) {
	next := within(v.R.PostFormValue("next"))
	if v.who != nil {
		v.redirect(next)
		return
	}
	digest := sha256.Sum256([]byte(strings.TrimSpace(v.R.PostFormValue("key"))))
	who := c.Sessions.Auth.ByDigest(digest)
	if who == nil {
		c.Logger.Info("an unknown API key was refused at the console", "from", v.R.RemoteAddr)
		c.showRefusedLogin(v, http.StatusForbidden, v.lang.say("login.refused"))
		return
	}
	if err := c.Sessions.begin(v.Exchange, session{Key: hex.EncodeToString(digest[:])}, who); err != nil {
		c.refuse(v, http.StatusInternalServerError, "refused.broken")
		return
	}
	v.redirect(next)
}

func (c *signInPages) logout(v *visit) {
	c.Sessions.end(v.Exchange)
	v.redirect(Root + "login")
}
