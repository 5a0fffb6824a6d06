package console

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/url"
	"strings"

	"github.com/wakecall/wakecall/console/links"
	"github.com/wakecall/wakecall/console/sessions"
	"github.com/wakecall/wakecall/console/site"
)

// signInPages are the pages for a visitor who is not signed in.
type signInPages struct{ *site.Site }

// routes returns the routes of the pages.
func (c *signInPages) routes() []site.Route {
	return []site.Route{
		site.Public(http.MethodGet, "login", c.showLogin),
		site.Public(http.MethodPost, "login", c.login),
		site.Public(http.MethodGet, "login/provider", c.redirectToProvider),
		site.Public(http.MethodGet, "login/callback", c.finishSignIn),
		site.Public(http.MethodPost, "logout", c.logout),
		site.Show("again", c.showAgain),
	}
}

// loginPage asks who is there: by an API key, by the identity provider, or by either.
type loginPage struct {
	site.Frame
	// Next is where to go then, and Refused why the last sign-in was refused.
	Next    string
	Refused string
	// Keys and Provider are the ways that there are.
	Keys, Provider bool
	// FormKept reports whether a form waits to be sent again.
	FormKept bool
	// FormLost is a key of the catalogues: why a form cannot be sent again; "" for none.
	FormLost string
}

// ProviderLink leads to the identity provider.
func (p *loginPage) ProviderLink() string {
	return links.Root + "login/provider?" + url.Values{"next": {p.Next}}.Encode()
}

// againPath is the page that shows a form that was not sent.
const againPath = links.Root + "again"

func (c *signInPages) loginPage(v *site.Visit, next string) *loginPage {
	return &loginPage{
		Frame: c.Frame(v, "login.title"), Next: next, FormKept: next == againPath,
		Keys: len(c.Sessions.Auth.Keys()) > 0, Provider: c.Sessions.SignIn != nil,
	}
}

func (c *signInPages) showLogin(v *site.Visit) {
	next := links.Within(v.R.FormValue("next"))
	if v.Who != nil {
		v.Redirect(next)
		return
	}
	page := c.loginPage(v, next)
	switch v.R.FormValue("form") {
	case formTooLong:
		page.FormLost = "login.formlost"
	case formOfUnknown:
		page.FormLost = "login.formunknown"
	}
	c.Render(v, http.StatusOK, "login", page)
}

// showRefusedLogin asks again, and says why.
func (c *signInPages) showRefusedLogin(v *site.Visit, next string, status int, why string) {
	page := c.loginPage(v, next)
	page.Refused = why
	c.Render(v, status, "login", page)
}

// askToSignIn shows who is not signed in where to do so. A form that was sent is not done: the
// browser keeps it, to be sent again by who had typed it. A part of an open page is refused: the page of the sign-in
// would take its place.
func (c *signInPages) askToSignIn(v *site.Visit) {
	if v.ByScript() {
		http.Error(v.W, v.Lang.Say("session.over"), http.StatusForbidden)
		return
	}
	query := url.Values{"next": {v.R.URL.RequestURI()}}
	if v.R.Method == http.MethodPost {
		query.Set("next", againPath)
		if lost := c.keepForm(v); lost != "" {
			query = url.Values{"next": {links.Parent(v.R.URL.EscapedPath())}, "form": {lost}}
		}
	}
	v.Redirect(links.Root + "login?" + query.Encode())
}

func (c *signInPages) login(v *site.Visit) {
	next := links.Within(v.R.PostFormValue("next"))
	if v.Who != nil {
		v.Redirect(next)
		return
	}
	digest := sha256.Sum256([]byte(strings.TrimSpace(v.R.PostFormValue("key"))))
	who := c.Sessions.Auth.ByDigest(digest)
	if who == nil {
		c.Logger.Info("an unknown API key was refused at the console", "from", c.Sessions.Client(v.R))
		c.showRefusedLogin(v, next, http.StatusForbidden, v.Lang.Say("login.refused"))
		return
	}
	if err := c.Sessions.Begin(v.Exchange, sessions.Session{Key: hex.EncodeToString(digest[:])}, who); err != nil {
		c.refuseBroken(v, err)
		return
	}
	v.Redirect(next)
}

func (c *signInPages) logout(v *site.Visit) {
	c.Sessions.End(v.Exchange)
	v.Redirect(links.Root + "login")
}

// refuseBroken says that something went wrong here. What it was is for the log.
func (c *signInPages) refuseBroken(v *site.Visit, err error) {
	c.Logger.Error("a sign-in at the console failed", "from", c.Sessions.Client(v.R), "error", err)
	c.Refuse(v, http.StatusInternalServerError, "refused.broken")
}
