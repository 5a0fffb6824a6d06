package console_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/console/words"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/recurrence"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/seal"
)

// closing is the policy of order-close.
func closing() policy.Policy {
	rate := 20.0
	return policy.Policy{
		BusinessType: "order-close", Version: 1, Callback: delivery.Callback{Destination: delivery.HTTP("https://orders.example.com/close")},
		Limits: policy.Limits{CallbacksPerSecond: &rate},
	}
}

// withSecondLink is a policy with another link.
func withSecondLink(p policy.Policy) policy.Policy {
	p.Fallback = &delivery.Fallback{
		Callback: delivery.Callback{Destination: delivery.HTTP("https://second.example.com/close")}, After: wire.Duration(time.Minute),
	}
	return p
}

const typePage = "/console/types/order-close"

// A change of a policy is shown before it is made, and made of what was shown only.
func TestAPolicyIsChangedInTwoSteps(t *testing.T) {
	t.Parallel()
	h := open(t, plan{keys: staff, secret: seal.NewKey()})
	h.shelf.rules = []policy.Policy{closing()}
	h.signIn("root")
	page := h.get(typePage).body
	require.Contains(t, page, "Calls https://orders.example.com/close, at most 6 attempts over 7 h 11 min, at most 20 a second.")
	require.Contains(t, page, `name="callbacks_per_second" value="20"`)
	require.Contains(t, page, `name="etag" value="&#34;1&#34;"`)
	for path, form := range map[string]url.Values{
		"/edit":   {"callbacks_per_second": {"30"}, "in_flight": {""}, "priority": {"3"}, "paused": {"false"}, "url": {"https://orders.example.com/close"}},
		"/policy": {"policy": {`{"callback":{"url":"https://orders.example.com/close"},"limits":{"callbacks_per_second":30}}`}},
	} {
		form.Set("etag", `"1"`)
		planned := h.post(typePage+path, form)
		require.Equal(t, http.StatusOK, planned.StatusCode, planned.body)
		require.Contains(t, planned.body, "<code>/limits/callbacks_per_second</code>")
		require.Contains(t, planned.body, `<del><code dir="auto">20</code></del>`)
		require.Contains(t, planned.body, `<ins><code dir="auto">30</code></ins>`)
		require.Contains(t, planned.body, `name="etag" value="&#34;1&#34;"`)
		require.Empty(t, h.shelf.changes())
		form.Set("sure", "yes")
		done := h.post(typePage+path, form)
		require.Equal(t, typePage+"?done=edit", done.Header.Get("Location"), done.body)
		require.EqualValues(t, 30, *h.shelf.stored[0].Limits.CallbacksPerSecond)
		h.shelf.stored, h.shelf.changed = nil, nil
		form.Set("etag", `"7"`)
		stale := h.post(typePage+path, form)
		require.Equal(t, http.StatusPreconditionFailed, stale.StatusCode)
		require.Contains(t, stale.body, "changed meanwhile")
		require.Empty(t, h.shelf.changes())
	}
	back := h.post(typePage+"/back", url.Values{"etag": {`"1"`}, "version": {"1"}})
	require.Contains(t, back.body, "<code>/priority</code>")
	require.Equal(t, http.StatusNotFound, h.post(typePage+"/back", url.Values{"etag": {`"1"`}, "version": {"9"}}).StatusCode)
	for _, wrong := range []struct {
		path string
		form url.Values
		want int
	}{
		{"/edit", url.Values{"priority": {"3"}}, http.StatusBadRequest},
		{"/edit", url.Values{"priority": {"high"}, "etag": {`"1"`}}, http.StatusUnprocessableEntity},
		{"/policy", url.Values{"policy": {`{"callback":`}, "etag": {`"1"`}}, http.StatusUnprocessableEntity},
		{"/policy", url.Values{"policy": {`{"explode":1}`}, "etag": {`"1"`}}, http.StatusUnprocessableEntity},
	} {
		answer := h.post(typePage+wrong.path, wrong.form)
		require.Equal(t, wrong.want, answer.StatusCode, answer.body)
	}
	require.Contains(t, h.post(typePage+"/policy", url.Values{"policy": {`{"callback":`}, "etag": {`"1"`}}).body, "{&#34;callback&#34;:</textarea>", "what was typed stays")
	require.Empty(t, h.shelf.changes())
}

// What was typed stays in the form of an edit that was refused: by another change, or by the API.
func TestARefusedEditKeepsWhatWasTyped(t *testing.T) {
	t.Parallel()
	h := open(t, plan{keys: staff, secret: seal.NewKey()})
	rule := closing()
	rule.Priority = 2
	h.shelf.rules = []policy.Policy{rule}
	h.signIn("root")
	typed := url.Values{"callbacks_per_second": {"31"}, "in_flight": {"17"}, "priority": {"3"}, "paused": {"true"}, "url": {"https://new.example.com/close"}}
	for etag, wrong := range map[string]struct {
		priority string
		want     int
	}{`"7"`: {"3", http.StatusPreconditionFailed}, `"1"`: {"high", http.StatusUnprocessableEntity}} {
		typed.Set("etag", etag)
		typed.Set("priority", wrong.priority)
		refused := h.post(typePage+"/edit", typed)
		require.Equal(t, wrong.want, refused.StatusCode, refused.body)
		for _, field := range []string{
			`name="callbacks_per_second" value="31"`, `name="in_flight" value="17"`, `name="priority" value="` + wrong.priority + `"`,
			`name="url" type="text" value="https://new.example.com/close"`, `<option value="true" selected>`,
		} {
			require.Contains(t, refused.body, field)
		}
		require.Contains(t, refused.body, `name="etag" value="&#34;1&#34;"`, "it is meant for what is shown now")
	}
	emptied := h.post(typePage+"/edit", url.Values{"etag": {`"7"`}, "callbacks_per_second": {""}})
	require.Contains(t, emptied.body, `name="callbacks_per_second" value=""`, "what was taken out stays out")
	require.Contains(t, emptied.body, `name="priority" value="2"`)
	fresh := h.get(typePage).body
	require.Contains(t, fresh, `name="callbacks_per_second" value="20"`)
	require.NotContains(t, fresh, `value="17"`)
	require.NotContains(t, fresh, `<option value="true" selected>`)

	planned := h.post(typePage+"/edit", url.Values{"etag": {`"1"`}, "callbacks_per_second": {"1,200"}})
	require.Equal(t, http.StatusOK, planned.StatusCode, "as the page itself writes it: %s", planned.body)
	require.Contains(t, planned.body, `<ins><code dir="auto">1200</code></ins>`)
}

// A policy that was changed behind its page is refused with what changed since it was shown: who changed it, which
// values, and that it was deleted.
func TestAPolicyThatWasChangedMeanwhile(t *testing.T) {
	t.Parallel()
	h := open(t, plan{})
	rule := closing()
	rule.Version = 2
	h.shelf.rules = []policy.Policy{rule}
	sure := func(etag string) url.Values {
		return url.Values{"etag": {etag}, "priority": {"3"}, "policy": {"{}"}, "sure": {"yes"}}
	}
	above := func(path, etag string) string {
		late := h.post(typePage+path, sure(etag))
		require.Equal(t, http.StatusPreconditionFailed, late.StatusCode, late.body)
		text, _, _ := strings.Cut(late.body, `class="sentence"`)
		require.Contains(t, text, "changed meanwhile")
		return text
	}
	for _, path := range []string{"/edit", "/policy"} {
		text := above(path, `"1"`)
		require.Contains(t, text, `<strong>changed</strong> by <span dir="auto">cara</span>`)
		require.Contains(t, text, "<code>/priority</code>")
		require.NotContains(t, text, "otto", "that was shown")
	}
	again := func(priority string) string {
		return h.post(typePage+"/edit", url.Values{"etag": {`"1"`}, "priority": {priority}, "in_flight": {"77"}, "sure": {"yes"}}).body
	}
	require.Contains(t, again("5"), `name="in_flight" value="77"`, "what was typed stays")
	require.NotContains(t, again("5"), `name="priority" value="5"`, "what stood there before is not typed, and would undo the change")
	require.Contains(t, again("7"), `name="priority" value="7"`, "what was typed stays, also where another user has changed the value")
	require.Contains(t, above("/policy", "none"), `<span dir="auto">otto</span>`, "there was none, and now there is")
	require.NotContains(t, h.post(typePage+"/edit", url.Values{"etag": {`"2"`}, "priority": {"high"}}).body, `<ol class="story">`, "it is refused for another reason")
	require.Contains(t, h.post(typePage+"/policy", sure(`"1"`)).body, "<details open><summary>The whole policy as JSON", "what was typed is seen")
	require.NotContains(t, h.get(typePage).body, "<details open><summary>The whole policy as JSON")

	gone := rule.WithDefaults()
	gone.Version = 1
	h.shelf.rules, h.shelf.gone = nil, &gone
	require.Contains(t, above("/policy", `"1"`), `<strong>deleted</strong> by <span dir="auto">cara</span>`)
}

// The policy in words has the time of its attempts, and the second link whatever that is.
func TestThePolicyInWords(t *testing.T) {
	t.Parallel()
	h := open(t, plan{})
	words := func(change func(*policy.Policy)) string {
		rule := closing()
		rule.Limits = policy.Limits{}
		change(&rule)
		h.shelf.rules = []policy.Policy{rule}
		_, rest, _ := strings.Cut(h.get(typePage).body, `<p class="sentence" dir="auto">Calls https://orders.example.com/close, `)
		sentence, _, _ := strings.Cut(rest, "</p>")
		return sentence
	}
	expiring := func(p *policy.Policy) {
		p.Retry = delivery.Retry{Initial: wire.Duration(time.Second), MaxInterval: wire.Duration(4 * time.Second), MaxAttempts: 5}
		p.ExpiresAfter = wire.Duration(24 * time.Hour)
		p.Fallback = &delivery.Fallback{Callback: delivery.Callback{Destination: delivery.Destination{Stream: true}}, After: wire.Duration(time.Minute)}
	}
	require.Equal(t, "at most 5 attempts over 11 s, none later than 24 h after its due time, second link receivers that connect by themselves.", words(expiring))
	require.Equal(t, "at most 3 attempts over 61 min.", words(func(p *policy.Policy) {
		p.Retry = delivery.Retry{Steps: []wire.Duration{wire.Duration(time.Minute), wire.Duration(time.Hour)}}
	}))
	require.Equal(t, "one attempt.", words(func(p *policy.Policy) { p.Retry = delivery.Retry{Steps: []wire.Duration{}} }))
	require.Contains(t, words(func(p *policy.Policy) { *p = withSecondLink(*p) }), ", second link https://second.example.com/close.")
}

// The second link takes the place of the first in two steps, where there is one.
func TestMoveToTheSecondLink(t *testing.T) {
	t.Parallel()
	h := open(t, plan{keys: staff, secret: seal.NewKey()})
	h.shelf.rules = []policy.Policy{closing()}
	h.signIn("root")
	require.NotContains(t, h.get(typePage).body, typePage+`/links"`, "it has one link")
	h.shelf.rules = []policy.Policy{withSecondLink(closing())}
	require.Contains(t, h.get(typePage).body, typePage+`/links"`)
	form := url.Values{"etag": {`"1"`}}
	planned := h.post(typePage+"/links", form)
	require.Equal(t, http.StatusOK, planned.StatusCode, planned.body)
	for _, shown := range []string{"/callback/url", "/fallback/url", "https://second.example.com/close", "https://orders.example.com/close"} {
		require.Contains(t, planned.body, shown)
	}
	require.NotContains(t, planned.body, "/fallback/after", "it stays")
	require.Empty(t, h.shelf.changes())
	form.Set("sure", "yes")
	done := h.post(typePage+"/links", form)
	require.Equal(t, typePage+"?done=edit", done.Header.Get("Location"), done.body)
	stored := h.shelf.stored[0]
	require.Equal(t, "https://second.example.com/close", stored.Callback.URL)
	require.Equal(t, "https://orders.example.com/close", stored.Fallback.URL)
	require.Equal(t, wire.Duration(time.Minute), stored.Fallback.After)
	h.signIn("anna")
	require.NotContains(t, h.get(typePage).body, typePage+`/links"`, "it takes an admin")
}

// Who may not change a policy sees it, and whom to ask.
func TestThePageOfATypeByRole(t *testing.T) {
	t.Parallel()
	h := open(t, plan{keys: staff, secret: seal.NewKey()})
	h.shelf.rules = []policy.Policy{closing()}
	h.shelf.rules[0].BackPressure = &policy.BackPressure{Since: wire.At(h.now.Add(-time.Minute)), Until: wire.At(h.now.Add(time.Minute))}
	failed := viewOf(timer.Failed)
	failed.LastFailure = &delivery.Failure{Status: 503, Message: "HTTP 503"}
	h.shelf.views = []timer.View{failed}
	for who, c := range map[string]struct{ edits, operates bool }{"root": {true, true}, "anna": {false, true}, "eve": {false, false}} {
		h.signIn(who)
		page := h.get(typePage).body
		for _, text := range []string{typePage + `/edit"`, typePage + `/policy"`, typePage + `/release"`, typePage + `/back"`} {
			require.Equal(t, c.edits, containsText(page, text), "%s %s", who, text)
		}
		require.Equal(t, !c.edits, containsText(page, "You may see this policy and not change it."), who)
		require.Equal(t, c.operates, containsText(page, typePage+`/pause"`), who)
		require.Equal(t, c.operates, containsText(page, "Redeliver it"), who)
		require.Contains(t, page, "<strong>HTTP 503</strong>")
		require.Contains(t, page, `href="/console/timers/order-close/1"`)
	}
	h.signIn("otto")
	require.Equal(t, http.StatusForbidden, h.get(typePage).StatusCode)
	h.signIn("root")
	require.Equal(t, http.StatusNotFound, h.get("/console/types/nowhere").StatusCode)
	require.Equal(t, typePage+"?done=release", h.post(typePage+"/release", nil).Header.Get("Location"))
	require.Equal(t, []string{"lift order-close"}, h.shelf.changes())
	asked := h.get(typePage + "?at=02:41")
	require.Equal(t, http.StatusOK, asked.StatusCode)
	require.Regexp(t, `<h2 id="failures">Failed from <time [^>]*>[^<]*02:36:00 UTC</time> to <time [^>]*>[^<]*02:46:00 UTC</time></h2>`, asked.body)
	require.Contains(t, asked.body, `?at=02%3A41&amp;range=6h#plots`, "another range is of the same time")
	require.Contains(t, h.get(typePage).body, `<h2 id="failures">Failed within the last hour</h2>`)
	h.get(typePage + "?at=02:41")
	last := h.shelf.asked[len(h.shelf.asked)-1].Filter
	require.Equal(t, 10*time.Minute, last.EndedTo.Time().Sub(last.EndedFrom.Time()), "around the minute that an alert names")
	require.Equal(t, 36, last.EndedFrom.Time().UTC().Minute())
}

// What has failed is grouped by status and class, the most first, with an example open.
func TestFailuresAreGroupedByStatusAndClass(t *testing.T) {
	t.Parallel()
	h := open(t, plan{})
	h.shelf.rules = []policy.Policy{closing()}
	failing := func(status int, class delivery.FailureClass, message string) timer.View {
		view := viewOf(timer.Failed)
		view.LastFailure = &delivery.Failure{Status: status, Class: class, Message: message}
		return view
	}
	h.shelf.views = []timer.View{failing(503, "gone", "old"), failing(503, "busy", "full <b>"), failing(503, "busy", "full"), failing(0, "timeout", "late")}
	page := h.get(typePage).body
	first, second := strings.Index(page, "<strong>HTTP 503 busy</strong>"), strings.Index(page, "<strong>HTTP 503 gone</strong>")
	require.Positive(t, first)
	require.Greater(t, second, first, "two of a kind come before one")
	require.Contains(t, page, "<strong>timeout</strong>")
	require.Contains(t, page, `<pre dir="auto">full &lt;b&gt;</pre>`)
	require.Contains(t, page, `<td class="number">2</td>`)
	h.shelf.next = []byte("more")
	more := h.get(typePage).body
	require.Contains(t, more, `<td class="number">2+</td>`, "the list has more")
	require.Contains(t, more, ">Redeliver all</button>")
}

// What is tried again has not ended. It is grouped by how it failed all the same, and so are recurring timers
// whose last occurrence has failed. A minute shows those of it alone.
func TestFailuresOfWhatGoesOn(t *testing.T) {
	t.Parallel()
	h := open(t, plan{})
	h.shelf.rules = []policy.Policy{closing()}
	busy := &delivery.Failure{Status: 503, Class: "busy", Message: "full"}
	at := func(minutes int) wire.Instant { return wire.At(h.now.Add(time.Duration(minutes) * time.Minute)) }
	of := func(id string, status timer.Status, due int, failure *delivery.Failure) timer.View {
		view := viewOf(status)
		view.BusinessID, view.DueAt, view.LastFailure = id, at(due), failure
		return view
	}
	failed := func(minutes int) *delivery.Failure {
		failure := *busy
		failure.At = at(minutes)
		return &failure
	}
	cycle := of("cycle", timer.Scheduled, 1, nil)
	cycle.Recurrence = &recurrence.Rule{}
	cycle.LastOccurrence = &timer.Past{Outcome: timer.Outcome{Status: timer.Failed, LastFailure: failed(-30)}}
	accepted := of("accepted", timer.Delivering, -12, failed(-11))
	accepted.WaitsFor = delivery.WaitsForAck
	h.shelf.views = []timer.View{of("again", timer.Delivering, -20, failed(-2)), of("later", timer.Delivering, -3, failed(-2)), accepted, cycle}
	page := h.get(typePage).body
	require.NotContains(t, page, "None has failed.")
	const group = `<tr><th scope="row"><strong>HTTP 503 busy</strong> <small>%s</small></th><td class="number">%d</td><td><a href="/console/timers/order-close/%s">`
	require.Contains(t, page, fmt.Sprintf(group, "tried again", 2, "again"))
	require.Contains(t, page, fmt.Sprintf(group, "Recurring", 1, "cycle"))
	require.Contains(t, page, `q=type%3Aorder-close&#43;status%3Adelivering">Show those being tried again</a>`)
	require.Contains(t, page, `q=type%3Aorder-close&#43;is%3Arecurring">Show recurring ones</a>`)
	require.NotContains(t, page, `value="redeliver"`, "it is tried again anyway")
	minute := h.get(typePage + "?" + url.Values{"at": {words.ISO(at(-15).Time()) + ".." + words.ISO(at(-14).Time())}}.Encode()).body
	require.Contains(t, minute, fmt.Sprintf(group, "tried again", 1, "again"), "it was tried in vain before and after")
	require.NotContains(t, minute, "/cycle")
	last := h.shelf.asked[len(h.shelf.asked)-1].Filter
	require.Equal(t, []wire.Instant{at(-15), at(-14)}, []wire.Instant{last.EndedFrom, last.EndedTo})
}
