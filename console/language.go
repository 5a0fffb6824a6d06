package console

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// language is one that the pages speak, as HTML names it.
type language string

const (
	english language = "en"
	chinese language = "zh-CN"
)

var languages = []language{english, chinese}

// catalogues have every word of the pages, by key.
var catalogues = map[language]map[string]string{english: englishWords, chinese: chineseWords}

// cookieLanguage is the cookie that keeps which one was chosen.
const cookieLanguage = "wakecall-lang"

// known reports whether the pages speak it.
func (l language) known() bool { return catalogues[l] != nil }

// Name is what the language calls itself.
func (l language) Name() string { return catalogues[l]["language.name"] }

// say is a text of the catalogue with values in it.
func (l language) say(key string, with ...any) string {
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
func (l language) count(key string, n int) string {
	if _, has := catalogues[l][key+".one"]; has && n == 1 {
		key += ".one"
	}
	return l.say(key, n)
}

// languageOf is the language of an answer: that of ?lang=, of who has chosen one, or the
// first that the browser names and we know.
func languageOf(r *http.Request) language {
	if lang := language(r.URL.Query().Get("lang")); lang.known() {
		return lang
	}
	if cookie, err := r.Cookie(cookieLanguage); err == nil && language(cookie.Value).known() {
		return language(cookie.Value)
	}
	return accepted(r.Header.Get("Accept-Language"))
}

// accepted is the language that Accept-Language weighs most (RFC 9110, section 12.5.4).
func accepted(header string) language {
	best, most := english, 0.0
	for part := range strings.SplitSeq(header, ",") {
		tag, parameters, _ := strings.Cut(strings.TrimSpace(part), ";")
		weight := weightOf(parameters)
		base, _, _ := strings.Cut(strings.ToLower(tag), "-")
		at := slices.IndexFunc(languages, func(l language) bool { return strings.HasPrefix(strings.ToLower(string(l)), base) })
		if base != "" && at >= 0 && weight > most {
			best, most = languages[at], weight
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
