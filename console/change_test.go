package console_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/trail"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/seal"
	"github.com/wakecall/wakecall/internal/tuning"
)

// statusFor is a status in which an action is offered.
var statusFor = map[string]timer.Status{
	"fire": timer.Scheduled, "move": timer.Scheduled, "edit": timer.Scheduled, "pause": timer.Scheduled, "resume": timer.Paused, "redeliver": timer.Failed, "cancel": timer.Delivering,
}

func (h *harness) records() (all []trail.Record) {
	h.t.Helper()
	for line := range strings.Lines(h.audited.String()) {
		var one trail.Record
		require.NoError(h.t, json.Unmarshal([]byte(line), &one))
		all = append(all, one)
	}
	return all
}

// Each action, by each role: who may is told so and the change is made once; who may not is
// refused in the API's words, and sees no button. Each leaves one record, as the API's own.
func TestWhoMayDoWhat(t *testing.T) {
	t.Parallel()
	h := open(t, plan{keys: staff, secret: seal.NewKey()})
	for who, may := range map[string]bool{"root": true, "anna": true, "eve": false, "otto": false} {
		h.signIn(who)
		for action, status := range statusFor {
			view := viewOf(status)
			h.shelf.views = []timer.View{view}
			before, recorded := len(h.shelf.changes()), len(h.records())
			form := tagOf(view)
			form.Set("delay", "5m")
			form.Set("url", "https://orders.example/close")
			answer := h.post("/console/timers/order-close/1/"+action, form)
			page := h.get("/console/timers/order-close/1")
			offered := strings.Contains(page.body, `action="/console/timers/order-close/1/`+action+`"`)
			require.Equal(t, may, offered, "%s %s", who, action)
			records := h.records()[recorded:]
			require.Len(t, records, 1, "%s %s", who, action)
			require.Equal(t, "console", records[0].Who.Via)
			require.Equal(t, who, records[0].Who.Name)
			require.Equal(t, "order-close", records[0].Target.BusinessType)
			if !may {
				require.Equal(t, http.StatusForbidden, answer.StatusCode, "%s %s", who, action)
				require.Contains(t, answer.body, "The call needs the role operator for its business type.")
				require.Len(t, h.shelf.changes(), before)
				require.Equal(t, trail.Refused, records[0].Outcome)
				continue
			}
			require.Equal(t, http.StatusSeeOther, answer.StatusCode, "%s %s: %s", who, action, answer.body)
			require.Equal(t, "/console/timers/order-close/1?done="+action, answer.Header.Get("Location"))
			require.Equal(t, action+" order-close/1", h.shelf.changes()[before])
			require.Contains(t, h.get(answer.Header.Get("Location")).body, `<p class="done" role="status">`)
		}
		if who == "otto" {
			require.Equal(t, http.StatusForbidden, h.get("/console/timers/order-close/1").StatusCode, "a foreign type")
		}
	}
}

// What was typed stays in the form that was refused, and no other form opens with it.
func TestARefusedChangeOpensItsOwnForm(t *testing.T) {
	t.Parallel()
	h := open(t, plan{})
	view := viewOf(timer.Scheduled)
	h.shelf.views = []timer.View{view}
	form := tagOf(view)
	form.Set("delay", "soon")
	refused := h.post("/console/timers/order-close/1/move", form)
	require.Equal(t, http.StatusUnprocessableEntity, refused.StatusCode)
	require.Contains(t, refused.body, `<details class="ask" open><summary>Move</summary><div><label>from now, by <input name="delay" value="soon"`)
	require.Equal(t, 1, strings.Count(refused.body, `<details class="ask" open>`))
	require.NotContains(t, h.get("/console/timers/order-close/1").body, `<details class="ask" open>`)
}

// No action is offered that would be refused for the state of the timer.
func TestActionsByState(t *testing.T) {
	t.Parallel()
	h := open(t, plan{})
	for status, want := range map[timer.Status][]string{
		timer.Scheduled: {"fire", "move", "edit", "pause", "cancel"}, timer.Paused: {"fire", "move", "edit", "resume", "cancel"}, timer.Delivering: {"fire", "move", "edit", "pause", "cancel"},
		timer.Failed: {"redeliver"}, timer.Delivered: nil, timer.Expired: nil, timer.Cancelled: nil,
	} {
		h.shelf.views = []timer.View{viewOf(status)}
		page := h.get("/console/timers/order-close/1").body
		for action := range statusFor {
			offered := strings.Contains(page, `action="/console/timers/order-close/1/`+action+`"`)
			require.Equal(t, contains(want, action), offered, "%s %s", status, action)
		}
		require.Equal(t, want == nil, strings.Contains(page, "Nothing can be done"))
	}
	cancelling := viewOf(timer.Scheduled)
	cancelling.CancelRequested = true
	h.shelf.views = []timer.View{cancelling}
	require.NotContains(t, h.get("/console/timers/order-close/1").body, `/cancel"`)
}

func containsText(page, text string) bool { return strings.Contains(page, text) }

func contains(all []string, one string) bool {
	for _, each := range all {
		if each == one {
			return true
		}
	}
	return false
}

// What changed behind the page is shown, and asked for again, with what was typed.
func TestAChangeThatCameTooLate(t *testing.T) {
	t.Parallel()
	h := open(t, plan{})
	seen := viewOf(timer.Scheduled)
	now := seen
	now.Memo.Revision, now.Revision = 2, 2
	h.shelf.views = []timer.View{now}
	h.shelf.story = []timer.HistoryEntry{
		{Event: timer.HistoryBooked, Revision: 1, Who: &wire.Actor{Name: "shop"}},
		{Event: timer.HistoryChanged, Revision: 2, Who: &wire.Actor{Name: "ben"}, Changes: []timer.FieldChange{{Field: "priority", To: 1}}},
	}
	form := tagOf(seen)
	form.Set("delay", "17m")
	answer := h.post("/console/timers/order-close/1/move", form)
	require.Equal(t, http.StatusPreconditionFailed, answer.StatusCode)
	require.Empty(t, h.shelf.changes())
	require.Contains(t, answer.body, "The revision of the timer is not the one in If-Match.")
	require.Contains(t, answer.body, "changed meanwhile")
	require.Contains(t, answer.body, `value="17m"`)
	above, _, _ := strings.Cut(answer.body, `class="sentence"`)
	require.Contains(t, above, `<span dir="auto">ben</span>`, "it says who changed what since then")
	require.Contains(t, above, "<code>priority</code>")
	require.NotContains(t, above, "shop", "and not what was shown before")
	require.Contains(t, answer.body, strings.ReplaceAll(tagOf(now).Get("etag"), `"`, "&#34;"))
	require.Equal(t, http.StatusSeeOther, h.post("/console/timers/order-close/1/move", url.Values{"etag": {tagOf(now).Get("etag")}, "delay": {"17m"}}).StatusCode)
}

// What an answer to a form cannot read is asked for again: it has no stream that would bring it.
func TestAnAnswerToAFormIsCompletedLater(t *testing.T) {
	t.Parallel()
	h := open(t, plan{})
	now := viewOf(timer.Scheduled)
	form := tagOf(now)
	form.Set("delay", "17m")
	now.Memo.Revision, now.Revision = 2, 2
	h.shelf.views, h.shelf.storyless = []timer.View{now}, true
	const again = `hx-get="` + timerPath + `" hx-trigger="again" hx-target="closest section" hx-select="[aria-labelledby=story]"`
	answer := h.post(timerPath+"/move", form)
	require.Equal(t, http.StatusPreconditionFailed, answer.StatusCode)
	require.Contains(t, answer.body, again)
	part := h.get(timerPath, "HX-Request", "true")
	require.Contains(t, part.body, again, "and again")
	page := h.get(timerPath)
	require.Contains(t, page.body, "This cannot be read now.")
	require.NotContains(t, page.body, again, "its stream brings it")
	h.shelf.storyless = false
	require.NotContains(t, h.post(timerPath+"/move", form).body, again)
}

// A selected timer that was changed since the list was shown is left alone, and what changed stands beside it.
func TestASelectedTimerThatWasChanged(t *testing.T) {
	t.Parallel()
	h := open(t, plan{})
	now := viewOf(timer.Scheduled)
	now.Memo.Revision, now.Revision = 3, 3
	h.shelf.views = []timer.View{now}
	h.shelf.story = []timer.HistoryEntry{
		{Event: timer.HistoryBooked, Revision: 1, Who: &wire.Actor{Name: "shop"}},
		{Event: timer.HistoryChanged, Revision: 2, Who: &wire.Actor{Name: "ben"}},
		{Event: timer.HistoryChanged, Revision: 3, Who: &wire.Actor{Name: "cara"}, Changes: []timer.FieldChange{{Field: "priority", To: 1}}},
	}
	form := url.Values{"action": {"cancel"}, "sure": {"yes"}, "row": {"order-close/1 2 1 " + now.WebhookID}}
	_, row, _ := strings.Cut(h.post("/console/timers/selected", form).body, "It was changed meanwhile, and was left alone.")
	require.Contains(t, row, `<span dir="auto">cara</span>`)
	require.Contains(t, row, "<code>priority</code>")
	require.NotContains(t, row, "ben", "that was shown")
	require.Empty(t, h.shelf.changes())
	form.Set("row", "order-close/1 7 1 msg_0")
	require.Contains(t, h.post("/console/timers/selected", form).body, "shop", "it is another booking")
}

// A redelivery is of the failure that was shown, and of no booking after it.
func TestARedeliveryOfAnotherBooking(t *testing.T) {
	t.Parallel()
	h := open(t, plan{})
	seen, now := viewOf(timer.Failed), viewOf(timer.Failed)
	now.Memo.Booking = "another"
	h.shelf.views = []timer.View{now}
	answer := h.post("/console/timers/order-close/1/redeliver", tagOf(seen))
	require.Equal(t, http.StatusPreconditionFailed, answer.StatusCode, answer.body)
	require.Contains(t, answer.body, "changed meanwhile")
	require.Equal(t, http.StatusBadRequest, h.post("/console/timers/order-close/1/redeliver", nil).StatusCode, "it is made for nothing that was shown")
	require.Empty(t, h.shelf.changes())
	require.Equal(t, http.StatusSeeOther, h.post("/console/timers/order-close/1/redeliver", tagOf(now)).StatusCode)
}

// What ended before the change came is said to have come first, with what happened meanwhile.
func TestAnEndThatCameFirst(t *testing.T) {
	t.Parallel()
	h := open(t, plan{})
	seen := viewOf(timer.Scheduled)
	rung := func(status timer.Status) timer.View {
		now := seen
		now.Memo.Revision, now.Revision, now.Status = 2, 2, status
		return now
	}
	for status, first := range map[timer.Status]string{
		timer.Delivered: "The delivery came first", timer.Failed: "it had failed", timer.Expired: "it had expired", timer.Cancelled: "A cancel came first",
	} {
		h.shelf.views = []timer.View{rung(status)}
		h.shelf.story = []timer.HistoryEntry{
			{Event: timer.HistoryBooked, Revision: 1, Who: &wire.Actor{Name: "shop"}},
			{Event: timer.HistoryFired, Revision: 2, Who: &wire.Actor{Name: "ben"}},
			{Event: timer.HistoryEvent(status)},
		}
		for _, action := range []string{"cancel", "move", "fire", "edit", "pause"} {
			form := tagOf(seen)
			form.Set("delay", "5m")
			form.Set("url", "https://orders.example/close")
			answer := h.post(timerPath+"/"+action, form)
			require.Equal(t, http.StatusPreconditionFailed, answer.StatusCode)
			above, _, _ := strings.Cut(answer.body, `class="sentence"`)
			require.Contains(t, above, "The revision of the timer is not the one in If-Match.", "the words of the API stay")
			require.Contains(t, above, first, "%s %s", action, status)
			require.NotContains(t, above, "press again")
			require.Contains(t, above, `<span dir="auto">ben</span>`)
			require.NotContains(t, above, "shop")
			require.Contains(t, above, "<strong>"+string(status)+"</strong>", "its end is what changed")
		}
		list := h.post("/console/timers/selected", url.Values{"action": {"cancel"}, "sure": {"yes"}, "row": {"order-close/1 1 0 msg_1"}})
		require.Contains(t, list.body, first)
	}
	require.Empty(t, h.shelf.changes())
	h.shelf.views = []timer.View{rung(timer.Paused)}
	require.NotContains(t, h.post(timerPath+"/cancel", tagOf(seen)).body, "came first", "the control: it goes on")
	require.NotContains(t, h.post("/console/timers/selected", url.Values{"action": {"cancel"}, "sure": {"yes"}, "row": {"order-close/1 1 0 msg_1"}}).body, "came first")
}

// Nothing changes by GET, from another origin, without the ETag of what was shown, or by an
// action that there is not.
func TestChangesThatAreNotMade(t *testing.T) {
	t.Parallel()
	h := open(t, plan{keys: staff})
	h.signIn("root")
	view := viewOf(timer.Scheduled)
	h.shelf.views = []timer.View{view}
	path, form := "/console/timers/order-close/1/", tagOf(view)
	for name, c := range map[string]struct {
		answer reply
		want   int
	}{
		"by GET":               {h.get(path + "cancel?" + form.Encode()), http.StatusSeeOther},
		"from another origin":  {h.post(path+"cancel", form, "Origin", "https://evil.example"), http.StatusForbidden},
		"from another site":    {h.post(path+"cancel", form, "Sec-Fetch-Site", "cross-site"), http.StatusForbidden},
		"from a sandbox":       {h.post(path+"cancel", form, "Origin", "null"), http.StatusForbidden},
		"without a tag":        {h.post(path+"cancel", nil), http.StatusBadRequest},
		"with another tag":     {h.post(path+"cancel", url.Values{"etag": {"x"}}), http.StatusUnprocessableEntity},
		"an unknown action":    {h.post(path+"explode", form), http.StatusNotFound},
		"too large a form":     {h.post(path+"pause", url.Values{"etag": form["etag"], "note": {strings.Repeat("x", 128<<10)}}), http.StatusBadRequest},
		"a move to nowhere":    {h.post(path+"move", form), http.StatusUnprocessableEntity},
		"a move to nonsense":   {h.post(path+"move", url.Values{"etag": form["etag"], "at": {"soon"}}), http.StatusUnprocessableEntity},
		"signing in elsewhere": {h.post("/console/login", url.Values{"key": {"root"}}, "Origin", "https://evil.example"), http.StatusForbidden},
		"signing out":          {h.post("/console/logout", nil, "Sec-Fetch-Site", "cross-site"), http.StatusForbidden},
	} {
		require.Equal(t, c.want, c.answer.StatusCode, "%s: %s", name, c.answer.body)
	}
	require.Empty(t, h.shelf.changes())
	require.Equal(t, http.StatusSeeOther, h.post(path+"cancel", form, "Sec-Fetch-Site", "same-origin").StatusCode, "the control")
	require.Equal(t, []string{"cancel order-close/1"}, h.shelf.changes())

	*h.now = h.now.Add(tuning.SessionIdle)
	over := h.post(path+"cancel", form)
	require.Equal(t, "/console/login?next="+url.QueryEscape("/console/again"), over.Header.Get("Location"), "the form comes back, and is not sent")
	require.Len(t, h.shelf.changes(), 1)
}
