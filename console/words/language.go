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

// Named returns the language of the pages that a tag means: zh, zh-cn and zh-Hans are zh-CN. ok is
// false for a tag of another language (RFC 4647, section 3.4).
func Named(tag string) (named Language, ok bool) {
	base, _, _ := strings.Cut(strings.ToLower(tag), "-")
	at := slices.IndexFunc(Languages, func(l Language) bool {
		known, _, _ := strings.Cut(string(l), "-")
		return known == base
	})
	if at < 0 {
		return "", false
	}
	return Languages[at], true
}

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

// keyOf is the key of a text about a number: English has another text for 1.
func (l Language) keyOf(key string, n int) string {
	if _, has := catalogues[l][key+".one"]; has && n == 1 {
		return key + ".one"
	}
	return key
}

// count is a text that names a number. English has another one for 1; Chinese has not.
func (l Language) count(key string, n int) string {
	if key = l.keyOf(key, n); !strings.Contains(catalogues[l][key], "%d") { // "one attempt"
		return l.Say(key)
	}
	return l.Say(key, n)
}

// LanguageOf is the language of an answer: of ?lang=, of the cookie, or of the browser, in this order.
func LanguageOf(r *http.Request) Language {
	if lang, ok := Named(r.URL.Query().Get("lang")); ok {
		return lang
	}
	if cookie, err := r.Cookie(CookieLanguage); err == nil {
		if lang, ok := Named(cookie.Value); ok {
			return lang
		}
	}
	return accepted(r.Header.Get("Accept-Language"))
}

// accepted is the language that Accept-Language weighs most (RFC 9110, section 12.5.4).
func accepted(header string) Language {
	best, most := English, 0.0
	for part := range strings.SplitSeq(header, ",") {
		tag, parameters, _ := strings.Cut(strings.TrimSpace(part), ";")
		weight := weightOf(parameters)
		if named, ok := Named(tag); ok && weight > most {
			best, most = named, weight
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
