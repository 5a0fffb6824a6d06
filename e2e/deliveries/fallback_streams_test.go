package deliveries

import (
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/e2e/receiver"
	"github.com/wakecall/wakecall/e2e/sample"
	"github.com/wakecall/wakecall/e2e/testenv"
)

// A stream to which nobody is connected is down: its type goes over to the fallback, and
// comes back when a receiver connects.
func TestFallbackOfAStream(t *testing.T) {
	t.Parallel()
	env, r, kind := testenv.Start(t)
	env.Policy(kind, testenv.JSON{
		"callback": testenv.JSON{"stream": true}, "fallback": testenv.JSON{"url": r.URL + "/" + kind, "after": "1s"}, "retry": testenv.JSON{"steps": []string{"1h"}},
	})
	booked := env.Add(testenv.JSON{"business_type": kind, "business_id": "1", "delay": "0s"})
	require.Equal(t, "fallback", env.Await(kind+"/1", "delivered").Link)
	require.Equal(t, booked.WebhookID, r.To("/" + kind)[0].Header.Get("webhook-id"))
	env.Add(testenv.JSON{"business_type": kind, "business_id": "2", "delay": "0s"})
	require.Equal(t, "fallback", env.Await(kind+"/2", "delivered").Link)

	l := listen(t, env, kind)
	go func() {
		for ring := range l.rings {
			l.ack(ring)
		}
	}()
	back := 3
	for link := ""; link != "callback"; back++ {
		id := strconv.Itoa(back)
		env.Add(testenv.JSON{"business_type": kind, "business_id": id, "delay": "200ms"})
		link = env.Await(kind+"/"+id, "delivered").Link
		require.Less(t, back, 100)
	}
	require.Len(t, r.To("/"+kind), back-2, "each timer went one way")

	require.NoError(t, l.ws.CloseNow())
	env.Add(testenv.JSON{"business_type": kind, "business_id": "left", "delay": "0s"})
	require.Equal(t, "fallback", env.Await(kind+"/left", "delivered").Link)
}

// A stream may be the second link: who is connected gets what the callback does not take,
// and what nobody takes stays on the callback's ladder.
func TestAStreamAsTheFallback(t *testing.T) {
	t.Parallel()
	env, r, kind := testenv.Start(t)
	path := "/" + kind
	r.On(path, receiver.Status(http.StatusServiceUnavailable))
	policy := testenv.JSON{
		"callback": testenv.JSON{"url": r.URL + path}, "fallback": testenv.JSON{"stream": true, "after": "1s", "headers": testenv.JSON{"X-Second": "yes"}},
		"retry": testenv.JSON{"steps": []string{"1s", "1s", "1s", "1s", "1s", "1s", "1s", "1s", "1s", "1s"}},
	}
	env.Policy(kind, policy)
	booked := env.Add(testenv.JSON{"business_type": kind, "business_id": "1", "delay": "0s"})
	r.Await(t, "1", 4) // nobody is connected: both links fail
	require.Eventually(t, func() bool {
		shown := env.Get(kind + "/1")
		return shown.Status == "delivering" && shown.Attempts >= 4 && shown.LastFailure.Status == http.StatusServiceUnavailable
	}, testenv.Patience, 20*time.Millisecond, "GET tells what was tried, also while it waits for a receiver")
	l := listen(t, env, kind)
	ring := l.next()
	require.Equal(t, []string{booked.WebhookID, "yes"}, []string{ring.Headers["webhook-id"], ring.Headers["X-Second"]})
	l.say(`{"nack":"` + ring.Ring + `","reason":"not now"}`)
	ring = l.next()
	l.ack(ring)
	delivered := env.Await(kind+"/1", "delivered")
	require.Equal(t, "fallback", delivered.Link)
	require.Equal(t, ring.Headers["Wakecall-Attempt"], strconv.Itoa(delivered.Attempts))

	r.On(path, receiver.Status(http.StatusOK))
	go func() {
		for ring := range l.rings {
			l.ack(ring)
		}
	}()
	for booked, link := 2, ""; link != "callback"; booked++ {
		id := strconv.Itoa(booked)
		env.Add(testenv.JSON{"business_type": kind, "business_id": id, "delay": "200ms"})
		link = env.Await(kind+"/"+id, "delivered").Link
		require.Less(t, booked, 100)
	}
}

// What waits for a receiver of the second link is not lost: who looks for lost timers leaves
// it alone, and the callback is tried when the ladder says so.
func TestWhatWaitsForASecondLinkIsNotLost(t *testing.T) {
	t.Parallel()
	addr, stop, err := testenv.Temporal(t.TempDir())
	require.NoError(t, err)
	t.Cleanup(stop)
	settings := testenv.Settings()
	settings.ReconcileInterval = time.Second
	env, r, kind := testenv.OpenWith(t, addr, settings), receiver.New(t), sample.Type(t)
	env.StartWorker()
	r.On("/"+kind, receiver.FailFirst(3))
	env.Policy(kind, testenv.JSON{
		"callback": testenv.JSON{"url": r.URL + "/" + kind}, "fallback": testenv.JSON{"stream": true, "after": "1s"},
		"alert": testenv.JSON{"url": r.URL + "/alert"}, "retry": testenv.JSON{"steps": []string{"1s", "6s", "6s", "6s"}, "jitter": 0},
	})
	env.Add(testenv.JSON{"business_type": kind, "business_id": "1", "delay": "0s"})
	require.Equal(t, "callback", env.Await(kind+"/1", "delivered").Link)
	require.Len(t, r.To("/"+kind), 4)
	require.Empty(t, r.To("/alert"), "nobody took it for lost")
}

// Timers that wait for their turn at a busy receiver stay there, and the wait adds nothing to
// their histories, however long it is: the last waits for twenty seconds.
func TestWaitingBehindABusyStreamAddsNothing(t *testing.T) {
	t.Parallel()
	env, r, kind := testenv.Start(t)
	env.Policy(kind, testenv.JSON{
		"callback": testenv.JSON{"stream": true}, "fallback": testenv.JSON{"url": r.URL + "/" + kind, "after": "2s"},
		"limits": testenv.JSON{"callbacks_per_second": 1},
	})
	l := listen(t, env, kind)
	go func() {
		for ring := range l.rings {
			l.ack(ring)
		}
	}()
	const timers = 20
	for i := range timers {
		env.Add(testenv.JSON{"business_type": kind, "business_id": strconv.Itoa(i), "delay": "0s"})
	}
	env.AwaitAll(kind, timers, "delivered")
	longest := int64(0)
	for i := range timers {
		require.Equal(t, "callback", env.Get(kind+"/"+strconv.Itoa(i)).Link)
		_, events := cost(t, env, kind+"/"+strconv.Itoa(i))
		longest = max(longest, events)
	}
	require.LessOrEqual(t, longest, int64(36), "two waits: one with a bound, and one that nobody records")
}
