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

// The cookies that keep what was chosen.
const (
	cookieTheme = "wakecall-theme"
	cookieKeys  = "wakecall-keys"
)

// keysOff reports whether single keys shall do nothing.
func keysOff(r *http.Request) bool {
	cookie, err := r.Cookie(cookieKeys)
	return err == nil && cookie.Value == "off"
}

func themeOf(r *http.Request) string {
	if cookie, err := r.Cookie(cookieTheme); err == nil && slices.Contains(themes, cookie.Value) {
		return cookie.Value
	}
	return themes[0]
}

// Prefer keeps a language, a theme, or whether keys do something. They are no secret. An address with a language of its
// own loses it: it would go before the one that was chosen.
func (c *Site) Prefer(v *Visit) {
	year := c.Now().AddDate(1, 0, 0)
	if lang, ok := words.Named(v.R.PostFormValue("lang")); ok {
		http.SetCookie(v.W, preference(words.CookieLanguage, string(lang), year))
	}
	if theme := v.R.PostFormValue("theme"); slices.Contains(themes, theme) {
		http.SetCookie(v.W, preference(cookieTheme, theme, year))
	}
	if keys := v.R.PostFormValue("keys"); keys == "on" || keys == "off" {
		http.SetCookie(v.W, preference(cookieKeys, keys, year))
	}
	next := links.Within(v.R.PostFormValue("next"))
	if v.R.PostForm.Has("lang") {
		next = links.Without(next, "lang")
	}
	v.Redirect(next)
}

func preference(name, value string, until time.Time) *http.Cookie {
	return &http.Cookie{Name: name, Value: value, Path: links.Root, Expires: until, HttpOnly: true, SameSite: http.SameSiteLaxMode}
}
