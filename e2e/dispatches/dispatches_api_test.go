package dispatches

import (
	"bytes"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/client"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/e2e/receiver"
	"github.com/wakecall/wakecall/e2e/testenv"
)

// dispatchTest is a dispatch of a test.
type dispatchTest struct {
	t    *testing.T
	env  *testenv.Env
	r    *receiver.Receiver
	kind string
	// c holds each call to the document; live does not, so that it can stream.
	c, live client.Dispatches
}

func openDispatchTest(t *testing.T) dispatchTest {
	env, r, kind := testenv.Start(t)
	env.Policy(kind, testenv.JSON{"callback": testenv.JSON{"url": r.URL}, "retry": testenv.JSON{"steps": []string{"100ms"}}, "signing_secrets": []string{signingSecret}})
	return dispatchTest{t, env, r, kind, env.Wakecall().Dispatches, client.New(client.Options{URL: env.URL}).Dispatches}
}

const signingSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

func (m dispatchTest) key(id string) wire.Key {
	return wire.Key{BusinessType: m.kind, BusinessID: id}
}

func (m dispatchTest) path(id string) string { return "/v1/dispatches/" + m.kind + "/" + id }

func numbered(n int) (items []dispatch.Item) {
	for i := range n {
		items = append(items, client.Item("item-"+strconv.Itoa(i), map[string]int{"n": i}))
	}
	return items
}

// ended follows a dispatch to its end.
func (m dispatchTest) ended(id string) (last dispatch.View) {
	m.t.Helper()
	for view, err := range m.live.Follow(m.t.Context(), m.key(id)) {
		require.NoError(m.t, err)
		last = view
	}
	require.True(m.t, last.Status.Finished(), "%s", last.Status)
	return last
}

// shown is a dispatch by GET, held to the document.
func (m dispatchTest) shown(id string) (view dispatch.View) {
	m.t.Helper()
	reply := m.env.Do("GET", m.path(id), nil)
	require.Equal(m.t, http.StatusOK, reply.Status, "%s", reply.Body)
	reply.Into(&view)
	return view
}

func (m dispatchTest) await(id string, ok func(dispatch.View) bool) (view dispatch.View) {
	m.t.Helper()
	require.Eventually(m.t, func() bool {
		view = m.shown(id)
		return ok(view)
	}, testenv.Patience, 50*time.Millisecond, "a dispatch takes its time")
	return view
}

// once expects that the receiver was called exactly once for each item, and returns the
// webhook ids.
func (m dispatchTest) once(items []dispatch.Item) map[string]string {
	m.t.Helper()
	ids := map[string]string{}
	for _, item := range items {
		calls := m.r.Calls(item.ID)
		require.Len(m.t, calls, 1, item.ID)
		require.Equal(m.t, string(item.Payload), string(calls[0].Body))
		ids[item.ID] = calls[0].Header.Get("webhook-id")
	}
	require.Len(m.t, m.r.All(), len(items))
	return ids
}

func TestADispatch(t *testing.T) {
	t.Parallel()
	m := openDispatchTest(t)
	const n, rate = 400, 100 // four seconds, of which the stream tells every one
	order := testenv.JSON{"business_type": m.kind, "business_id": "tonight", "per_second": rate, "items": numbered(n)}
	reply := m.env.Do("POST", "/v1/dispatches", order)
	require.Equal(t, http.StatusCreated, reply.Status, "%s", reply.Body)
	require.Equal(t, m.path("tonight"), reply.Header.Get("Location"))
	again := m.env.Do("POST", "/v1/dispatches", order)
	require.Equal(t, http.StatusOK, again.Status, "%s", again.Body)
	order["per_second"] = rate + 1
	require.Equal(t, http.StatusConflict, m.env.Do("POST", "/v1/dispatches", order).Status)

	events := m.env.Send(m.env.Request("GET", m.path("tonight")+"/events", nil)) // held to the document, each event
	require.Equal(t, "text/event-stream", events.Header.Get("Content-Type"))
	require.Greater(t, strings.Count(string(events.Body), "event: progress\n"), 1)
	require.Equal(t, 1, strings.Count(string(events.Body), "event: end\n"))

	done := m.shown("tonight")
	require.Equal(t, dispatch.Done, done.Status)
	require.Equal(t, []int{n, n, 0, 0, 0, 0, n}, []int{*done.Items, done.Done, done.Failed, done.Retrying, done.InFlight, *done.Rest, done.Callbacks})
	ids := m.once(numbered(n))
	distinct := map[string]bool{}
	var sent []time.Time
	for _, call := range m.r.All() {
		distinct[call.Header.Get("webhook-id")] = true
		require.Equal(t, "tonight", call.Header.Get("Wakecall-Dispatch"))
		require.Equal(t, "1", call.Header.Get("Wakecall-Attempt"))
		require.NotEmpty(t, call.Header.Get("webhook-signature"))
		sent = append(sent, call.At)
	}
	require.Len(t, distinct, len(ids))
	require.GreaterOrEqual(t, receiver.Span(sent), time.Duration(float64(n-1)/rate*0.9*float64(time.Second)), "the rate is kept")

	require.Empty(t, m.env.Do("GET", m.path("tonight")+"/failures", nil).Body)
	require.Equal(t, http.StatusConflict, m.env.Do("POST", m.path("tonight")+"/retry-failures", nil).Status, "nothing failed")
	require.Equal(t, http.StatusConflict, m.env.Do("PATCH", m.path("tonight"), testenv.JSON{"per_second": 1}).Status)
	require.Equal(t, http.StatusConflict, m.env.Do("DELETE", m.path("tonight"), nil).Status)
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		var page struct{ Dispatches []dispatch.View }
		m.env.Do("GET", "/v1/dispatches?"+url.Values{"business_type": {m.kind}, "status": {"done"}}.Encode(), nil).Into(&page)
		require.Len(c, page.Dispatches, 1)
		assert.Equal(c, "tonight", page.Dispatches[0].BusinessID)
	}, testenv.Patience, 100*time.Millisecond, "visibility lags behind")
	require.Equal(t, http.StatusNotFound, m.env.Do("GET", m.path("other"), nil).Status)
	require.Equal(t, http.StatusNotFound, m.env.Do("GET", m.path("other")+"/failures", nil).Status)
	require.Equal(t, http.StatusNotFound, m.env.Do("GET", m.path("other")+"/events", nil).Status)
}

// attempts is how many attempts an item had. A worker that is silent for two seconds, as on a busy machine,
// counts as dead: its attempt in flight is made again under the same number.
func (m dispatchTest) attempts(item string) int {
	numbers := map[string]bool{}
	for _, call := range m.r.Calls(item) {
		numbers[call.Header.Get("Wakecall-Attempt")] = true
	}
	return len(numbers)
}

// What fails climbs the ladder, is listed with its reason, and can be tried again under the
// same webhook id.
func TestFailuresOfADispatch(t *testing.T) {
	t.Parallel()
	m := openDispatchTest(t)
	var mu sync.Mutex
	mended := false
	target := m.r.On("/flaky", func(w http.ResponseWriter, r *http.Request, n int) {
		mu.Lock()
		defer mu.Unlock()
		switch r.Header.Get("Wakecall-Business-Id") {
		case "item-3":
			if !mended {
				w.WriteHeader(http.StatusGone)
			}
		case "item-5":
			if !mended {
				w.WriteHeader(http.StatusInternalServerError)
			}
		case "item-7":
			if n == 1 {
				w.WriteHeader(http.StatusBadGateway)
			}
		}
	})
	_, _, err := m.c.Start(t.Context(), client.Order{
		Dispatch: dispatch.Dispatch{Key: m.key("flaky"), PerSecond: 100, Callback: &delivery.Callback{Destination: delivery.HTTP(target)}}, Items: numbered(20),
	})
	require.NoError(t, err)
	last := m.ended("flaky")
	require.Equal(t, []any{dispatch.DoneWithFailures, 18, 2}, []any{last.Status, last.Done, last.Failed})
	require.Equal(t, []int{1, 2, 2}, []int{m.attempts("item-3"), m.attempts("item-5"), m.attempts("item-7")})
	failed := map[string]dispatch.Failure{}
	for failure, err := range m.live.Failures(t.Context(), m.key("flaky")) {
		require.NoError(t, err)
		failed[failure.ID] = failure
	}
	require.Len(t, failed, 2)
	require.Equal(t, []int{410, 1}, []int{failed["item-3"].Failure.Status, failed["item-3"].Attempts})
	require.Equal(t, []int{500, 2}, []int{failed["item-5"].Failure.Status, failed["item-5"].Attempts})
	require.JSONEq(t, `{"n":5}`, string(failed["item-5"].Payload))
	require.Equal(t, m.r.Calls("item-5")[0].Header.Get("webhook-id"), failed["item-5"].WebhookID)
	require.Equal(t, 2, bytes.Count(m.env.Do("GET", m.path("flaky")+"/failures", nil).Body, []byte("\n")))

	mu.Lock()
	mended = true
	mu.Unlock()
	reply := m.env.Do("POST", m.path("flaky")+"/retry-failures", nil)
	require.Equal(t, http.StatusAccepted, reply.Status, "%s", reply.Body)
	require.Contains(t, string(reply.Body), `{"retried":2,`)
	m.r.Await(t, "item-3", 2)
	m.r.Await(t, "item-5", 3)
	last = m.ended("flaky")
	require.Equal(t, []any{dispatch.Done, 20, 0}, []any{last.Status, last.Done, last.Failed})
	for _, id := range []string{"item-3", "item-5"} {
		for _, call := range m.r.Calls(id) {
			require.Equal(t, failed[id].WebhookID, call.Header.Get("webhook-id"))
		}
	}
	require.Empty(t, m.env.Do("GET", m.path("flaky")+"/failures", nil).Body)
}
