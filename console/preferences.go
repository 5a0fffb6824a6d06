package console

import (
	"net/http"
	"slices"
	"time"
)

// The themes, of which the first is what the system says.
var themes = []string{"system", "light", "dark"}

const cookieTheme = "wakecall-theme"

func themeOf(r *http.Request) string {
	if cookie, err := r.Cookie(cookieTheme); err == nil && slices.Contains(themes, cookie.Value) {
		return cookie.Value
	}
	return themes[0]
}

// prefer keeps a language or a theme. They are nobody's secret.
func (c *Site) prefer(v *visit) {
	year := c.Now().AddDate(1, 0, 0)
	if lang := language(v.R.PostFormValue("lang")); lang.known() {
		http.SetCookie(v.W, preference(cookieLanguage, string(lang), year))
	}
	if theme := v.R.PostFormValue("theme"); slices.Contains(themes, theme) {
		http.SetCookie(v.W, preference(cookieTheme, theme, year))
	}
	v.redirect(within(v.R.PostFormValue("next")))
}

func preference(name, value string, until time.Time) *http.Cookie {
	return &http.Cookie{Name: name, Value: value, Path: Root, Expires: until, HttpOnly: true, SameSite: http.SameSiteLaxMode}
}
