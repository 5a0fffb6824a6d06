package site

import (
	"net/http"
	"slices"
	"time"

	"github.com/wakecall/wakecall/console/links"
	"github.com/wakecall/wakecall/console/words"
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

// Prefer keeps a language or a theme. They are nobody's secret.
func (c *Site) Prefer(v *Visit) {
	year := c.Now().AddDate(1, 0, 0)
	if lang := words.Language(v.R.PostFormValue("lang")); lang.Known() {
		http.SetCookie(v.W, preference(words.CookieLanguage, string(lang), year))
	}
	if theme := v.R.PostFormValue("theme"); slices.Contains(themes, theme) {
		http.SetCookie(v.W, preference(cookieTheme, theme, year))
	}
	v.Redirect(links.Within(v.R.PostFormValue("next")))
}

func preference(name, value string, until time.Time) *http.Cookie {
	return &http.Cookie{Name: name, Value: value, Path: links.Root, Expires: until, HttpOnly: true, SameSite: http.SameSiteLaxMode}
}
