package console_test

import (
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/console/site"
	"github.com/wakecall/wakecall/core/outcomes"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/seal"
	"github.com/wakecall/wakecall/internal/tuning"
)

func TestTheTableOfTypes(t *testing.T) {
	t.Parallel()
	h := open(t, plan{})
	require.Contains(t, h.get("/console/types").body, "has a policy")
	pressed := &policy.BackPressure{Since: wire.At(h.now.Add(-time.Minute)), Until: wire.At(h.now.Add(time.Minute))}
	over := &policy.BackPressure{Since: wire.At(h.now.Add(-time.Hour)), Until: wire.At(h.now.Add(-time.Minute))}
	h.shelf.rules = []policy.Policy{
		{BusinessType: "a-running"}, {BusinessType: "b-held", BackPressure: pressed}, {BusinessType: "c-paused", Paused: true, PausedBy: "cara"}, {BusinessType: "d-stopped"}, {BusinessType: "e-over", BackPressure: over},
	}
	h.shelf.paused = []policy.Emergency{{BusinessType: "d-stopped", Author: "dora", Note: "fire", Since: 1}}
	page := h.get("/console/types").body
	at := -1
	for _, next := range []string{`href="/console/types/d-stopped"`, "emergency pause", "By dora.", "fire</q>", "types/d-stopped/resume", `href="/console/types/c-paused"`, ">paused</strong>", "By cara.", `href="/console/types/b-held"`, "held back", "types/b-held/pause", `href="/console/types/a-running"`, "running", "3,333", "types/a-running/pause", `href="/console/types/e-over"`} {
		found := strings.Index(page[at+1:], next)
		require.GreaterOrEqual(t, found, 0, "%s comes next", next)
		at += 1 + found
	}
	require.Equal(t, 5, strings.Count(page, `data-label="Delivering"`), "the timers in the status, between attempts too")
	require.NotContains(t, page, "In flight", "attempts under way are of a worker, and no type's are told")
	require.NotContains(t, page, "types/c-paused/", "the policy is for its own call")
	h.shelf.ended = []outcomes.Minute{{At: wire.At(h.now.Truncate(time.Minute)), Counts: outcomes.Counts{Failed: 312}}}
	*h.now = h.now.Add(tuning.LookPastEvery)
	require.Contains(t, h.get("/console/types").body, `q=type%3Aa-running&#43;status%3Afailed&#43;ended%3A24h">312</a>`)
	h.shelf.paused = append(h.shelf.paused, policy.Emergency{Everything: true, Author: "gus", Since: 1})
	stopped := h.get("/console/types").body
	require.Equal(t, 5, strings.Count(stopped, ">emergency pause<"), "none is told to run")
	require.NotContains(t, stopped, "<form method=\"post\" action=\"/console/types/")
	h.shelf.down = true
	require.Contains(t, h.get("/console/types").body, "Some of this cannot be read now.")
}

// What holds a type back beside its state is shown as well, and ended beside it: after one of them the other still holds.
func TestATypeThatIsHeldBackTwice(t *testing.T) {
	t.Parallel()
	h := open(t, plan{keys: staff, secret: seal.NewKey()})
	held := closing()
	held.Paused, held.PausedBy = true, "cara"
	held.BackPressure = &policy.BackPressure{Since: wire.At(h.now.Add(-time.Minute)), Until: wire.At(h.now.Add(time.Minute))}
	h.shelf.rules = []policy.Policy{held}
	has := func(path string, marks ...string) {
		body := h.get(path).body
		for _, mark := range []string{"state-emergency", "state-paused", "state-held"} {
			require.Equal(t, slices.Contains(marks, mark), strings.Contains(body, mark), "%s %s", path, mark)
		}
	}
	h.signIn("root")
	for _, path := range []string{"/console/", "/console/types", typePage} {
		has(path, "state-paused", "state-held")
		body := h.get(path).body
		require.Contains(t, body, `<button name="paused" value="false"`)
		require.Contains(t, body, "order-close is held back until", "the strip")
		require.Contains(t, body, "order-close is paused in its policy", "the strip")
	}
	require.Contains(t, h.get(typePage).body, typePage+"/release")
	form := url.Values{"etag": {`"1"`}, "paused": {"false"}}
	require.Contains(t, h.post(typePage+"/edit", form).body, "<code>/paused</code>", "it is shown first")
	form.Set("sure", "yes")
	require.Equal(t, typePage+"?done=edit", h.post(typePage+"/edit", form).Header.Get("Location"))
	require.False(t, h.shelf.stored[0].Paused)

	h.shelf.paused = []policy.Emergency{{BusinessType: "order-close", Author: "dora", Since: 1}}
	for _, path := range []string{"/console/types", typePage} {
		has(path, "state-emergency", "state-paused", "state-held")
	}
	require.Contains(t, h.get(typePage).body, typePage+"/release")
	h.signIn("anna")
	require.NotContains(t, h.get(typePage).body, `<button name="paused"`, "a policy is for admins")
	require.Contains(t, h.get(typePage).body, typePage+"/resume")
	h.shelf.paused, h.shelf.rules = nil, []policy.Policy{closing()}
	h.signIn("root")
	has(typePage)
	require.NotContains(t, h.get(typePage).body, `<button name="paused"`)
}

// A type that has no policy stands among the others. Its page says so, and pauses and resumes it.
func TestATypeWithoutAPolicy(t *testing.T) {
	t.Parallel()
	h := open(t, plan{keys: staff, secret: seal.NewKey()})
	h.shelf.strays = []string{"order-stray"}
	stray := viewOf(timer.Scheduled)
	stray.BusinessType = "order-stray"
	h.shelf.views = []timer.View{stray}
	const page = "/console/types/order-stray"
	for who, may := range map[string]bool{"root": true, "anna": true, "eve": false} {
		h.signIn(who)
		for _, path := range []string{"/console/", "/console/types"} {
			body := h.get(path).body
			require.Contains(t, body, `href="`+page+`"`, "%s %s", who, path)
			require.NotContains(t, body, page+"/edit", "%s %s", who, path)
		}
		require.Contains(t, h.get("/console/").body, `status%3Ascheduled`, "the overview has its tiles")
		body := h.get(page).body
		require.Contains(t, body, "It has no policy. Each timer names its receiver.")
		require.Equal(t, may, strings.Contains(body, page+"/pause"), who)
		for _, refused := range []string{page + "/edit", page + "/test", page + "/links", page + "/back"} {
			require.NotContains(t, body, refused, who)
		}
	}
	h.signIn("anna")
	h.shelf.strays, h.shelf.views = nil, nil
	h.shelf.paused = []policy.Emergency{{BusinessType: "order-stray", Author: "dora", Since: 1}}
	require.Contains(t, h.get(page).body, page+"/resume", "it is paused without a timer")
	require.Contains(t, h.get("/console/").body, `href="`+page+`"`)
	h.shelf.paused = nil
	require.Equal(t, http.StatusNotFound, h.get(page).StatusCode)
}

// A type gets its first policy as it gets any: what that makes is shown first. It replaces none that came meanwhile.
func TestTheFirstPolicyOfAType(t *testing.T) {
	t.Parallel()
	h := open(t, plan{})
	h.shelf.strays = []string{"order-close"}
	require.Contains(t, h.get(typePage).body, `name="etag" value="none"`)
	form := url.Values{"etag": {"none"}, "policy": {`{"priority": 2}`}}
	planned := h.post(typePage+"/policy", form)
	require.Equal(t, http.StatusOK, planned.StatusCode, planned.body)
	require.Contains(t, planned.body, "<code>/priority</code>")
	require.Contains(t, planned.body, `name="etag" value="none"`)
	require.Empty(t, h.shelf.changes())
	form.Set("sure", "yes")
	require.Equal(t, typePage+"?done=edit", h.post(typePage+"/policy", form).Header.Get("Location"))
	require.Equal(t, []string{"put order-close"}, h.shelf.changes())
	h.shelf.rules = []policy.Policy{closing()}
	require.Equal(t, http.StatusPreconditionFailed, h.post(typePage+"/policy", form).StatusCode)
}

// A policy that was deleted is put back from the page of its type, with the header values of its version.
func TestADeletedPolicyIsPutBack(t *testing.T) {
	t.Parallel()
	h := open(t, plan{keys: staff, secret: seal.NewKey()})
	gone := closing().WithDefaults()
	h.shelf.gone = &gone
	h.signIn("anna")
	page := h.get(typePage)
	require.Equal(t, http.StatusOK, page.StatusCode)
	require.Contains(t, page.body, "deleted it")
	require.NotContains(t, page.body, typePage+"/back", "it takes an admin")
	h.signIn("root")
	require.Equal(t, 1, strings.Count(h.get(typePage).body, typePage+"/back"))
	form := url.Values{"etag": {"none"}, "version": {"1"}}
	planned := h.post(typePage+"/back", form)
	require.Equal(t, http.StatusOK, planned.StatusCode, planned.body)
	require.Contains(t, planned.body, "https://orders.example.com/close")
	form.Set("sure", "yes")
	require.Equal(t, typePage+"?done=edit", h.post(typePage+"/back", form).Header.Get("Location"))
	require.Equal(t, []string{"put order-close"}, h.shelf.changes())
	require.Equal(t, []int{1, 1}, h.shelf.kept, "planned and made")
	h.shelf.rules = []policy.Policy{gone}
	require.Equal(t, http.StatusPreconditionFailed, h.post(typePage+"/back", form).StatusCode, "it was put back meanwhile")
}

// Who may pause a type pauses it, and who may see it sees it.
func TestPausingATypeByRole(t *testing.T) {
	t.Parallel()
	h := open(t, plan{keys: staff, secret: seal.NewKey()})
	h.shelf.rules = []policy.Policy{{BusinessType: "order-close"}, {BusinessType: "invoice"}}
	for who, c := range map[string]struct {
		sees, may []string
	}{
		"root": {[]string{"order-close", "invoice"}, []string{"order-close", "invoice"}},
		"anna": {[]string{"order-close"}, []string{"order-close"}},
		"eve":  {[]string{"order-close", "invoice"}, nil},
		"otto": {[]string{"invoice"}, []string{"invoice"}},
	} {
		h.signIn(who)
		require.Equal(t, http.StatusOK, h.get("/console/").StatusCode)
		page := h.get("/console/types").body
		require.Equal(t, len(c.may) > 0, strings.Contains(page, ">What to do</th>"), "%s: no column is there for nothing", who)
		for _, businessType := range []string{"order-close", "invoice"} {
			require.Equal(t, contains(c.sees, businessType), strings.Contains(page, ">"+businessType+"</a>"), "%s %s", who, businessType)
			require.Equal(t, contains(c.may, businessType), strings.Contains(page, "types/"+businessType+"/pause"), "%s %s", who, businessType)
			before, recorded := len(h.shelf.changes()), len(h.records())
			answer := h.post("/console/types/"+businessType+"/pause", url.Values{"note": {"fire"}})
			require.Len(t, h.records()[recorded:], 1)
			require.Equal(t, "console", h.records()[recorded].Who.Via)
			if !contains(c.may, businessType) {
				require.Equal(t, http.StatusForbidden, answer.StatusCode, "%s %s", who, businessType)
				require.Len(t, h.shelf.changes(), before)
				continue
			}
			require.Equal(t, "/console/types?done=pause", answer.Header.Get("Location"), answer.body)
			require.Equal(t, "hold "+businessType+" fire", h.shelf.changes()[before])
			require.Equal(t, http.StatusSeeOther, h.post("/console/types/"+businessType+"/resume", nil).StatusCode)
			require.Equal(t, "release "+businessType+" ", h.shelf.changes()[before+1])
		}
	}
	require.Equal(t, http.StatusNotFound, h.post("/console/types/invoice/explode", nil).StatusCode)
}

// What is pressed on the page of a type leads back there, to the time that its address names.
func TestPausingOnThePageOfAType(t *testing.T) {
	t.Parallel()
	h := open(t, plan{})
	h.shelf.rules = []policy.Policy{closing()}
	require.Contains(t, h.get(typePage+"?at=02:41").body, `<input type="hidden" name="back" value="`+typePage+`?at=02:41">`)
	form := url.Values{"note": {"fire"}, "back": {typePage + "?at=02:41&done=edit"}}
	require.Contains(t, h.get(typePage+"?at=02:41&done=edit").body, `name="back" value="`+typePage+`?at=02%3A41">`, "what was done is said once")
	paused := h.post(typePage+"/pause", form)
	require.Equal(t, typePage+"?at=02%3A41&done=pause", paused.Header.Get("Location"), paused.body)
	require.Contains(t, h.get(paused.Header.Get("Location")).body, "Its callbacks are paused.")
	form.Set("note", strings.Repeat("fire ", 100))
	refused := h.post(typePage+"/pause", form)
	require.Equal(t, http.StatusUnprocessableEntity, refused.StatusCode)
	require.Contains(t, refused.body, `<h2 id="policy">`)
	require.Contains(t, refused.body, `<details class="ask" open>`)
	require.Contains(t, refused.body, `name="note" value="`+strings.TrimSpace(strings.Repeat("fire ", 100)))
	for _, back := range []string{"https://elsewhere.example/", "//elsewhere.example/", "/v1/timers", typePage + "/../../v1"} {
		form := url.Values{"back": {back}}
		require.Equal(t, "/console/?done=resume", h.post(typePage+"/resume", form).Header.Get("Location"), back)
	}
}

// The lines of an empty console work as they stand there: they name this gateway, and the key where one is asked for.
func TestTheLinesOfAnEmptyConsole(t *testing.T) {
	t.Parallel()
	h := open(t, plan{})
	page := h.get("/console/").body
	require.Regexp(t, `(?s)<code>curl -sS -X PUT `+h.url+`/v1/policies/demo -H 'Content-Type[^\n]*\ncurl -sS `+h.url+`/v1/timers [^\n]*\nwakecall listen --type demo --server `+h.url+`</code>`,
		page, "the last line does not end, so none is behind it")
	named := open(t, plan{look: site.Look{Command: "/opt/wakecall"}})
	require.Contains(t, named.get("/console/").body, "\n/opt/wakecall listen")
	asked := open(t, plan{keys: staff, secret: seal.NewKey()})
	asked.signIn("root")
	require.Equal(t, 2, strings.Count(asked.get("/console/").body, "Authorization: Bearer $WAKECALL_API_KEY"))
}

// So do the lines of a timer.
func TestTheLinesOfATimer(t *testing.T) {
	t.Parallel()
	h := open(t, plan{})
	h.shelf.views = []timer.View{viewOf(timer.Scheduled)}
	page := h.get("/console/timers/order-close/1").body
	require.Contains(t, page, "<code>curl -sS "+h.url+"/v1/timers/order-close/1</code>")
	require.Contains(t, page, "<code>wakecall get order-close/1 --server "+h.url+"</code>")
	asked := open(t, plan{keys: staff, secret: seal.NewKey()})
	asked.shelf.views = h.shelf.views
	asked.signIn("root")
	require.Contains(t, html.UnescapeString(asked.get("/console/timers/order-close/1").body), `/v1/timers/order-close/1 -H "Authorization: Bearer $WAKECALL_API_KEY"</code>`)
}

// The rate of a type is edited in its row, by who may edit its policy: what changes is shown first, and is
// made of what was shown only.
func TestTheRateIsEditedInItsRow(t *testing.T) {
	t.Parallel()
	h := open(t, plan{keys: staff, secret: seal.NewKey()})
	h.shelf.rules = []policy.Policy{closing()}
	for who, may := range map[string]bool{"root": true, "anna": false, "eve": false} {
		h.signIn(who)
		for _, page := range []string{"/console/types", "/console/"} {
			require.Equal(t, may, strings.Contains(h.get(page).body, `action="/console/types/order-close/edit"`), "%s %s", who, page)
		}
	}
	h.signIn("root")
	row := h.get("/console/types").body
	require.Contains(t, row, `name="callbacks_per_second" value="20"`)
	require.Contains(t, row, `name="etag" value="&#34;1&#34;"`)
	form := url.Values{"etag": {`"1"`}, "callbacks_per_second": {"35"}}
	planned := h.post(typePage+"/edit", form)
	require.Equal(t, http.StatusOK, planned.StatusCode)
	require.Contains(t, planned.body, `<del><code dir="auto">20</code></del>`)
	require.Contains(t, planned.body, `<ins><code dir="auto">35</code></ins>`)
	require.Equal(t, 1, strings.Count(planned.body, "<del>"), "nothing else changes")
	require.Empty(t, h.shelf.changes())
	form.Set("sure", "yes")
	require.Equal(t, typePage+"?done=edit", h.post(typePage+"/edit", form).Header.Get("Location"))
	require.InEpsilon(t, 35, *h.shelf.stored[0].Limits.CallbacksPerSecond, 0.001)
	h.shelf.rules[0].Version = 2
	late := h.post(typePage+"/edit", form)
	require.Equal(t, http.StatusPreconditionFailed, late.StatusCode)
	require.Contains(t, late.body, "changed meanwhile")
	h.shelf.down = true
	require.NotContains(t, h.get("/console/types").body, "/edit", "nothing can be changed now")
}

// The note of a pause that is refused stays in the row of its type, which comes first.
func TestARefusedPauseKeepsItsNote(t *testing.T) {
	t.Parallel()
	h := open(t, plan{})
	for n := range 60 {
		h.shelf.rules = append(h.shelf.rules, policy.Policy{BusinessType: fmt.Sprintf("type-%02d", n)})
	}
	note := strings.Repeat("x", 300)
	refused := h.post("/console/types/type-59/pause", url.Values{"note": {note}})
	require.Equal(t, http.StatusUnprocessableEntity, refused.StatusCode)
	require.Empty(t, h.shelf.changes())
	require.Equal(t, 1, strings.Count(refused.body, note))
	_, row, _ := strings.Cut(refused.body, `action="/console/types/type-59/pause"`)
	row, _, _ = strings.Cut(row, "</form>")
	require.Contains(t, row, `<details class="ask" open>`)
	require.Contains(t, row, `name="note" value="`+note+`"`)
	require.NotContains(t, h.get("/console/types").body, `<details class="ask" open>`)
}

// Hundreds of types are shown by the page, the gravest first, and the overview has the gravest only.
func TestHundredsOfTypes(t *testing.T) {
	t.Parallel()
	h := open(t, plan{})
	for n := range 230 {
		rule := closing()
		rule.BusinessType = fmt.Sprintf("order-%03d", n)
		h.shelf.rules = append(h.shelf.rules, rule)
	}
	h.shelf.rules[229].Paused = true
	rows := regexp.MustCompile(`<tr id="row-([^"]+)"`)
	shown := func(page string) (types []string) {
		for _, row := range rows.FindAllStringSubmatch(page, -1) {
			types = append(types, row[1])
		}
		return types
	}
	overview := h.get("/console/").body
	require.Len(t, shown(overview), tuning.TypesGravest)
	require.Equal(t, []string{"order-229", "order-000"}, shown(overview)[:2])
	require.Contains(t, overview, `<a href="/console/types">All 230 types</a>`)

	var all []string
	next := regexp.MustCompile(`<a href="([^"]+)" rel="next">`)
	for path := "/console/types"; path != ""; {
		page := h.get(path).body
		require.Equal(t, path != "/console/types", strings.Contains(page, ">First page</a>"))
		all = append(all, shown(page)...)
		if path = ""; next.MatchString(page) {
			path = next.FindStringSubmatch(page)[1]
		}
	}
	require.Len(t, all, 230)
	slices.Sort(all)
	require.Len(t, slices.Compact(all), 230)
	for _, from := range []string{"230", "-1", "x", "99999999999999999999"} {
		require.Equal(t, "order-229", shown(h.get("/console/types?from=" + from).body)[0], from)
	}
	h.shelf.rules = h.shelf.rules[:5]
	require.NotContains(t, h.get("/console/").body, "All 5 types")
}
