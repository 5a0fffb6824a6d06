package e2e

import (
	"net/http"
	"net/url"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/e2e/receiver"
	"github.com/wakecall/wakecall/e2e/testenv"
	"github.com/wakecall/wakecall/workflows"
)

// redelivery is what the API shows of one.
type redelivery struct {
	ID          string
	Status      string
	Found       *int
	Redelivered int
	Skipped     int
	Failed      int
	PerSecond   float64   `json:"per_second"`
	Type        string    `json:"business_type"`
	StartedAt   time.Time `json:"started_at"`
}

// counts are found, redelivered, skipped and failed.
func (r redelivery) counts() []int { return []int{*r.Found, r.Redelivered, r.Skipped, r.Failed} }

// outage is a receiver that says stop until it is mended.
func outage(r *receiver.Receiver) (url string, mend func()) {
	var mended atomic.Bool
	return r.On("/down", func(w http.ResponseWriter, _ *http.Request, _ int) {
		if !mended.Load() {
			w.WriteHeader(http.StatusGone)
		}
	}), func() { mended.Store(true) }
}

// failMany books n timers that fail, and waits until a list shows them.
func failMany(t *testing.T, env *testenv.Env, kind string, n int) {
	t.Helper()
	env.AddMany(kind, n, 0)
	env.AwaitAll(kind, n, "failed")
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		assert.Len(c, listed(env, url.Values{"business_type": {kind}, "status": {"failed"}}), n)
	}, testenv.Patience, 100*time.Millisecond, "visibility lags behind")
}

func listed(env *testenv.Env, filter url.Values) []testenv.Timer {
	var page struct{ Timers []testenv.Timer }
	env.Do("GET", "/v1/timers?"+filter.Encode(), nil).Into(&page)
	return page.Timers
}

// redeliver orders a redelivery, of all types where it names none.
func redeliver(t *testing.T, env *testenv.Env, kind string, perSecond float64) (begun redelivery) {
	t.Helper()
	filter := testenv.JSON{}
	if kind != "" {
		filter["business_type"] = kind
	}
	reply := env.Do("POST", "/v1/timers/redeliver", testenv.JSON{"filter": filter, "per_second": perSecond})
	require.Equal(t, http.StatusAccepted, reply.Status, "%s", reply.Body)
	reply.Into(&begun)
	require.Equal(t, "/v1/redeliveries/"+begun.ID, reply.Header.Get("Location"))
	require.Equal(t, []any{"running", kind, perSecond}, []any{begun.Status, begun.Type, begun.PerSecond})
	require.Nil(t, begun.Found)
	return begun
}

// await returns a redelivery once it is as it should be.
func (r redelivery) await(t *testing.T, env *testenv.Env, ok func(redelivery) bool) (now redelivery) {
	t.Helper()
	require.Eventually(t, func() bool {
		reply := env.Do("GET", "/v1/redeliveries/"+r.ID, nil)
		now = redelivery{}
		reply.Into(&now)
		return ok(now)
	}, time.Minute, 20*time.Millisecond, "a redelivery takes its time")
	return now
}

func jobEnded(r redelivery) bool { return r.Status != "running" }

func TestRedeliverByQuery(t *testing.T) { // it needs the machine for itself
	env, r, kind := open(t)
	target, mend := outage(r)
	env.Policy(kind, testenv.JSON{"callback": testenv.JSON{"url": target}})
	const timers, rate = 20, 10
	failMany(t, env, kind, timers)
	mend()
	begun := redeliver(t, env, kind, rate)
	under := begun.await(t, env, func(r redelivery) bool { return r.Redelivered > 0 || jobEnded(r) })
	require.Equal(t, "running", under.Status, "progress is seen")
	require.Equal(t, timers, *under.Found)
	require.Less(t, under.Redelivered, timers)
	require.WithinDuration(t, begun.StartedAt, under.StartedAt, 5*time.Second)

	done := begun.await(t, env, jobEnded)
	require.Equal(t, "done", done.Status)
	require.Equal(t, []int{timers, timers, 0, 0}, done.counts())
	env.AwaitAll(kind, timers, "delivered")
	var second []time.Time
	for n := range timers {
		calls := r.Calls(strconv.Itoa(n))
		require.Len(t, calls, 2)
		require.Equal(t, calls[0].Header.Get("webhook-id"), calls[1].Header.Get("webhook-id"))
		second = append(second, calls[1].At)
	}
	require.GreaterOrEqual(t, span(second), time.Duration(float64(timers-1)/rate*0.9*float64(time.Second)), "the rate is kept")

	require.EventuallyWithT(t, func(c *assert.CollectT) {
		shown := redeliveries(env, "?status=done&page_size=100")
		assert.Contains(c, shown, done)
		assert.NotContains(c, redeliveries(env, "?status=running"), done)
	}, testenv.Patience, 100*time.Millisecond, "visibility lags behind")

	again := redeliver(t, env, kind, 1000).await(t, env, jobEnded)
	require.Equal(t, []int{timers, 0, timers, 0}, again.counts(), "there is nothing left to do")
	require.Len(t, r.All(), 2*timers)

	described, err := env.Client.DescribeWorkflowExecution(t.Context(), workflows.RedeliveryJob.WorkflowID(begun.ID), "")
	require.NoError(t, err)
	require.Empty(t, described.GetWorkflowExecutionInfo().GetSearchAttributes().GetIndexedFields()["BusinessType"],
		"who cancels timers by query means no job")
}

// redeliveries are those of the first page.
func redeliveries(env *testenv.Env, query string) []redelivery {
	var page struct{ Redeliveries []redelivery }
	env.Do("GET", "/v1/redeliveries"+query, nil).Into(&page)
	return page.Redeliveries
}

// One order covers every business type. It has a Temporal of its own: there are failed
// timers of others elsewhere.
func TestRedeliverAllTypes(t *testing.T) {
	t.Parallel()
	addr, stop, err := testenv.Temporal(t.TempDir())
	require.NoError(t, err)
	t.Cleanup(stop)
	env, r, kind := testenv.Open(t, addr), receiver.New(t), typeOf(t)
	env.StartWorker()
	target, mend := outage(r)
	for _, kind := range []string{kind + ".a", kind + ".b"} {
		env.Policy(kind, testenv.JSON{"callback": testenv.JSON{"url": target}})
		failMany(t, env, kind, 2)
	}
	mend()
	begun := redeliver(t, env, "", 1000)
	done := begun.await(t, env, jobEnded)
	require.Equal(t, []int{4, 4, 0, 0}, done.counts())
	env.AwaitAll(kind+".a", 2, "delivered")
	env.AwaitAll(kind+".b", 2, "delivered")
	second := redeliver(t, env, kind+".a", 1000).await(t, env, jobEnded)
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		assert.Equal(c, []redelivery{second, done}, redeliveries(env, ""), "the latest comes first")
	}, testenv.Patience, 100*time.Millisecond, "visibility lags behind")
	var page struct {
		Redeliveries []redelivery
		Next         string `json:"next_page_token"`
	}
	env.Do("GET", "/v1/redeliveries?page_size=1", nil).Into(&page)
	require.Equal(t, []redelivery{second}, page.Redeliveries)
	require.Equal(t, []redelivery{done}, redeliveries(env, "?page_size=1&page_token="+page.Next))
	require.Equal(t, http.StatusUnprocessableEntity, env.Do("GET", "/v1/redeliveries?status=done&page_token="+page.Next, nil).Status)
	require.Equal(t, http.StatusUnprocessableEntity, env.Do("GET", "/v1/redeliveries?status=lost", nil).Status)
}

// span is the time from the first to the last.
func span(times []time.Time) time.Duration {
	first, last := times[0], times[0]
	for _, at := range times {
		if at.Before(first) {
			first = at
		}
		if at.After(last) {
			last = at
		}
	}
	return last.Sub(first)
}

// A timer that fails again is found once more, and each failure is tried again
// once.
func TestRedeliverWhatFailedAgain(t *testing.T) {
	t.Parallel()
	env, r, kind := open(t)
	target, _ := outage(r)
	env.Policy(kind, testenv.JSON{"callback": testenv.JSON{"url": target}})
	failMany(t, env, kind, 3)
	first := redeliver(t, env, kind, 1000).await(t, env, jobEnded)
	require.Equal(t, []int{3, 3, 0, 0}, first.counts())
	env.AwaitAll(kind, 3, "failed")
	r.AwaitAll(t, 6)
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		rounds := map[int]int{}
		for _, timer := range listed(env, url.Values{"business_type": {kind}, "status": {"failed"}}) {
			rounds[timer.Round]++
		}
		assert.Equal(c, map[int]int{2: 3}, rounds, "each timer once")
	}, testenv.Patience, 100*time.Millisecond, "visibility lags behind")
	second := redeliver(t, env, kind, 1000).await(t, env, jobEnded)
	require.Equal(t, []int{6, 3, 3, 0}, second.counts())
	r.AwaitAll(t, 9)
}

func TestListWhatEnded(t *testing.T) {
	t.Parallel()
	env, r, kind := open(t)
	target, _ := outage(r)
	env.Policy(kind, testenv.JSON{"callback": testenv.JSON{"url": target}})
	began := time.Now().Add(-time.Second)
	env.Add(booking(kind, "open", "1h", r.URL))
	failMany(t, env, kind, 2)
	over := time.Now().Add(time.Second)
	at := func(moment time.Time) string { return moment.UTC().Format(time.RFC3339Nano) }
	for want, filter := range map[int]url.Values{
		3: {},
		2: {"ended_from": {at(began)}, "ended_to": {at(over)}},
		1: {"due_from": {at(over)}},
		0: {"ended_to": {at(began)}},
	} {
		filter.Set("business_type", kind)
		require.Len(t, listed(env, filter), want, "%v", filter)
	}
	require.Empty(t, listed(env, url.Values{"business_type": {kind}, "ended_from": {at(over)}}))
	empty := testenv.JSON{"filter": testenv.JSON{"business_type": kind, "ended_to": at(began)}}
	var none redelivery
	env.Do("POST", "/v1/timers/redeliver", empty).Into(&none)
	require.Equal(t, []int{0, 0, 0, 0}, none.await(t, env, jobEnded).counts())
	require.Equal(t, http.StatusUnprocessableEntity, env.Do("GET", "/v1/timers?ended_from=yesterday", nil).Status)
}

func TestStopRedelivery(t *testing.T) {
	t.Parallel()
	env, r, kind := open(t)
	target, mend := outage(r)
	env.Policy(kind, testenv.JSON{"callback": testenv.JSON{"url": target}})
	failMany(t, env, kind, 5)
	mend()
	begun := redeliver(t, env, kind, 0.1)
	begun.await(t, env, func(r redelivery) bool { return r.Redelivered == 1 })
	path := "/v1/redeliveries/" + begun.ID
	require.Contains(t, []int{http.StatusOK, http.StatusAccepted}, env.Do("DELETE", path, nil).Status)
	stopped := begun.await(t, env, jobEnded)
	require.Equal(t, "stopped", stopped.Status)
	require.Equal(t, []int{5, 1, 0, 0}, stopped.counts())
	var again redelivery
	reply := env.Do("DELETE", path, nil)
	require.Equal(t, http.StatusOK, reply.Status)
	reply.Into(&again)
	require.Equal(t, stopped, again)
	require.Len(t, r.AwaitAll(t, 6), 6)
}

// An order is durable without a worker, and can be shown and stopped. What one
// worker leaves, the next one takes up.
func TestRedeliveryAmongWorkers(t *testing.T) { // it needs the machine for itself
	addr, stop, err := testenv.Temporal(t.TempDir())
	require.NoError(t, err)
	t.Cleanup(stop)
	env, r := testenv.OpenWith(t, addr, testenv.Settings()), receiver.New(t)
	target, mend := outage(r)
	const kind, timers = "handed-on", 15
	env.Policy(kind, testenv.JSON{"callback": testenv.JSON{"url": target}})
	env.StartWorker()
	failMany(t, env, kind, timers)
	env.StopWorker()
	mend()

	older := redeliver(t, env, "nobody", 1)
	orderLikeBefore(t, env, older.ID)
	unheard := redeliver(t, env, kind, 1)
	reply := env.Do("DELETE", "/v1/redeliveries/"+unheard.ID, nil)
	require.Equal(t, http.StatusAccepted, reply.Status, "nobody has heard of it")
	require.Equal(t, "/v1/redeliveries/"+unheard.ID, reply.Header.Get("Location"))
	begun := redeliver(t, env, kind, 10)
	env.StartWorker()
	require.Equal(t, "done", older.await(t, env, jobEnded).Status, "it is carried out on the queue of then")
	require.Equal(t, "stopped", unheard.await(t, env, jobEnded).Status)
	begun.await(t, env, func(r redelivery) bool { return r.Redelivered > 3 })
	env.StopWorker()
	left := begun.await(t, env, func(redelivery) bool { return true })
	require.Equal(t, "running", left.Status)
	require.Less(t, left.Redelivered, timers)
	env.StartWorker()
	done := begun.await(t, env, jobEnded)
	require.Equal(t, "done", done.Status)
	// A worker that could not say how far it was leaves what the next one skips.
	require.Equal(t, []int{timers, timers, 0}, []int{*done.Found, done.Redelivered + done.Skipped, done.Failed})
	env.AwaitAll(kind, timers, "delivered")
	require.Len(t, r.All(), 2*timers, "each was tried again once")
}

func TestRedeliveryRefusals(t *testing.T) {
	t.Parallel()
	env, _, kind := open(t)
	for body, pointers := range map[string][]string{
		`{}`:                              {"/filter"},
		`{"filter":{"business_type":""}}`: {"/filter/business_type"},
		`{"filter":null}`:                 {"/filter"},
		`{"filter":{"business_type":"A'","status":"delivered"},"per_second":0}`:                                  {"/filter/status", "/filter/business_type", "/per_second"},
		`{"filter":{"business_type":"x","ended_from":"now","due_from":"2026-01-01T00:00:00Z"},"per_second":"1"}`: {"/filter/due_from", "/filter/ended_from", "/per_second"},
		`{"filter":{"business_type":"x","ended_from":"2026-01-02T00:00:00Z","ended_to":"2026-01-01T00:00:00Z"}}`: {"/filter/ended_to"},
		`{"filter":{"business_type":"x"},"per_second":1001,"dry_run":true}`:                                      {"/dry_run", "/per_second"},
	} {
		reply := env.Do("POST", "/v1/timers/redeliver", body)
		require.Equal(t, http.StatusUnprocessableEntity, reply.Status, body)
		var named []string
		for _, fieldErr := range reply.Problem().Errors {
			named = append(named, fieldErr.Pointer)
		}
		require.Equal(t, pointers, named, body)
	}
	require.Equal(t, http.StatusBadRequest, env.Do("POST", "/v1/timers/redeliver", `[]`).Status)
	require.Equal(t, http.StatusUnprocessableEntity, env.Do("POST", "/v1/timers/redeliver?wait=1s", `{}`).Status)
	for _, id := range []string{"x", "0b9c6f0e-2f0c-4b43-9a55-0f3d6f3c1e7a", "%7B0b9c6f0e-2f0c-4b43-9a55-0f3d6f3c1e7a%7D", kind} {
		for _, method := range []string{"GET", "DELETE"} {
			require.Equal(t, http.StatusNotFound, env.Do(method, "/v1/redeliveries/"+id, nil).Status, id)
		}
	}
}
