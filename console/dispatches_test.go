package console_test

import (
	"context"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	apidispatches "github.com/wakecall/wakecall/api/dispatches"
	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/dispatches"
)

// dispatchList are the dispatches of a shelf.
type dispatchList struct {
	apidispatches.Dispatches
	of *shelf
}

func (d dispatchList) Get(_ context.Context, key wire.Key) (dispatch.View, error) {
	for _, one := range d.of.sent {
		if one.Key == key {
			return one, nil
		}
	}
	return dispatch.View{}, &wire.Error{Code: wire.NotFound, Message: "There is no such dispatch."}
}

func (d dispatchList) List(context.Context, dispatches.Request) ([]dispatch.View, []byte, error) {
	return d.of.sent, d.of.next, nil
}

// controls note what they are told.
type controls struct {
	apidispatches.Controls
	of *shelf
}

func (c controls) told(what string, key wire.Key) (dispatch.View, bool, error) {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	c.of.changed = append(c.of.changed, what+" "+key.String())
	return dispatch.View{Key: key}, !c.of.unapplied, nil
}

func (c controls) Pause(_ context.Context, key wire.Key, _ time.Duration) (dispatch.View, bool, error) {
	return c.told("pause", key)
}

func (c controls) Resume(_ context.Context, key wire.Key, _ time.Duration) (dispatch.View, bool, error) {
	return c.told("resume", key)
}

func (c controls) Cancel(_ context.Context, key wire.Key, _ time.Duration) (dispatch.View, bool, error) {
	return c.told("cancel", key)
}

func (c controls) Change(_ context.Context, key wire.Key, _ dispatch.Change, _ time.Duration) (dispatch.View, bool, error) {
	return c.told("rate", key)
}

func (c controls) RetryFailures(_ context.Context, key wire.Key) (dispatch.View, int, error) {
	view, _, err := c.told("retry", key)
	return view, 3, err
}

func (c controls) Failures(context.Context, wire.Key, func(dispatch.Failure) error) error { return nil }

// dispatchOf is the dispatch order-close/d.
func dispatchOf(status dispatch.Status) dispatch.View {
	items := 100
	return dispatch.View{Key: wire.Key{BusinessType: "order-close", BusinessID: "d"}, Status: status, PerSecond: 50, Items: &items, Done: 60, Failed: 2}
}

// Each action of a dispatch is offered where it is of use, and made once.
func TestDispatches(t *testing.T) {
	t.Parallel()
	h := open(t, plan{})
	require.Contains(t, h.get("/console/dispatches").body, "There is no dispatch.")
	const page = "/console/dispatches/order-close/d"
	for status, want := range map[dispatch.Status][]string{
		dispatch.Running: {"pause", "rate", "cancel"}, dispatch.Paused: {"resume", "rate", "cancel"}, dispatch.Scheduled: {"pause", "rate", "cancel"},
		dispatch.Uploading: {"rate", "cancel"}, dispatch.Done: {"retry"}, dispatch.Cancelled: {"retry"},
	} {
		h.shelf.sent = []dispatch.View{dispatchOf(status)}
		shown := h.get(page).body
		require.Contains(t, shown, "62 of 100")
		for _, action := range []string{"pause", "resume", "rate", "retry", "cancel"} {
			require.Equal(t, contains(want, action), containsText(shown, `action="`+page+"/"+action+`"`), "%s %s", status, action)
		}
		for _, action := range want {
			h.shelf.changed = nil
			done := h.post(page+"/"+action, url.Values{"per_second": {"70"}})
			require.Equal(t, page+"?done="+action, done.Header.Get("Location"), done.body)
			require.Equal(t, []string{action + " order-close/d"}, h.shelf.changes())
			require.Contains(t, h.get(done.Header.Get("Location")).body, `<p class="done" role="status">`)
		}
	}
	require.Contains(t, h.get("/console/dispatches").body, page)
	h.shelf.sent = []dispatch.View{dispatchOf(dispatch.Running)}
	refused := h.post(page+"/rate", url.Values{"per_second": {"fast"}})
	require.Equal(t, http.StatusUnprocessableEntity, refused.StatusCode)
	require.Contains(t, refused.body, `name="per_second" value="fast"`, "what was typed stays")
	require.Contains(t, refused.body, "/per_second")
	require.Equal(t, http.StatusNotFound, h.post(page+"/explode", nil).StatusCode)
	require.Equal(t, http.StatusNotFound, h.get("/console/dispatches/order-close/x").StatusCode)
}

// What is durable and not applied yet is said to be that. One that is to be cancelled takes no other change.
func TestADispatchThatNoWorkerHasChangedYet(t *testing.T) {
	t.Parallel()
	h := open(t, plan{})
	const page = "/console/dispatches/order-close/d"
	running := dispatchOf(dispatch.Running)
	h.shelf.sent, h.shelf.unapplied = []dispatch.View{running}, true
	for _, action := range []string{"pause", "rate", "cancel"} {
		left := h.post(page+"/"+action, url.Values{"per_second": {"70"}}).Header.Get("Location")
		require.Equal(t, page+"?done=accepted", left, action)
		require.Contains(t, h.get(left).body, "It is durable, and takes effect by itself.")
	}
	for _, status := range []dispatch.Status{dispatch.Running, dispatch.Paused, dispatch.Uploading} {
		running.Status, running.CancelRequested = status, true
		h.shelf.sent = []dispatch.View{running}
		shown := h.get(page).body
		require.NotContains(t, shown, `action="`+page, status)
		require.Contains(t, shown, "It is to be cancelled")
	}
	running.Status = dispatch.Cancelled
	h.shelf.sent = []dispatch.View{running}
	require.NotContains(t, h.get(page).body, "It is to be cancelled")
}

// The page of a dispatch draws how fast it was while somebody looked, for the page that is loaded and for
// what of it changes alike.
func TestTheCurveOfADispatch(t *testing.T) {
	t.Parallel()
	h := open(t, plan{})
	const path = "/console/dispatches/order-close/d"
	running := dispatchOf(dispatch.Running)
	look := func(achieved float64) string {
		running.Achieved.Last10Seconds = achieved
		h.shelf.sent = []dispatch.View{running}
		*h.now = h.now.Add(time.Second)
		return h.get(path).body
	}
	require.NotContains(t, look(0), "<figure")
	page := look(25)
	require.Contains(t, page, `class="p50"`)
	require.Contains(t, page, "asked now, 12.5 achieved on average")
	require.Contains(t, h.get(path).body, "12.5 achieved", "a second look in the same second is no sample")
	running.CreatedAt++
	require.NotContains(t, look(25), "<figure", "the id is used again")
	running.CreatedAt--
	running.Status = dispatch.Done
	require.Contains(t, look(99), "12.5 achieved", "one that has ended has no speed any more")
	running.Status = dispatch.Running
	require.Contains(t, look(25), "16.7 achieved")
	require.Contains(t, h.follow(path).page(), "16.7 achieved")
}
