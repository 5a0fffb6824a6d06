package console_test

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/job"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/bulk"
	"github.com/wakecall/wakecall/engine/jobs"
	"github.com/wakecall/wakecall/internal/seal"
)

// bulkJobs are those of a shelf. A count finds as many as the shelf says, at once.
type bulkJobs struct{ *shelf }

func (b bulkJobs) Start(_ context.Context, order job.Bulk) (bulk.Job, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	made := bulk.Job{ID: order.ID, Order: order, Status: job.Running, StartedAt: 1}
	if order.DryRun {
		made.Status, made.Counts.Found = job.Done, &b.matching
	}
	b.jobs = append(b.jobs, made)
	b.changed = append(b.changed, "bulk "+string(order.Operation)+" "+order.Filter.BusinessType)
	return made, nil
}

func (b bulkJobs) Get(_ context.Context, id string) (bulk.Job, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if i := slices.IndexFunc(b.jobs, func(one bulk.Job) bool { return one.ID == id }); i >= 0 {
		return b.jobs[i], nil
	}
	return bulk.Job{}, jobs.NoSuchJob(jobs.BulkNoun)
}

func (b bulkJobs) List(context.Context, jobs.Request) ([]bulk.Job, []byte, error) {
	return b.jobs, b.next, nil
}

func (b bulkJobs) Stop(ctx context.Context, id string, _ time.Duration) (bulk.Job, error) {
	found, err := b.Get(ctx, id)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.changed = append(b.changed, "stop "+id)
	return found, err
}

func (b bulkJobs) Results(_ context.Context, _ string, see func(job.Line) error) error {
	return see(job.Line{Key: wire.Key{BusinessType: "order-close", BusinessID: "7"}})
}

// What was seen is what is touched: first the timers are counted, and what is carried out has the
// filter of the count.
func TestAllThatMatch(t *testing.T) {
	t.Parallel()
	h := open(t, plan{keys: staff, secret: seal.NewKey()})
	h.signIn("anna")
	h.shelf.views, h.shelf.matching = []timer.View{viewOf(timer.Failed)}, 1312
	search := "type:order-close status:failed label:customer=42 ended:1h"
	listed := h.get(list + "?" + url.Values{"q": {search}}.Encode()).body
	require.Contains(t, listed, `action="/console/jobs"`)
	require.Contains(t, listed, `<option value="redeliver">`)
	require.NotContains(t, listed, `<option value="cancel">`, "it is of no use for those that have failed")

	counted := h.post("/console/jobs", url.Values{"q": {search}, "operation": {"redeliver"}})
	require.Equal(t, http.StatusSeeOther, counted.StatusCode, counted.body)
	order := h.shelf.jobs[0].Order
	require.True(t, order.DryRun)
	require.Equal(t, timer.Labels{"customer": "42"}, order.Filter.Labels)
	require.Equal(t, time.Hour, order.Filter.EndedTo.Time().Sub(order.Filter.EndedFrom.Time()))
	at := counted.Header.Get("Location")
	page := h.get(at).body
	require.Contains(t, page, "1,312 timers match")
	require.Contains(t, page, `href="/console/timers/order-close/7"`, "some of those that were counted")
	require.Contains(t, page, "Type 1,312 to go on:")

	for _, wrong := range []string{"", "1311", "x"} {
		refused := h.post(at+"/go", url.Values{"number": {wrong}, "per_second": {"50"}})
		require.Equal(t, http.StatusUnprocessableEntity, refused.StatusCode)
		require.Contains(t, refused.body, "not the number")
	}
	require.Len(t, h.shelf.jobs, 1)
	slow := h.post(at+"/go", url.Values{"number": {"1312"}, "per_second": {"slow"}})
	require.Equal(t, http.StatusUnprocessableEntity, slow.StatusCode)
	require.Contains(t, slow.body, "/per_second", "a rate that is none is not another one")
	require.Len(t, h.shelf.jobs, 1)
	gone := h.post(at+"/go", url.Values{"number": {" 1,312"}, "per_second": {"50"}})
	require.Equal(t, at+"-go", gone.Header.Get("Location"), gone.body)
	carried := h.shelf.jobs[1].Order
	require.False(t, carried.DryRun)
	require.EqualValues(t, 50, carried.PerSecond)
	require.Equal(t, order.Filter, carried.Filter)
	require.Equal(t, order.ID, carried.Counted, "the timers that were counted, and no other")
	running := h.get(gone.Header.Get("Location")).body
	require.Contains(t, running, `http-equiv="refresh"`)
	require.Contains(t, running, "-go/stop")
	require.Equal(t, http.StatusSeeOther, h.post(gone.Header.Get("Location")+"/stop", nil).StatusCode)
	require.Equal(t, http.StatusConflict, h.post(gone.Header.Get("Location")+"/go", nil).StatusCode, "it counts nothing")

	results := h.get(gone.Header.Get("Location") + "/results")
	require.Equal(t, "application/x-ndjson", results.Header.Get("Content-Type"))
	require.Contains(t, results.Header.Get("Content-Disposition"), "attachment")
	require.Contains(t, results.body, `"business_id":"7"`)
	require.Contains(t, h.get("/console/jobs").body, "Count: Redeliver")
}

// A job that is being stopped says so, to each who may look, in place of the button that stops it.
func TestAJobThatIsBeingStopped(t *testing.T) {
	t.Parallel()
	h := open(t, plan{keys: staff, secret: seal.NewKey()})
	h.signIn("anna")
	at := h.post("/console/jobs", url.Values{"q": {"type:order-close"}, "operation": {"cancel"}}).Header.Get("Location")
	h.shelf.jobs[0].Status = job.Running
	require.Contains(t, h.get(at).body, at+"/stop")
	require.NotContains(t, h.get(at).body, "It is being stopped.")
	h.shelf.jobs[0].CancelRequested = true
	for _, who := range []string{"anna", "eve"} {
		h.signIn(who)
		require.Contains(t, h.get(at).body, "It is being stopped.", who)
		require.NotContains(t, h.get(at).body, at+"/stop", who)
	}
	h.signIn("anna")
	h.shelf.jobs[0].Status = job.Stopped
	require.NotContains(t, h.get(at).body, "It is being stopped.")
}

// What a job selects may be open on a side, and the list that its page leads to has the same.
func TestAJobWithAnOpenSpan(t *testing.T) {
	t.Parallel()
	h := open(t, plan{})
	h.shelf.matching = 7
	for span, operation := range map[string]string{
		"due:..2026-12-24T00:00:00.000Z": "cancel", "due:2026-11-24T00:00:00.000Z..": "cancel", "ended:..2026-12-24T00:00:00.000Z": "redeliver",
	} {
		at := h.post("/console/jobs", url.Values{"q": {"type:order-close " + span}, "operation": {operation}}).Header.Get("Location")
		require.Contains(t, h.get(at).body, "<code>type:order-close "+span+"</code>")
		require.NotContains(t, h.get(list+"?"+url.Values{"q": {"type:order-close " + span}}.Encode()).body, "not understood")
	}
	require.Contains(t, h.get(list+"?q=due:..").body, "not understood", "the control")
}

// The form for all that match asks for what its operations take, and for nothing that none of them would heed.
func TestTheFormForAllAsksForWhatIsOfUse(t *testing.T) {
	t.Parallel()
	h := open(t, plan{})
	for status, edited := range map[timer.Status]bool{timer.Scheduled: true, timer.Failed: false} {
		h.shelf.views = []timer.View{viewOf(status)}
		page := h.get("/console/timers?q=type:order-close+status:" + string(status)).body
		require.Contains(t, page, `name="operation"`, status)
		for _, field := range []string{"shift", "url", "labels", "priority", "payload"} {
			require.Equal(t, edited, strings.Contains(page, `name="`+field+`"`), "%s %s", status, field)
		}
	}
}

// What was typed stays in a form that is refused: that of a count, and that by which it is carried out.
func TestARefusedJobKeepsWhatWasTyped(t *testing.T) {
	t.Parallel()
	h := open(t, plan{keys: staff, secret: seal.NewKey()})
	h.signIn("anna")
	h.shelf.matching = 1312
	form := url.Values{
		"q": {"type:order-close status:scheduled"}, "operation": {"edit"}, "url": {"nowhere"}, "labels": {"customer=42"}, "priority": {"high"}, "shift": {"2h"}, "payload": {"yes"},
	}
	refused := h.post("/console/jobs", form)
	require.Equal(t, http.StatusUnprocessableEntity, refused.StatusCode)
	require.Empty(t, h.shelf.jobs)
	for _, typed := range []string{
		"/edit/priority", `name="q" value="type:order-close status:scheduled"`, `<option value="edit" selected>`, `name="url" value="nowhere"`, `name="labels" value="customer=42"`,
		`name="priority" value="high"`, `name="shift" value="2h"`, `name="payload" value="yes" checked>`,
	} {
		require.Contains(t, refused.body, typed)
	}
	require.NotContains(t, refused.body, `<option value="redeliver"`, "it is of no use for those that wait")
	form.Set("priority", "1")
	form.Set("url", "https://new.example.com/close")
	at := h.post("/console/jobs", form).Header.Get("Location")
	path, _, _ := strings.Cut(at, "?")

	form.Set("number", "1,312")
	form.Set("per_second", "slow")
	form.Set("content", `{"n": 1}`)
	slow := h.post(path+"/go", form)
	require.Equal(t, http.StatusUnprocessableEntity, slow.StatusCode)
	for _, typed := range []string{"/per_second", `name="number" value="1,312"`, `name="per_second" value="slow"`, "{&#34;n&#34;: 1}</textarea>"} {
		require.Contains(t, slow.body, typed)
	}
	form.Set("number", "12")
	form.Set("per_second", "7")
	require.Contains(t, h.post(path+"/go", form).body, `name="per_second" value="7"`, "another number is no reason to lose the rate")
	require.Len(t, h.shelf.jobs, 1)
	h.signIn("eve")
	require.Equal(t, http.StatusForbidden, h.post(path+"/go", form).StatusCode)
	require.NotContains(t, h.post("/console/jobs", form).body, `name="url"`, "another form would not help")
	require.Equal(t, http.StatusForbidden, h.post(path+"/stop", nil).StatusCode)
}

// An edit of all that match says what it changes before it is carried out, and then changes that.
func TestAllThatMatchAreEdited(t *testing.T) {
	t.Parallel()
	h := open(t, plan{})
	h.shelf.matching = 2
	form := url.Values{
		"q": {"type:order-close"}, "operation": {"edit"}, "url": {"https://new.example.com/close"}, "labels": {"customer=42 shop=7"}, "priority": {"1"},
	}
	at := h.post("/console/jobs", form).Header.Get("Location")
	page := h.get(at).body
	for _, shown := range []string{"<dd dir=\"auto\">https://new.example.com/close</dd>", "<dd dir=\"auto\">customer=42 shop=7</dd>"} {
		require.Contains(t, page, shown)
	}
	path, _, _ := strings.Cut(at, "?")
	require.Contains(t, page, `action="`+path+`/go"`)
	require.NotContains(t, page, "A count does not keep what it would change.", "the control")
	listed := h.get(path).body
	require.NotContains(t, listed, `action="`+path+`/go"`, "the list of jobs does not know what it would change")
	for _, shown := range []string{"A count does not keep what it would change.", `<option value="edit" selected>`, `name="q" value="type:order-close"`} {
		require.Contains(t, listed, shown)
	}
	require.Equal(t, http.StatusUnprocessableEntity, h.post(path+"/go", nil).StatusCode, "nothing is changed that was not shown")
	done := h.post(path+"/go", form)
	require.Equal(t, http.StatusSeeOther, done.StatusCode, done.body)
	edit := h.shelf.jobs[1].Order.Edit
	require.Equal(t, "https://new.example.com/close", edit.Callback.URL)
	require.Equal(t, &timer.Labels{"customer": "42", "shop": "7"}, edit.Labels)
	require.Equal(t, 1, *edit.Priority)
	require.Equal(t, http.StatusUnprocessableEntity, h.post("/console/jobs", url.Values{"operation": {"edit"}}).StatusCode, "it changes nothing")
}

// The payload of an edit is typed where it is carried out: no address has it, and no other page.
func TestThePayloadOfAllThatMatch(t *testing.T) {
	t.Parallel()
	h := open(t, plan{})
	h.shelf.views, h.shelf.matching = []timer.View{viewOf(timer.Scheduled)}, 2
	require.Contains(t, h.get(list+"?q=type:order-close").body, `type="checkbox" name="payload" value="yes"`)
	at := h.post("/console/jobs", url.Values{"q": {"type:order-close"}, "operation": {"edit"}, "payload": {"yes"}}).Header.Get("Location")
	path, query, _ := strings.Cut(at, "?")
	require.Equal(t, "payload=yes", query)
	require.True(t, h.shelf.jobs[0].Order.DryRun)
	require.Contains(t, h.get(at).body, `<textarea name="content"`)
	require.NotContains(t, h.get(path).body, "<textarea", "the control: one that changes no payload")
	for _, wrong := range []string{"", "no JSON", "{} {}"} {
		answer := h.post(path+"/go", url.Values{"payload": {"yes"}, "content": {wrong}})
		require.Equal(t, http.StatusUnprocessableEntity, answer.StatusCode)
		require.Contains(t, answer.body, "This is not JSON.")
		require.Contains(t, answer.body, ">"+wrong+"</textarea>", "what was typed stays")
	}
	require.Len(t, h.shelf.jobs, 1)
	gone := h.post(path+"/go", url.Values{"payload": {"yes"}, "content": {` {"n": 1.10, "id": 12345678901234567890} `}})
	require.Equal(t, path+"-go", gone.Header.Get("Location"), gone.body)
	require.Len(t, h.shelf.jobs, 2)
	require.JSONEq(t, `{"n": 1.10, "id": 12345678901234567890}`, string(h.shelf.jobs[1].Order.Edit.Payload.Data))
	require.Contains(t, string(h.shelf.jobs[1].Order.Edit.Payload.Data), "12345678901234567890", "numbers digit by digit")
	require.NotContains(t, h.get(path+"-go").body, "1234567890123")
}

// A count says how many it has found, to each who may look, and also where it has found none. It is said
// to go on only while it does.
func TestWhatACountHasFound(t *testing.T) {
	t.Parallel()
	h := open(t, plan{keys: staff, secret: seal.NewKey()})
	h.signIn("anna")
	at := h.post("/console/jobs", url.Values{"q": {"type:order-close"}, "operation": {"cancel"}}).Header.Get("Location")
	require.Contains(t, h.get(at).body, "<dt>Found</dt><dd>0</dd>")
	h.shelf.matching = 1312
	h.signIn("eve")
	require.Contains(t, h.get(at).body, "<dt>Found</dt><dd>1,312</dd>")
	require.NotContains(t, h.get(at).body, at+"/go", "she may look only")
	for status, said := range map[job.Status]bool{job.Running: true, job.Stopped: false, job.Failed: false} {
		h.shelf.jobs[0].Status, h.shelf.jobs[0].Counts.Found = status, nil
		page := h.get(at).body
		require.Equal(t, said, strings.Contains(page, "The timers are being found."), status)
		require.NotContains(t, page, "<dt>Found</dt>")
	}
}

func TestFewThatMatchNeedNoNumber(t *testing.T) {
	t.Parallel()
	h := open(t, plan{})
	h.shelf.matching = 100
	at := h.post("/console/jobs", url.Values{"q": {""}, "operation": {"move"}, "shift": {"2h"}}).Header.Get("Location")
	require.NotContains(t, h.get(at).body, `name="number"`)
	require.Equal(t, http.StatusSeeOther, h.post(at+"/go", nil).StatusCode)
	require.Equal(t, 2*time.Hour, h.shelf.jobs[1].Order.Shift.D())
	for _, wrong := range []url.Values{{"operation": {"explode"}}, {"operation": {"cancel"}, "q": {"due:soon"}}} {
		require.Equal(t, http.StatusBadRequest, h.post("/console/jobs", wrong).StatusCode)
	}
	refused := h.post("/console/jobs", url.Values{"operation": {"move"}})
	require.Equal(t, http.StatusUnprocessableEntity, refused.StatusCode)
	require.Contains(t, refused.body, "/shift", "in the API's words")
	require.Equal(t, http.StatusNotFound, h.get("/console/jobs/nowhere").StatusCode)
}

// What was typed for selected timers stays where it is refused, and is asked for again for these alone.
func TestARefusedSelectionKeepsWhatWasTyped(t *testing.T) {
	t.Parallel()
	h := open(t, plan{})
	h.shelf.views = []timer.View{viewOf(timer.Scheduled)}
	rows := []string{"order-close/1 1 0 msg_1", "order-close/gone 1 0 msg_2"}
	typed := map[string]url.Values{"move": {"delay": {"soon"}}, "pause": {"note": {strings.Repeat("x", 300)}}}
	for action, form := range typed {
		form.Set("action", action)
		form["row"] = rows
		require.Contains(t, h.post(list+"/selected", form).body, rows[1], "it is asked about both")
		form.Set("sure", "yes")
		refused := h.post(list+"/selected", form)
		require.Equal(t, http.StatusOK, refused.StatusCode)
		for _, field := range []string{"delay", "note"} {
			if form.Has(field) {
				require.Contains(t, refused.body, `name="`+field+`" value="`+form.Get(field)+`"`, action)
			}
		}
		require.Contains(t, refused.body, `name="row" value="`+rows[0]+`"`)
		require.NotContains(t, refused.body, rows[1], "another text would not help")
		require.Contains(t, refused.body, ": 1 timer</button>")
	}
	require.Empty(t, h.shelf.changes())
	again := url.Values{"action": {"move"}, "delay": {"5m"}, "row": rows[:1], "sure": {"yes"}}
	require.NotContains(t, h.post(list+"/selected", again).body, `name="delay"`, "nothing is left to ask")
	require.Equal(t, []string{"move order-close/1"}, h.shelf.changes())
}

// What was selected is asked about once, and then each timer is changed that is still the one
// that was shown.
func TestSelectedTimers(t *testing.T) {
	t.Parallel()
	h := open(t, plan{keys: staff, secret: seal.NewKey()})
	h.signIn("anna")
	first, second := viewOf(timer.Scheduled), viewOf(timer.Scheduled)
	second.BusinessID = "2"
	h.shelf.views = []timer.View{first, second}
	page := h.get(list + "?q=type:order-close").body
	require.Contains(t, page, `name="row" value="order-close/1 1 0 msg_1"`)
	form := url.Values{"action": {"cancel"}, "row": {"order-close/1 1 0 msg_1", "order-close/2 7 0 msg_1", "order-close/3 1 0 msg_1"}, "back": {list + "?q=type:order-close"}}
	asked := h.post(list+"/selected", form)
	require.Equal(t, http.StatusOK, asked.StatusCode)
	require.Contains(t, asked.body, "Cancel: 3 timers")
	require.Empty(t, h.shelf.changes())

	form.Set("sure", "yes")
	done := h.post(list+"/selected", form)
	require.Equal(t, []string{"cancel order-close/1"}, h.shelf.changes())
	require.Contains(t, done.body, "Done with 1 of 3.")
	require.Contains(t, done.body, "It was changed meanwhile, and was left alone.")
	require.Contains(t, done.body, "There is no such timer.")
	require.Contains(t, done.body, `href="/console/timers?q=type:order-close"`)
	for _, wrong := range []url.Values{{"action": {"cancel"}}, {"action": {"explode"}, "row": form["row"]}, {"action": {"cancel"}, "row": {"x"}}, {"action": {"cancel"}, "row": slices.Repeat(form["row"][:1], 51)}} {
		require.Equal(t, http.StatusBadRequest, h.post(list+"/selected", wrong).StatusCode)
	}
	h.signIn("eve")
	viewed := h.get(list + "?q=type:order-close").body
	require.NotContains(t, viewed, "checkbox\" name=\"row")
	require.NotContains(t, viewed, "/console/jobs\"><input")
	h.shelf.rules = []policy.Policy{{BusinessType: "invoice"}}
	h.signIn("otto")
	form.Set("sure", "yes")
	require.Contains(t, h.post(list+"/selected", form).body, "Done with 0 of 3.")
	require.Len(t, h.shelf.changes(), 1)
}

func TestColumnsOfAList(t *testing.T) {
	t.Parallel()
	h := open(t, plan{})
	view := viewOf(timer.Scheduled)
	view.Labels = timer.Labels{"b": "2", "a": "1"}
	h.shelf.views, h.shelf.next = []timer.View{view}, []byte("more")
	require.NotContains(t, h.get(list).body, "a=1 b=2")
	page := h.get(list + "?q=type:order-close&col=labels&col=webhook&col=nonsense").body
	require.Contains(t, page, "a=1 b=2")
	require.Contains(t, page, "<code>msg_1</code>")
	require.NotContains(t, page, "status-scheduled")
	require.Regexp(t, `href="[^"]*page_token=[^"]*&amp;col=labels&amp;col=webhook"`, page, "the next page has the same")
	require.Contains(t, page, `href="/console/timers?q=is%3Alate&amp;col=labels&amp;col=webhook"`, "so has a saved view")
	require.Contains(t, page, `href="/console/timers?col=labels&amp;col=webhook">All`)
	const kept = `<input type="hidden" name="col" value="labels"><input type="hidden" name="col" value="webhook">`
	box, _, _ := strings.Cut(page, "</form>")
	require.Contains(t, box, kept, "and the next search")
	require.NotContains(t, h.get(list).body, `type="hidden" name="col"`, "the usual ones need no name")
	require.NotContains(t, h.get("/console/types?col=labels").body, `name="col"`)
}

// A search that finds nothing says which part of it finds nothing.
func TestWhatFindsNothing(t *testing.T) {
	t.Parallel()
	h := open(t, plan{})
	h.shelf.views = []timer.View{viewOf(timer.Scheduled)}
	page := h.get(list + "?" + url.Values{"q": {"type:invoice status:scheduled"}}.Encode()).body
	require.Contains(t, page, "By themselves these parts find nothing: <code dir=\"auto\">type:invoice</code>")
	require.Equal(t, 1, strings.Count(page, `<code dir="auto">`))
}
