package console_test

import (
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/wakecall/wakecall/console/site"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/health"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/bulk"
	"github.com/wakecall/wakecall/internal/config"
	"github.com/wakecall/wakecall/internal/detector"
	"github.com/wakecall/wakecall/internal/seal"
)

// Every answer has the headers, whoever asks for whatever: each route of the table, and what is not there.
func TestHeadersOfEveryAnswer(t *testing.T) {
	t.Parallel()
	detector.SkipSweep(t)
	h := stocked(t, plan{keys: staff, secret: seal.NewKey(), every: time.Hour})
	paths := []string{"/console", "/console/login", "/console/timers/order-close/none", "/console/jobs/none", "/console/jobs/none/results", "/console/login/provider", "/console/login/callback", "/console/nowhere", "/console/assets/x/console.css", styles(t, h)}
	for _, r := range routeRules(tagOf(h.shelf.views[0])) {
		paths = append(paths, r.path)
	}
	for _, key := range []string{"", "eve"} {
		if key != "" {
			h.signIn(key)
		}
		for _, path := range paths {
			for _, answer := range []reply{h.get(path), h.post(path, nil), h.get(path, "Origin", "https://evil.example"), h.post(path, nil, "Origin", "https://evil.example")} {
				requireHeaders(t, path, answer)
			}
			for _, method := range []string{http.MethodPut, http.MethodDelete, http.MethodPatch, http.MethodOptions, http.MethodHead, "BREW"} {
				requireHeaders(t, path, h.send(method, path, nil))
			}
		}
	}
}

// So does what is refused at the door where no key is asked for.
func TestHeadersAtTheDoor(t *testing.T) {
	t.Parallel()
	h := open(t, plan{})
	requireHeaders(t, list, h.get(list, "Origin", "https://evil.example"))
	requireHeaders(t, list, h.post(list, nil, "Host", "evil.example"))
	require.NotContains(t, h.get("/v1/whoami").Header.Get("Content-Security-Policy"), "default-src", "the control")
}

func requireHeaders(t *testing.T, path string, answer reply) {
	t.Helper()
	require.Equal(t, "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "+
		"connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'", answer.Header.Get("Content-Security-Policy"), path)
	require.Len(t, answer.Header.Values("Content-Security-Policy"), 1)
	require.Equal(t, "nosniff", answer.Header.Get("X-Content-Type-Options"))
	require.Equal(t, "no-referrer", answer.Header.Get("Referrer-Policy"))
	require.Equal(t, "same-origin", answer.Header.Get("Cross-Origin-Opener-Policy"))
	require.Equal(t, strings.HasSuffix(path, ".css") && answer.StatusCode == http.StatusOK, answer.Header.Get("Cache-Control") != "no-store", path)
}

var stylesheet = regexp.MustCompile(`href="(/console/assets/[0-9a-f]+/console.css)"`)

func styles(t *testing.T, h *harness) string {
	t.Helper()
	found := stylesheet.FindStringSubmatch(h.get("/console/login").body)
	require.NotNil(t, found)
	return found[1]
}

func TestStyles(t *testing.T) {
	t.Parallel()
	h := open(t, plan{keys: staff})
	sheet := h.get(styles(t, h))
	require.Equal(t, http.StatusOK, sheet.StatusCode, "who signs in sees it as well")
	require.Contains(t, sheet.Header.Get("Content-Type"), "text/css")
	require.Contains(t, sheet.Header.Get("Cache-Control"), "immutable")
	require.Less(t, len(sheet.body), 12<<10, "the budget of the style sheet")
	for _, colour := range config.ConsoleColours()[1:] {
		require.Contains(t, sheet.body, ".bar-"+colour+"{")
	}
	require.Equal(t, http.StatusNotFound, h.get(strings.Replace(styles(t, h), "/assets/", "/assets/0", 1)).StatusCode)
}

// hostile are texts that somebody may have put anywhere.
var hostile = []string{
	`</script><script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `' onmouseover='alert(1)`, "\u202egpj.exe\u202c", "\u0000\u0007", "{{.Who}}", strings.Repeat("long", 16<<10),
	`javascript:alert(1)`, `</textarea></q></pre>`, "%", "%2F/../?#",
}

// fullOf is a timer whose every text is this one.
func fullOf(text string) timer.View {
	view := viewOf(timer.Delivering)
	late := int64(7)
	view.LatestAt, view.Attempts, view.NextAttemptAt, view.LatenessMS, view.Note, view.WebhookID = wire.At(time.Now()), 2, wire.At(time.Now().Add(time.Hour)), &late, text, text
	view.LastFailure = &delivery.Failure{Status: 503, Class: delivery.FailureClass(text), Message: text, At: wire.At(time.Now())}
	view.Wait = delivery.Wait{WaitsFor: delivery.WaitsForEmergency, WaitsSince: 1, WaitsUntil: 2, WaitsBy: text, WaitsNote: text}
	view.Labels = timer.Labels{text: text}
	view.Callback = &delivery.Callback{Destination: delivery.HTTP(text)}
	view.Links = timer.Links{WebUI: text}
	return view
}

func storyOf(text string) (story []timer.HistoryEntry) {
	late := int64(7)
	for _, event := range timer.HistoryEvents() {
		story = append(story, timer.HistoryEntry{
			At: 1, Event: event, Who: &wire.Actor{Name: text, ID: text, Role: "operator", By: "key", Via: "console", Job: text}, WhoUnknown: true, Identity: text, Reason: text,
			Result: timer.HistoryApplied, Changes: []timer.FieldChange{{Field: text, From: text, To: text}}, DueAt: 1, Occurrence: 2, Number: 3,
			Errors:      wire.FieldErrors{{Pointer: text, Detail: text}},
			Attempt:     &delivery.ShownAttempt{Attempt: delivery.Attempt{Number: 1, Status: 500, Class: delivery.FailureClass(text), Answer: text, Worker: text, Result: delivery.ResultRetry}},
			LastFailure: &delivery.Failure{Message: text}, LatenessMS: &late,
		})
	}
	return story
}

// ourScripts are what a page loads. It has no other scripts.
var ourScripts = regexp.MustCompile(`^/console/assets/[0-9a-f]{16}/[a-z]+\.js$`)

// active returns the tags of a page that could run or load what came from outside.
func active(page string) (found []string) {
	for tokens := html.NewTokenizer(strings.NewReader(page)); ; {
		switch tokens.Next() {
		case html.ErrorToken:
			return found
		case html.StartTagToken, html.SelfClosingTagToken:
			if tag := tokens.Token(); isActive(tag) {
				found = append(found, tag.String())
			}
		default:
		}
	}
}

func isActive(tag html.Token) bool {
	switch tag.DataAtom {
	case atom.Script:
		return len(tag.Attr) != 2 || tag.Attr[0].Key != "src" || !ourScripts.MatchString(tag.Attr[0].Val)
	case atom.Style, atom.Img, atom.Iframe, atom.Object, atom.Embed, atom.Base:
		return true
	default:
		return slices.ContainsFunc(tag.Attr, func(a html.Attribute) bool {
			scheme, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(a.Val)), ":")
			return strings.HasPrefix(a.Key, "on") || a.Key == "style" || scheme == "javascript" && (a.Key == "href" || a.Key == "action")
		})
	}
}

// What came from outside is text, in every field of every page, in both languages.
func TestWhatCameFromOutsideIsText(t *testing.T) {
	detector.SkipSweep(t)
	t.Parallel()
	for _, text := range hostile {
		h := open(t, plan{look: site.Look{Name: text, Contact: text, Colour: "red"}, every: time.Hour})
		h.shelf.views, h.shelf.story = []timer.View{fullOf(text)}, storyOf(text)
		h.shelf.rules = []policy.Policy{{BusinessType: text, Paused: true, PausedBy: text}, {BusinessType: text + "2"}, hostilePolicy(text)}
		h.shelf.sent = []dispatch.View{dispatchOf(dispatch.Failed)}
		h.shelf.sent[0].WaitsBy, h.shelf.sent[0].WaitsNote, h.shelf.sent[0].Links = text, text, timer.Links{WebUI: text}
		h.shelf.jobs = []bulk.Job{countOf(timer.Filter{BusinessType: "order-close", Labels: timer.Labels{text: text}})}
		h.shelf.paused = []policy.Emergency{{Everything: true, Author: text, Note: text, Since: 1}, {BusinessType: text, Author: text, Note: text, Since: 1}}
		plain := open(t, plan{look: site.Look{Name: "x", Contact: "x", Colour: "red"}, every: time.Hour})
		plain.shelf.views, plain.shelf.story = []timer.View{fullOf("x")}, storyOf("x")
		plain.shelf.rules = []policy.Policy{{BusinessType: "x", Paused: true, PausedBy: "x"}, {BusinessType: "x2"}, hostilePolicy("x")}
		plain.shelf.paused = []policy.Emergency{{Everything: true, Author: "x", Note: "x", Since: 1}, {BusinessType: "x", Author: "x", Note: "x", Since: 1}}
		languages := []string{"en", "zh-CN"}
		if len(text) > 1<<10 { // a long one takes seconds
			languages = languages[:1]
		}
		for _, lang := range languages {
			for _, path := range []string{"/console/timers?lang=" + lang, "/console/timers/order-close/1?lang=" + lang} {
				shown := h.get(path)
				require.Equal(t, http.StatusOK, shown.StatusCode)
				require.Empty(t, active(shown.body), "%s %q", path, text)
				require.Equal(t, elements(plain.get(path).body), elements(shown.body), "the page has the same elements whatever it shows: %q", text)
			}
			for _, path := range []string{"/console/", "/console/types", typePage, "/console/jobs", "/console/jobs/count", "/console/dispatches", "/console/dispatches/order-close/d", "/console/forecast?type=order-close", "/console/emergency", "/console/health"} {
				shown := h.get(path, "Accept-Language", lang)
				require.Equal(t, http.StatusOK, shown.StatusCode, "%s %q", path, text)
				require.Empty(t, active(shown.body), "%s %q", path, text)
			}
			searched := h.get("/console/timers?" + url.Values{"q": {text}, "lang": {lang}}.Encode())
			require.Less(t, searched.StatusCode, 500)
			require.Empty(t, active(searched.body), text)
		}
	}
}

// hostilePolicy is the policy of order-close with a text wherever there is one.
func hostilePolicy(text string) policy.Policy {
	p := closing()
	p.PausedBy = text
	p.Callback = delivery.Callback{Destination: delivery.HTTP(text), Headers: map[string]string{"X-A": text}}
	p.Fallback = &delivery.Fallback{Callback: delivery.Callback{Destination: delivery.HTTP(text)}}
	return p
}

// elements are the names of the tags of a page, but for links and spans, which only some texts are.
func elements(page string) (names []string) {
	for tokens := html.NewTokenizer(strings.NewReader(page)); ; {
		switch kind := tokens.Next(); kind {
		case html.ErrorToken:
			return names
		case html.StartTagToken, html.SelfClosingTagToken, html.EndTagToken:
			if name, _ := tokens.TagName(); string(name) != "a" && string(name) != "span" {
				names = append(names, kind.String()+" "+string(name))
			}
		default:
		}
	}
}

// Whatever stands in the path is a timer or is not there; nothing breaks.
func TestHostilePaths(t *testing.T) {
	t.Parallel()
	detector.SkipSweep(t)
	h := open(t, plan{})
	for _, text := range append(slices.Clone(hostile), "a/b", "a?b", "a#b", "..", ".") {
		for _, path := range []string{"/console/timers/" + url.PathEscape(text) + "/1", "/console/timers/order-close/" + url.PathEscape(text), "/console/" + url.PathEscape(text)} {
			if len(path) > 60<<10 {
				continue // it is no request at all
			}
			answer := h.get(path)
			require.Contains(t, []int{http.StatusNotFound, http.StatusUnprocessableEntity, http.StatusSeeOther, http.StatusMovedPermanently, http.StatusTemporaryRedirect}, answer.StatusCode, path)
			require.Empty(t, active(answer.body), path)
		}
	}
}

// Every page goes without a story, a list, and the rest of what there may be.
func TestEmptyAndBrokenPages(t *testing.T) {
	t.Parallel()
	h := open(t, plan{})
	require.Contains(t, h.get(list).body, "There is no timer yet.")
	require.Contains(t, h.get(list+"?q=type:order-close").body, "No timer is found by: type:order-close")
	require.Contains(t, h.get(list+"?q=status:open+nonsense:x+y").body, "not understood")
	for _, status := range timer.Statuses() {
		h.shelf.views = []timer.View{{Key: wire.Key{BusinessType: "order-close", BusinessID: "1"}, Status: status}}
		for _, lang := range []string{"en", "zh-CN"} {
			page := h.get("/console/timers/order-close/1?lang=" + lang)
			require.Equal(t, http.StatusOK, page.StatusCode)
			require.NotContains(t, page.body, "status."+string(status), "there is a word for it")
		}
	}
	h.shelf.down = true
	require.Equal(t, http.StatusOK, h.get("/console/timers/order-close/1").StatusCode, "what was known last")
	broken := h.get("/console/timers/order-close/2")
	require.Equal(t, http.StatusServiceUnavailable, broken.StatusCode)
	require.Contains(t, broken.body, "Temporal did not answer.")
}

// Whatever the API may say has a word in both languages.
func TestWordsForWhatTheAPISays(t *testing.T) {
	t.Parallel()
	h := open(t, plan{})
	for _, lang := range []string{"en", "zh-CN"} {
		for _, waiting := range delivery.Waitings() {
			view := viewOf(timer.Delivering)
			view.WaitsFor = waiting
			h.shelf.views, h.shelf.story = []timer.View{view}, storyOf("x")
			for _, path := range []string{"/console/timers?lang=", "/console/timers/order-close/1?lang="} {
				page := h.get(path + lang).body
				require.NotRegexp(t, `>\s*(waits|fact|source|event|status|role|via)\.[a-z_]+`, page)
			}
		}
	}
}

func TestLanguageAndTheme(t *testing.T) {
	t.Parallel()
	h := open(t, plan{look: site.Look{Name: "staging", Colour: "orange"}})
	for header, want := range map[string]string{"": "en", "zh-CN,zh;q=0.9,en;q=0.8": "zh-CN", "zh-TW": "zh-CN", "de, en;q=0.5, zh;q=0.7": "zh-CN", "en-GB": "en", "zh;q=0": "en", "zh;q=x": "en", "*": "en"} {
		answer := h.get(list, "Accept-Language", header)
		require.Contains(t, answer.body, `<html lang="`+want+`" class="theme-system">`, header)
		require.Equal(t, want, answer.Header.Get("Content-Language"))
	}
	for tag, want := range map[string]string{"zh": "zh-CN", "zh-cn": "zh-CN", "zh-Hans": "zh-CN", "ZH": "zh-CN", "en-US": "en", "de": "zh-CN", "": "zh-CN"} {
		page := h.get(list+"?lang="+tag, "Accept-Language", "zh")
		require.Contains(t, page.body, `<html lang="`+want+`"`, tag)
	}
	page := h.get(list).body
	require.Contains(t, page, `class="top bar-orange"`)
	require.Contains(t, page, "<strong>staging</strong>")
	kept := h.post("/console/preferences", url.Values{"lang": {"zh-CN"}, "theme": {"dark"}, "next": {list}})
	require.Equal(t, list, kept.Header.Get("Location"))
	require.Contains(t, h.get(list).body, `<html lang="zh-CN" class="theme-dark">`)
	h.post("/console/preferences", url.Values{"lang": {"xx"}, "theme": {"a b"}})
	require.Contains(t, h.get(list).body, `<html lang="zh-CN" class="theme-dark">`)
	const inChinese = list + "?lang=zh&q=status%3Afailed"
	require.Contains(t, h.get(inChinese).body, `value="/console/timers?lang=zh&amp;q=status%3Afailed"`)
	kept = h.post("/console/preferences", url.Values{"lang": {"en"}, "next": {inChinese}})
	require.Equal(t, list+"?q=status%3Afailed", kept.Header.Get("Location"), "the language of the address would go before the chosen one")
	kept = h.post("/console/preferences", url.Values{"theme": {"light"}, "next": {inChinese}})
	require.Equal(t, inChinese, kept.Header.Get("Location"), "the control")
}

// heading is the name of a column, above it and beside each of its cells on a phone.
var heading = regexp.MustCompile(`<th scope="col"[^>]*>(?:<span[^>]*>)?([^<]+)<|data-label="([^"]+)"`)

// lowHeadings are the headings of a page that begin with a small letter.
func lowHeadings(page string) (low []string) {
	for _, found := range heading.FindAllStringSubmatch(page, -1) {
		if text := found[1] + found[2]; unicode.IsLower([]rune(text)[0]) {
			low = append(low, text)
		}
	}
	return low
}

// Headings of tables begin with a capital letter.
func TestHeadingsAreInSentenceCase(t *testing.T) {
	t.Parallel()
	detector.SkipSweep(t)
	h := open(t, plan{})
	h.shelf.views, h.shelf.story = []timer.View{dailyOf(viewOf(timer.Scheduled))}, storyOf("x")
	h.shelf.rules, h.shelf.ahead, h.shelf.sent = []policy.Policy{closing()}, stepsFrom(*h.now), []dispatch.View{dispatchOf(dispatch.Running)}
	h.shelf.paused = []policy.Emergency{{BusinessType: "order-close", Author: "anonymous", Since: 1}}
	h.shelf.jobs = []bulk.Job{countOf(timer.Filter{BusinessType: "order-close"})}
	h.shelf.running = health.Processes{Processes: []health.Process{{ID: "g", State: health.Alive, About: health.About{Role: health.Gateway}}}}
	h.shelf.checks = []health.Check{{Name: "canary", Status: health.OK}}
	headings := 0
	for _, path := range []string{
		list, "/console/", timerPath, timerPath + "/rule", "/console/types", typePage, "/console/jobs", "/console/jobs/count", "/console/dispatches",
		"/console/dispatches/order-close/d", "/console/forecast", "/console/emergency", "/console/health", "/console/audit",
	} {
		page := h.get(path).body
		headings += len(heading.FindAllString(page, -1))
		require.Empty(t, lowHeadings(page), path)
	}
	require.Greater(t, headings, 100, "the oracle sees headings")
	require.Equal(t, []string{"failed", "on time"}, lowHeadings(`<th scope="col" class="number">failed</th><td data-label="on time"><th scope="col">Due</th>`))
}

// Each page of a list leads to the first one, with what the list is of.
func TestTheFirstPageOfAList(t *testing.T) {
	t.Parallel()
	h := open(t, plan{})
	h.shelf.sent, h.shelf.next = []dispatch.View{dispatchOf(dispatch.Running)}, []byte("more")
	h.shelf.jobs = []bulk.Job{countOf(timer.Filter{BusinessType: "order-close"})}
	for _, list := range []string{"/console/dispatches", "/console/dispatches?business_type=order-close", "/console/jobs"} {
		first := `<a href="` + list + `">First page</a>`
		page := h.get(list).body
		require.NotContains(t, page, first)
		next := regexp.MustCompile(`href="([^"]+)" rel="next"`).FindStringSubmatch(page)
		require.Len(t, next, 2)
		require.Contains(t, h.get(html.UnescapeString(next[1])).body, first)
	}
}
