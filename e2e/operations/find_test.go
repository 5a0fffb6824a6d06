package operations

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	wakecall "github.com/wakecall/wakecall/client"
	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/forecast"
	"github.com/wakecall/wakecall/core/job"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/e2e/receiver"
	"github.com/wakecall/wakecall/e2e/sample"
	"github.com/wakecall/wakecall/e2e/testenv"
)

// foundBy are the ids that the Go client lists.
func foundBy(t *testing.T, env *testenv.Env, filter wakecall.Filter) (ids []string) {
	for view, err := range env.Wakecall().Timers.List(t.Context(), filter) {
		require.NoError(t, err)
		ids = append(ids, view.BusinessID)
	}
	return ids
}

// pages are the timers of all pages of a list.
func pages(env *testenv.Env, query url.Values) (views []timer.View) {
	for more := true; more; {
		var page struct {
			Timers []timer.View
			Next   string `json:"next_page_token"`
		}
		env.Do("GET", "/v1/timers?"+query.Encode(), nil).Into(&page)
		views, more = append(views, page.Timers...), page.Next != ""
		query.Set("page_token", page.Next)
	}
	return views
}

// viewIn is the timer that a call answers with.
func viewIn(t *testing.T, reply testenv.Reply, status int) (view timer.View) {
	t.Helper()
	require.Equal(t, status, reply.Status, "%s", reply.Body)
	reply.Into(&view)
	return view
}

// awaitFound waits for visibility, which lags behind.
func awaitFound(t *testing.T, env *testenv.Env, filter wakecall.Filter, want ...string) {
	t.Helper()
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		assert.ElementsMatch(c, want, foundBy(t, env, filter))
	}, 20*time.Second, 50*time.Millisecond, "visibility lags behind")
}

// A timer is found by its labels, from its booking on and after each change of them.
func TestTimersAreFoundByTheirLabels(t *testing.T) {
	t.Parallel()
	env, r, kind := testenv.Start(t)
	book := func(id string, labels timer.Labels) {
		body := sample.Booking(kind, id, "3h", r.URL)
		body["labels"] = labels
		require.Equal(t, labels, viewIn(t, env.Do("POST", "/v1/timers", body), http.StatusCreated).Labels)
	}
	book("both", timer.Labels{"customer": "42", "env": "test"})
	book("one", timer.Labels{"customer": "42"})
	book("upper", timer.Labels{"customer": "Ab=~"})
	book("lower", timer.Labels{"customer": "ab=~"})
	env.Add(sample.Booking(kind, "none", "3h", r.URL))
	recurring := sample.Repeating(kind, "recurring", testenv.JSON{"every": "1s"})
	recurring["labels"], recurring["callback"] = timer.Labels{"customer": "43"}, testenv.JSON{"url": r.URL}
	env.Add(recurring)

	labelled := func(labels timer.Labels) wakecall.Filter { return wakecall.Filter{BusinessType: kind, Labels: labels} }
	awaitFound(t, env, labelled(timer.Labels{"customer": "42"}), "both", "one")
	awaitFound(t, env, labelled(timer.Labels{"customer": "42", "env": "test"}), "both")
	awaitFound(t, env, labelled(timer.Labels{"customer": "Ab=~"}), "upper")
	awaitFound(t, env, labelled(timer.Labels{"customer": "4"}))
	counted := bulkEnded(t, env, wakecall.BulkOrder{Operation: job.Cancel, Filter: timer.Filter{BusinessType: kind, Labels: timer.Labels{"customer": "Ab=~"}}, DryRun: true})
	require.Equal(t, 1, *counted.Found, "a bulk job finds them as a list does")
	r.Await(t, "recurring", 2)
	awaitFound(t, env, labelled(timer.Labels{"customer": "43"}), "recurring")
	require.Equal(t, timer.Labels{"customer": "43"}, viewIn(t, env.Do("GET", "/v1/timers/"+kind+"/recurring", nil), http.StatusOK).Labels)
	env.Do("DELETE", "/v1/timers/"+kind+"/recurring", nil)

	changed := func(method, id string, body testenv.JSON, want timer.Labels) {
		require.Equal(t, want, viewIn(t, env.Do(method, "/v1/timers/"+kind+"/"+id, body), http.StatusOK).Labels)
	}
	changed("PATCH", "both", testenv.JSON{"delay": "4h"}, timer.Labels{"customer": "42", "env": "test"})
	changed("PATCH", "both", testenv.JSON{"labels": timer.Labels{"env": "live"}}, timer.Labels{"env": "live"})
	changed("PUT", "one", testenv.JSON{"delay": "1h", "callback": testenv.JSON{"url": r.URL}}, nil)
	changed("PATCH", "lower", testenv.JSON{"labels": timer.Labels{}}, nil)
	awaitFound(t, env, labelled(timer.Labels{"env": "live"}), "both")
	awaitFound(t, env, labelled(timer.Labels{"customer": "42"}))

	body := sample.Booking(kind, "none", "3h", r.URL)
	body["labels"] = timer.Labels{"customer": "1"}
	require.Equal(t, http.StatusConflict, env.Do("POST", "/v1/timers", body).Status, "labels are content")
	for pointer, labels := range map[string]any{
		"/labels/Customer": timer.Labels{"Customer": "1"}, "/labels/customer": timer.Labels{"customer": "a b"}, "/labels/n": testenv.JSON{"n": 1},
		"/labels": []string{"customer=1"}, "/labels/a": testenv.JSON{"a": nil},
	} {
		body["business_id"], body["labels"] = "refused", labels
		reply := env.Do("POST", "/v1/timers", body)
		require.Equal(t, http.StatusUnprocessableEntity, reply.Status, "%s", reply.Body)
		require.Equal(t, pointer, reply.Problem().Errors[0].Pointer)
	}
	require.Equal(t, http.StatusNotFound, env.Do("GET", "/v1/timers/"+kind+"/refused", nil).Status, "nothing was started")
}

// A list in the order of the due times goes through all of them, whether they are far
// apart or many at one moment.
func TestListsAreSortedByDueTime(t *testing.T) {
	t.Parallel()
	env, r, kind := testenv.Start(t)
	var want []string
	at := time.Now().Add(time.Hour).Truncate(time.Millisecond)
	items := []any{}
	add := func(id string, due time.Time) {
		body := sample.Booking(kind, id, "", r.URL)
		delete(body, "delay")
		body["due_at"] = due.UTC().Format(time.RFC3339Nano)
		items = append(items, body)
	}
	for i := range 12 { // from a second to more than a year apart
		id := string(rune('a' + i))
		want = append(want, id)
		add(id, at.Add(time.Duration(i*i*i*i)*time.Hour))
	}
	for i := range 7 {
		add("same-"+strconv.Itoa(i), at.Add(30*time.Minute))
	}
	slices.Reverse(items)
	require.Equal(t, http.StatusOK, env.Do("POST", "/v1/timers/batch", testenv.JSON{"timers": items}).Status)
	awaitFound(t, env, wakecall.Filter{BusinessType: kind, Labels: nil}, append([]string{"same-0", "same-1", "same-2", "same-3", "same-4", "same-5", "same-6"}, want...)...)
	for _, sort := range []string{"due", "-due"} {
		for _, size := range []string{"3", "100"} {
			views := pages(env, url.Values{"business_type": {kind}, "sort": {sort}, "page_size": {size}})
			require.Len(t, views, len(items), sort)
			require.True(t, slices.IsSortedFunc(views, func(a, b timer.View) int {
				if sort == "due" {
					return cmp.Compare(a.DueAt, b.DueAt)
				}
				return cmp.Compare(b.DueAt, a.DueAt)
			}))
			ids := map[string]bool{}
			for _, view := range views {
				ids[view.BusinessID] = true
			}
			require.Len(t, ids, len(items), "each once")
		}
	}
	require.Equal(t, want[3:5], foundBy(t, env, wakecall.Filter{
		BusinessType: kind, Sort: timer.DueFirst, Status: timer.Scheduled, DueFrom: at.Add(81 * time.Hour), DueTo: at.Add(256 * time.Hour),
	}), "both bounds are included")
	require.Equal(t, http.StatusUnprocessableEntity, env.Do("GET", "/v1/timers?sort=created", nil).Status)
}

// What was on one page of a moment at which many fall due is on no other, whatever the next
// pages hold.
func TestASortedListRepeatsNobody(t *testing.T) {
	t.Parallel()
	// More than a small page looks at together, and less than a large one.
	sortedTogether(t, 150, "100", "10")
}

// As many at one moment as visibility lists at once have a token behind them, and no end.
func TestASortedListEnds(t *testing.T) {
	t.Parallel()
	sortedTogether(t, 1000, "500", "500")
}

// sortedTogether books so many timers for one moment and lists them, the first page of one
// size and the others of another one.
func sortedTogether(t *testing.T, many int, first, then string) {
	t.Helper()
	env, r, kind := testenv.Start(t)
	due, items, want := time.Now().Add(time.Hour).UTC().Format(time.RFC3339), []any{}, []string{}
	for n := range many {
		want = append(want, strconv.Itoa(n))
		items = append(items, testenv.JSON{"business_type": kind, "business_id": want[n], "due_at": due, "callback": testenv.JSON{"url": r.URL}})
	}
	require.Equal(t, http.StatusOK, env.Do("POST", "/v1/timers/batch", testenv.JSON{"timers": items}).Status)
	awaitFound(t, env, wakecall.Filter{BusinessType: kind}, want...)
	for _, sort := range []string{"due", "-due"} {
		query := url.Values{"business_type": {kind}, "sort": {sort}, "page_size": {first}}
		var page struct {
			Timers []timer.View
			Next   string `json:"next_page_token"`
		}
		env.Do("GET", "/v1/timers?"+query.Encode(), nil).Into(&page)
		require.Equal(t, first, strconv.Itoa(len(page.Timers)))
		query.Set("page_size", then)
		query.Set("page_token", page.Next)
		var got []string
		for _, view := range append(page.Timers, pages(env, query)...) {
			got = append(got, view.BusinessID)
		}
		require.ElementsMatch(t, want, got, sort)
	}
}

// A list shows how far each timer is.
func TestListsShowProgress(t *testing.T) {
	t.Parallel()
	env, r, kind := testenv.Start(t)
	body := sample.Booking(kind, "failed", "0s", r.On("/busy", receiver.Status(503)))
	body["retry"] = testenv.JSON{"steps": []string{"10ms"}}
	env.Add(body)
	body = sample.Booking(kind, "delivering", "0s", r.URL+"/busy")
	body["retry"] = testenv.JSON{"steps": []string{"1h"}}
	env.Add(body)
	env.Add(sample.Booking(kind, "delivered", "0s", r.URL))
	env.Add(sample.Booking(kind, "scheduled", "1h", r.URL))
	env.Await(kind+"/failed", "failed")
	env.Await(kind+"/delivered", "delivered")
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		views := map[string]timer.View{}
		for view, err := range env.Wakecall().Timers.List(t.Context(), wakecall.Filter{BusinessType: kind}) {
			require.NoError(c, err)
			views[view.BusinessID] = view
		}
		require.Len(c, views, 4)
		require.Equal(c, timer.Delivering, views["delivering"].Status)
		for id, attempts := range map[string]int{"failed": 2, "delivering": 1, "delivered": 1, "scheduled": 0} {
			require.Equal(c, attempts, views[id].Attempts, id)
			if id == "failed" || id == "delivering" {
				require.Equal(c, 503, views[id].LastFailure.Status, id)
			}
		}
		require.NotZero(c, views["delivering"].NextAttemptAt)
		require.NotZero(c, views["delivered"].DeliveredAt)
	}, 20*time.Second, 50*time.Millisecond, "visibility lags behind")
	for _, view := range testenv.Listed(env, url.Values{"business_type": {kind}, "attempts": {"false"}}) {
		require.Zero(t, view.Attempts)
	}
}

// Timers are counted by status and business type.
func TestStats(t *testing.T) {
	t.Parallel()
	env, r, kind := testenv.Start(t)
	env.Policy(kind, testenv.JSON{"callback": testenv.JSON{"url": r.URL}, "retry": testenv.JSON{"steps": []string{"1h"}}})
	env.Add(sample.Booking(kind, "soon", "1h", r.URL))
	env.Add(sample.Booking(kind, "later", "3h", r.URL))
	env.Add(sample.Booking(kind, "delivered", "0s", r.URL))
	env.Add(sample.Booking(kind, "failed", "0s", r.On("/gone", receiver.Status(http.StatusGone))))
	env.Add(sample.Booking(kind, "delivering", "0s", r.On("/busy", receiver.Status(500))))
	body := sample.Booking(kind, "expired", "0s", r.URL+"/busy")
	body["expires_after"] = "100ms"
	env.Add(body)
	env.Add(sample.Booking(kind, "cancelled", "1h", r.URL))
	env.Do("DELETE", "/v1/timers/"+kind+"/cancelled", nil)
	env.Add(sample.Repeating(kind, "paused", testenv.JSON{"every": "24h", "paused": true}))
	want := timer.StatusCounts{Scheduled: 2, Paused: 1, Delivering: 1, Delivered: 1, Failed: 1, Expired: 1, Cancelled: 1}
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		stats, err := env.Wakecall().Timers.Stats(t.Context(), kind)
		require.NoError(c, err)
		require.Equal(c, want, stats.Timers)
		require.Equal(c, []timer.TypeStats{{BusinessType: kind, Timers: want}}, stats.BusinessTypes)
	}, 30*time.Second, 100*time.Millisecond, "visibility lags behind, and counts are given again")
	all, err := env.Wakecall().Timers.Stats(t.Context(), "")
	require.NoError(t, err)
	require.Contains(t, all.BusinessTypes, timer.TypeStats{BusinessType: kind, Timers: want})
	require.GreaterOrEqual(t, all.Timers.Delivered, 1)
	require.Equal(t, http.StatusUnprocessableEntity, env.Do("GET", "/v1/stats?business_type=A", nil).Status)
}

// A forecast counts what falls due, rules included, and a booking into a full minute is told
// how late it will be.
func TestForecast(t *testing.T) {
	t.Parallel()
	env, r, kind := testenv.Start(t)
	policy := testenv.JSON{"callback": testenv.JSON{"url": r.URL}}
	env.Policy(kind, policy)
	full := time.Now().Add(time.Hour).Truncate(time.Minute)
	elsewhere := strconv.Itoa((full.Minute()+30)%60) + "m" // than in the full minute
	items := []any{}
	for i := range 200 {
		items = append(items, testenv.JSON{"business_type": kind, "business_id": strconv.Itoa(i), "due_at": full.UTC().Format(time.RFC3339)})
	}
	require.Equal(t, http.StatusOK, env.Do("POST", "/v1/timers/batch", testenv.JSON{"timers": items}).Status)
	env.Add(testenv.JSON{"business_type": kind, "business_id": "rule", "recurrence": testenv.JSON{"every": "1h", "offset": elsewhere}})
	env.Add(testenv.JSON{"business_type": kind, "business_id": "paused", "recurrence": testenv.JSON{"every": "1h", "paused": true}})
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		assert.Len(c, foundBy(t, env, wakecall.Filter{BusinessType: kind}), 202)
	}, 20*time.Second, 100*time.Millisecond, "visibility lags behind")
	policy["limits"] = testenv.JSON{"callbacks_per_second": 1}
	env.Policy(kind, policy)
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		shown, err := env.Wakecall().Timers.Forecast(t.Context(), kind, wakecall.ForecastOptions{})
		require.NoError(c, err)
		require.NotNil(c, shown.CallbacksPerSecond)
	}, 10*time.Second, 50*time.Millisecond, "policies are cached for a moment")
	ask := func() (total int, at forecast.Step) {
		forecast, err := env.Wakecall().Timers.Forecast(t.Context(), kind, wakecall.ForecastOptions{})
		require.NoError(t, err)
		require.Len(t, forecast.Steps, 24*60)
		for _, step := range forecast.Steps {
			total += step.Due
			if step.At == wire.At(full) {
				at = step
			}
		}
		return total, at
	}
	total, minute := ask()
	require.Equal(t, 224, total, "the 200, and one each hour")
	require.Equal(t, 200, minute.Due)
	require.True(t, minute.Overflows)
	require.Greater(t, minute.Lateness.D(), 130*time.Second)

	reply := env.Do("POST", "/v1/timers", testenv.JSON{"business_type": kind, "business_id": "one-more", "due_at": full.UTC().Format(time.RFC3339)})
	late, err := time.ParseDuration(reply.Header.Get(forecast.HeaderExpectedLateness))
	require.NoError(t, err)
	require.Greater(t, late, 130*time.Second)
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		_, minute := ask()
		require.Equal(c, 201, minute.Due)
	}, 20*time.Second, 100*time.Millisecond, "counted again where the booking fell into the moment of a count")
	reply = env.Do("POST", "/v1/timers", testenv.JSON{"business_type": kind, "business_id": "in-time", "due_at": full.Add(12 * time.Hour).UTC().Format(time.RFC3339)})
	require.Empty(t, reply.Header.Get(forecast.HeaderExpectedLateness))

	for query, pointer := range map[string]string{
		"": "business_type", "business_type=A": "business_type", "business_type=a&step=1500ms": "step", "business_type=a&step=0s": "step",
		"business_type=a&from=2020-01-01T00:00:00Z": "from", "business_type=a&to=2020-01-01T00:00:00Z": "to", "business_type=a&step=1s": "step",
		"business_type=a&until=1": "until", "business_type=a&from=now": "from",
	} {
		reply := env.Do("GET", "/v1/forecast?"+query, nil)
		require.Equal(t, http.StatusUnprocessableEntity, reply.Status, query)
		require.Equal(t, pointer, reply.Problem().Errors[0].Pointer, query)
	}
	due := wire.At(full.Add(2 * time.Hour))
	order := dispatch.Dispatch{Key: wire.Key{BusinessType: kind, BusinessID: "mass"}, PerSecond: 100, DueAt: &due}
	var brought []dispatch.Item
	for n := range 10 {
		brought = append(brought, dispatch.Item{ID: strconv.Itoa(n)})
	}
	_, _, err = env.Wakecall().Dispatches.Start(t.Context(), wakecall.Order{Dispatch: order, Items: brought})
	require.NoError(t, err)
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		forecast, err := env.Wakecall().Timers.Forecast(t.Context(), kind, wakecall.ForecastOptions{From: full.Add(2 * time.Hour), To: full.Add(2*time.Hour + time.Minute)})
		require.NoError(c, err)
		require.Equal(c, 10, forecast.Steps[0].DispatchItems)
	}, 30*time.Second, 100*time.Millisecond, "counted again in the background")

	far, err := env.Wakecall().Timers.Forecast(t.Context(), kind, wakecall.ForecastOptions{From: full, To: full.Add(72 * time.Hour), Step: time.Hour})
	require.NoError(t, err)
	require.Len(t, far.Steps, 72)
	require.GreaterOrEqual(t, far.Steps[0].Due, 201)
}
