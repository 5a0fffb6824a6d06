package console_test

import (
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
	"golang.org/x/net/html"

	"github.com/wakecall/wakecall/api"
	"github.com/wakecall/wakecall/api/problems"
	"github.com/wakecall/wakecall/console/calls"
	"github.com/wakecall/wakecall/console/words"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/health"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/detector"
	"github.com/wakecall/wakecall/internal/seal"
)

var (
	latinWord = regexp.MustCompile(`[A-Za-z]+`)
	webLink   = regexp.MustCompile(`https?://[^\s<，]*`)
	// namesOf are names, and what the tests have in place of what operators and receivers write.
	namesOf = []string{
		"Wakecall", "wakecall", "Temporal", "curl", "HTTP", "HTTPS", "TLS", "UTC", "JSON", "URL", "SHA", "Base", // Base64
		"order", "close", "invoice", "anonymous", "cara", "otto", "anna", "eve", "root", "Europe", "Berlin", "busy",
		"WAKECALL", "TRUSTED", "PROXIES", "X", "Forwarded", "Proto", "localhost", // in what says how to set up a proxy
		"PROMETHEUS", // in what says how to know the lateness
	}
	// saidBy are the attributes that people are told.
	saidBy = []string{"title", "aria-label", "alt", "data-label", "data-hint", "data-late", "data-gist", "data-fine"}
)

// latin are the words of a Chinese page that are neither names nor marked as what they are: English, or what
// programs read.
func latin(t testing.TB, page string) (found []string) {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	require.NoError(t, err)
	add := func(text string) {
		for _, word := range latinWord.FindAllString(webLink.ReplaceAllString(text, ""), -1) {
			if !slices.Contains(namesOf, word) {
				found = append(found, word)
			}
		}
	}
	var walk func(n *html.Node)
	walk = func(n *html.Node) {
		if n.Type == html.TextNode {
			add(n.Data)
		}
		if isMarked(n) {
			return
		}
		for _, a := range n.Attr {
			if slices.Contains(saidBy, a.Key) {
				add(strings.ReplaceAll(a.Val, "%s", ""))
			}
		}
		for child := n.FirstChild; child != nil; child = child.NextSibling {
			walk(child)
		}
	}
	walk(root)
	return found
}

// isMarked reports whether an element is in another language, or is for programs.
func isMarked(n *html.Node) bool {
	if slices.Contains([]string{"code", "kbd", "script", "noscript", "textarea"}, n.Data) {
		return true
	}
	return slices.ContainsFunc(n.Attr, func(a html.Attribute) bool { return a.Key == "lang" && a.Val != "zh-CN" })
}

// requireChinese is that each page has Chinese words only, and some.
func requireChinese(t testing.TB, path string, page reply) {
	t.Helper()
	require.Contains(t, page.body, `<html lang="zh-CN"`, path)
	require.Empty(t, latin(t, page.body), "%s %s", path, page.body)
}

func TestLatinWordsAreSeen(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{"Held", "late", "Sent", "s"}, latin(t, `<html lang="zh-CN"><p title="Held">UTC late <code>x</code> <q lang="en">known</q> Sent <b lang="zh-CN">3/s</b>`))
}

// The Chinese page has no word of another language but names, and what is to be typed.
func TestTheChinesePageIsChinese(t *testing.T) {
	t.Parallel()
	detector.SkipSweep(t)
	h := open(t, plan{})
	h.shelf.views = []timer.View{dailyOf(viewOf(timer.Scheduled))}
	h.shelf.payload = timer.Payload{Data: []byte("1"), ContentType: "*/*"}
	h.shelf.rules, h.shelf.ahead, h.shelf.sent = []policy.Policy{withSecondLink(closing())}, stepsFrom(*h.now), []dispatch.View{dispatchOf(dispatch.Running)}
	h.shelf.sent[0].BusinessID = "1"
	h.shelf.paused = []policy.Emergency{{BusinessType: "order-close", Author: "anonymous", Since: 1}}
	h.shelf.checks = []health.Check{{Name: "clock", Status: health.Failing, Detail: "The clock is behind."}}
	h.shelf.matching = 7
	job := h.post("/console/jobs", url.Values{"q": {"type:order-close"}, "operation": {"move"}, "shift": {"2h"}}).Header.Get("Location")
	for _, path := range []string{
		list, "/console/", timerPath, "/console/types", typePage, "/console/nowhere", timerPath + "/rule", timerPath + "/payload", "/console/jobs", job,
		"/console/dispatches", "/console/dispatches/order-close/1", "/console/forecast", "/console/emergency", "/console/health",
	} {
		requireChinese(t, path, h.get(path, "Accept-Language", "zh-CN"))
	}
	require.Contains(t, h.get(job, "Accept-Language", "zh-CN").body, "<dd>2 小时</dd>")
	require.Equal(t, 2, strings.Count(h.get(typePage, "Accept-Language", "zh-CN").body, "备用链路"), "the second link has one name")
}

// askedInChinese makes calls that the console or the API refuse, and returns what is answered to each.
func (h *harness) askedInChinese(asked map[string]url.Values) map[string]reply {
	h.t.Helper()
	answers := map[string]reply{}
	for path, form := range asked {
		if form == nil {
			answers[path] = h.get(path, "Accept-Language", "zh-CN")
		} else {
			answers[path] = h.post(path, form, "Accept-Language", "zh-CN")
		}
		require.GreaterOrEqual(h.t, answers[path].StatusCode, http.StatusBadRequest, path)
		requireChinese(h.t, path, answers[path])
	}
	return answers
}

// What is refused is said in Chinese. What the API says beyond that follows, and is marked as English.
func TestRefusalsInChinese(t *testing.T) {
	t.Parallel()
	detector.SkipSweep(t)
	h := open(t, plan{keys: staff, secret: seal.NewKey()})
	h.shelf.views, h.shelf.rules = []timer.View{dailyOf(viewOf(timer.Scheduled))}, []policy.Policy{closing()}
	h.shelf.sent = []dispatch.View{dispatchOf(dispatch.Running)}
	h.shelf.sent[0].BusinessID = "1"
	h.signIn("root")
	const absent = `<strong>未找到</strong> <q lang="en" dir="auto">There is no such timer.</q>`
	answers := h.askedInChinese(map[string]url.Values{
		"/console/timers/order-close/nope": nil, "/console/types/nope": nil, "/console/jobs/nope": nil, "/console/dispatches/order-close/nope": nil,
		"/console/audit?from=bogus": nil, "/console/audit?outcome=bogus": nil, "/console/timers/order-close/nope/rule": nil,
		timerPath + "/move": {}, timerPath + "/fire": {"etag": {`"other"`}}, timerPath + "/explode": {}, timerPath + "/rule": tagWith("rule", "no"),
		typePage + "/edit": policyForm("priority", "high"), typePage + "/policy": policyForm("policy", `{"callback": {"url": "ftp://x"}, "nothing": 1}`),
		typePage + "/test": {"link": {"elsewhere"}}, typePage + "/back": policyForm("version", "99"), "/console/emergency/pause": {"note": {""}},
		"/console/jobs": {"q": {"type:order-close"}, "operation": {"move"}, "shift": {"soon"}}, "/console/timers/selected": {},
		"/console/dispatches/order-close/1/rate": {"per_second": {"many"}},
	})
	require.Contains(t, answers["/console/timers/order-close/nope"].body, absent)
	require.Contains(t, answers["/console/audit?from=bogus"].body, "<strong>请求中有无效的值</strong>")
	require.Contains(t, answers[typePage+"/policy"].body, `<code>/nothing</code> 未知的字段 <q lang="en" dir="auto">`)
	require.Contains(t, h.get("/console/timers/order-close/nope").body, `<strong>Not found</strong> <span dir="auto">There is no such timer.</span>`)

	done := h.post("/console/timers/selected", url.Values{"action": {"fire"}, "sure": {"yes"}, "row": {"order-close/2 1 0 msg_1"}}, "Accept-Language", "zh-CN")
	require.Contains(t, done.body, absent)
	requireChinese(t, "what became of the selected", done)
	soon := url.Values{"action": {"move"}, "delay": {"soon"}, "sure": {"yes"}, "row": {"order-close/1 1 0 msg_1"}}
	done = h.post("/console/timers/selected", soon, "Accept-Language", "zh-CN")
	require.Contains(t, done.body, `<strong>请求中有无效的值</strong><ul><li><code>/delay</code> 不是有效的时长 <q lang="en" dir="auto">`)
	requireChinese(t, "what became of what was typed for them", done)

	h.signIn("eve")
	refused := h.askedInChinese(map[string]url.Values{timerPath + "/fire": tagOf(h.shelf.views[0]), typePage + "/edit": policyForm("priority", "1"), typePage + "/pause": {}})
	require.Contains(t, refused[timerPath+"/fire"].body, "<strong>不允许此调用</strong>")
	h.signIn("root")
	recorded := h.get("/console/audit", "Accept-Language", "zh-CN")
	requireChinese(t, "the record of that", recorded)
	require.Contains(t, recorded.body, `被拒绝</span> 不允许此调用 <code>forbidden</code>`)

	h.shelf.down = true
	h.askedInChinese(map[string]url.Values{"/console/timers/order-close/2": nil, timerPath + "/cancel": tagOf(h.shelf.views[0])})
	h.signOut()
	h.askedInChinese(map[string]url.Values{"/console/login": {"key": {"stranger"}}})
}

// tagWith are the fields of a form for a timer.
func tagWith(name, value string) url.Values {
	form := tagOf(dailyOf(viewOf(timer.Scheduled)))
	form.Set(name, value)
	return form
}

// signOut forgets who is signed in.
func (h *harness) signOut() { h.post("/console/logout", nil) }

// failedAs is how a timer has failed.
func failedAs(class delivery.FailureClass, status int, detail string) *delivery.Failure {
	return (delivery.Answer{Class: class, Status: status, Detail: detail}).Failure(wire.At(time.Now()))
}

// How attempts failed is said in Chinese, wherever it stands: in lists, in the strip, on the page of a type, in
// the story, in the reasons, and beside a test event.
func TestFailuresInChinese(t *testing.T) {
	t.Parallel()
	detector.SkipSweep(t)
	for _, class := range delivery.FailureClasses() {
		t.Run(string(class), func(t *testing.T) {
			t.Parallel()
			h := open(t, plan{every: time.Hour})
			failure := failedAs(class, 0, "")
			if class == delivery.Answered {
				failure = failedAs(class, http.StatusServiceUnavailable, "HTTP 503")
			}
			retried, failed := viewOf(timer.Delivering), viewOf(timer.Failed)
			failed.BusinessID = "2"
			retried.NextAttemptAt = wire.At(time.Now().Add(time.Hour))
			retried.Attempts, failed.Attempts, retried.LastFailure, failed.LastFailure = 1, 1, failure, failure
			h.shelf.views, h.shelf.rules = []timer.View{retried, failed}, []policy.Policy{withSecondLink(closing())}
			h.shelf.tested = delivery.TestResult{Class: class, Status: failure.Status, Detail: "cannot be reached", SentAt: 1}
			h.shelf.story = storyOfAttempts(failure)
			for _, path := range []string{list, timerPath, "/console/timers/order-close/2", typePage, "/console/types", "/console/"} {
				page := h.get(path, "Accept-Language", "zh-CN")
				requireChinese(t, path, page)
				require.NotContains(t, page.body, `auto" lang="en">`, "%s: the API says no more than the words do", path)
			}
			rung := h.post(typePage+"/test", url.Values{"link": {"fallback"}}, "Accept-Language", "zh-CN")
			requireChinese(t, "a test event", rung)
			require.Contains(t, rung.body, `<q lang="en" dir="auto">cannot be reached</q>`)
		})
	}
}

// storyOfAttempts has each result of an attempt and of a change, over each link.
func storyOfAttempts(failure *delivery.Failure) (story []timer.HistoryEntry) {
	for _, result := range timer.HistoryResults() {
		refused := wire.FieldErrors{{Pointer: "/due_at", Code: wire.CodeInvalidTime, Detail: "must be later"}}
		story = append(story, timer.HistoryEntry{At: 1, Event: timer.HistoryChanged, Result: result, Errors: refused, Changes: []timer.FieldChange{{Field: "due_at"}}})
	}
	for _, result := range []delivery.Result{delivery.ResultDelivered, delivery.ResultAccepted, delivery.ResultRetry, delivery.ResultFailed} {
		for _, link := range []delivery.Link{delivery.LinkCallback, delivery.LinkFallback} {
			made := delivery.Attempt{Number: 1, Status: failure.Status, Class: failure.Class, Result: result, Link: link}
			story = append(story, timer.HistoryEntry{At: 2, Event: timer.HistoryAttempt, Attempt: &delivery.ShownAttempt{Attempt: made}})
		}
	}
	return append(story, timer.HistoryEntry{At: 3, Event: timer.HistoryFailed, LastFailure: failure})
}

// What the receiver says is in whatever language, and what only the API knows has no class. The first is not
// marked as English.
func TestWhoseWordsAFailureHas(t *testing.T) {
	t.Parallel()
	h := open(t, plan{})
	for want, failure := range map[string]*delivery.Failure{
		`接受之后又被拒绝 <q dir="auto">busy</q>`:                                    failedAs(delivery.Nacked, 0, "busy"),
		`没有队列接收 <q dir="auto" lang="en">there is no such exchange (404)</q>`: failedAs(delivery.Unroutable, 0, "there is no such exchange (404)"),
		`Wakecall 内部原因 <q dir="auto" lang="en">Wakecall could not read the`:  delivery.PolicyUnread.Failure(1),
	} {
		failed := viewOf(timer.Failed)
		failed.LastFailure = failure
		h.shelf.views, h.shelf.rules = []timer.View{failed}, []policy.Policy{closing()}
		page := h.get(list, "Accept-Language", "zh-CN")
		require.Contains(t, page.body, want)
		requireChinese(t, want, page)
		require.Contains(t, h.get(list).body, `<span dir="auto">`+failure.Message+`</span>`)
		requireChinese(t, want, h.get(typePage, "Accept-Language", "zh-CN"))
	}
}

// listOf is a closed list of the API's document.
func listOf(t *testing.T, name string) []string {
	t.Helper()
	var document struct {
		Components struct {
			Schemas map[string]struct {
				Enum []any `yaml:"enum"`
			} `yaml:"schemas"`
		} `yaml:"components"`
	}
	require.NoError(t, yaml.Unmarshal(api.OpenAPI, &document))
	var all []string
	for _, one := range document.Components.Schemas[name].Enum {
		all = append(all, strings.TrimPrefix(one.(string), "urn:wakecall:problem:"))
	}
	require.NotEmpty(t, all, name)
	return all
}

// texts are a list of words.
func texts[T ~string](list []T) (all []string) {
	for _, one := range list {
		all = append(all, string(one))
	}
	return all
}

// Every word of the API's closed lists that a page shows has a text in each language.
func TestClosedListsHaveWords(t *testing.T) {
	t.Parallel()
	for prefix, lists := range map[string][][]string{
		"problem.": {listOf(t, "ProblemType")}, "field.": {listOf(t, "FieldErrorCode")}, "class.": {listOf(t, "FailureClass")}, "link.": {listOf(t, "Link")},
		"result.": {listOf(t, "HistoryResult"), {"delivered", "retry", "failed", "accepted"}}, "event.": {listOf(t, "HistoryEvent")}, "status.": {listOf(t, "Status")},
		"job.": {listOf(t, "BulkStatus")}, "operation.": {listOf(t, "BulkOperation")}, "dispatch.": {listOf(t, "DispatchStatus")}, "short.": {listOf(t, "Shortage")},
		"outcome.": {listOf(t, "AuditOutcome")}, "process.": {listOf(t, "ProcessRole"), listOf(t, "ProcessState")}, "check.": {texts(health.Statuses())},
		"waits.": {texts(delivery.Waitings())}, "source.": {texts(timer.ReasonSources())}, "empty.": {texts(timer.EmptyReasons())}, "fact.": {factsWithText()},
	} {
		for _, word := range slices.Concat(lists...) {
			for _, language := range words.Languages {
				require.NotEqual(t, prefix+word, language.Say(prefix+word), "%s has no word for %s%s", language, prefix, word)
			}
		}
	}
}

// factsWithText are the ends of the keys of the reasons. What is unread is said by its source.
func factsWithText() []string {
	held := string(delivery.WaitsForEmergency)
	apart := []string{string(timer.ReasonUnread), held}
	others := slices.DeleteFunc(texts(timer.Reasons()), func(one string) bool { return slices.Contains(apart, one) })
	return append(others, held+".everything", held+".type")
}

// In English a page has the API's own words, and has them once.
func TestEnglishIsTheAPIsOwn(t *testing.T) {
	t.Parallel()
	for _, code := range listOf(t, "ProblemType") {
		require.Equal(t, problems.DocumentOf(&wire.Error{Code: wire.Code(code)}).Title, words.English.Say("problem."+code), code)
	}
	for _, class := range delivery.FailureClasses() {
		failure := &calls.Failure{Class: string(class), Message: failedAs(class, 0, "").Message}
		require.Empty(t, failure.Says(), class)
	}
}
