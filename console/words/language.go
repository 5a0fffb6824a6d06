package words

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// Language is one that the pages speak, as HTML names it.
type Language string

// The languages of the pages.
const (
	English Language = "en"
	chinese Language = "zh-CN"
)

// Languages are all of them.
var Languages = []Language{English, chinese}

// catalogues have every word of the pages, by key.
var catalogues = map[Language]map[string]string{English: englishWords, chinese: chineseWords}

// CookieLanguage is the cookie that keeps which one was chosen.
const CookieLanguage = "wakecall-lang"

// Known reports whether the pages speak it.
func (l Language) Known() bool { return catalogues[l] != nil }

// Name is what the language calls itself.
func (l Language) Name() string { return catalogues[l]["language.name"] }

// Say is a text of the catalogue with values in it.
func (l Language) Say(key string, with ...any) string {
	text, ok := catalogues[l][key]
	if !ok {
		return key
	}
	if len(with) == 0 {
		return text
	}
	return fmt.Sprintf(text, with...)
}

// count is a text that names a number. English has another one for 1; Chinese has not.
func (l Language) count(key string, n int) string {
	if _, has := catalogues[l][key+".one"]; has && n == 1 {
		key += ".one"
	}
	if !strings.Contains(catalogues[l][key], "%d") { // "one attempt"
		return l.Say(key)
	}
	return l.Say(key, n)
}

// LanguageOf is the language of an answer: that of ?lang=, of who has chosen one, or the
// first that the browser names and we know.
func LanguageOf(r *http.Request) Language {
	if lang := Language(r.URL.Query().Get("lang")); lang.Known() {
		return lang
	}
	if cookie, err := r.Cookie(CookieLanguage); err == nil && Language(cookie.Value).Known() {
		return Language(cookie.Value)
	}
	return accepted(r.Header.Get("Accept-Language"))
}

// accepted is the language that Accept-Language weighs most (RFC 9110, section 12.5.4).
func accepted(header string) Language {
	best, most := English, 0.0
	for part := range strings.SplitSeq(header, ",") {
		tag, parameters, _ := strings.Cut(strings.TrimSpace(part), ";")
		weight := weightOf(parameters)
		base, _, _ := strings.Cut(strings.ToLower(tag), "-")
		at := slices.IndexFunc(Languages, func(l Language) bool { return strings.HasPrefix(strings.ToLower(string(l)), base) })
		if base != "" && at >= 0 && weight > most {
			best, most = Languages[at], weight
		}
	}
	return best
}

// weightOf is the q of a language, 1 where there is none.
func weightOf(parameters string) float64 {
	text, ok := strings.CutPrefix(strings.TrimSpace(parameters), "q=")
	if !ok {
		return 1
	}
	weight, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0
	}
	return weight
}
