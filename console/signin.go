package console

import (
	"crypto/sha256"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// loginPage asks for an API key.
type loginPage struct {
	frame
	// Next is where to go then, and Refused whether the key that was sent is not known.
	Next    string
	Refused bool
}

func (c *Console) showLogin(v *visit) {
	next := within(v.r.FormValue("next"))
	if v.who != nil {
		v.redirect(next)
		return
	}
	c.render(v, http.StatusOK, "login", loginPage{frame: c.frame(v, "login.title"), Next: next})
}

// askToSignIn shows who is not signed in where to do so. A form that was sent is not done: it
// is to be sent again.
func (c *Console) askToSignIn(v *visit) {
	next := v.r.URL.RequestURI()
	if v.r.Method != http.MethodGet {
		next = parent(v.r.URL.EscapedPath())
	}
	v.redirect(Root + "login?" + url.Values{"next": {next}}.Encode())
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
		c.render(v, http.StatusForbidden, "login", loginPage{frame: c.frame(v, "login.title"), Next: next, Refused: true})
		return
	}
	if err := c.begin(v, who, digest); err != nil {
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
