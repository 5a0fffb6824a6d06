package deliveries

import (
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/e2e/receiver"
	"github.com/wakecall/wakecall/e2e/sample"
	"github.com/wakecall/wakecall/e2e/testenv"
)

// A change that is not about when a timer rings leaves its wait and its count as they are, and
// one that is refused does nothing at all.
func TestAChangeKeepsTheWait(t *testing.T) {
	t.Parallel()
	env, r, kind := testenv.Start(t)
	ladder := testenv.JSON{"steps": []string{"1h", "1h"}}
	url := r.On("/busy", receiver.Status(http.StatusServiceUnavailable))
	for name, change := range map[string]testenv.JSON{
		"labels":  {"labels": testenv.JSON{"a": "b"}},
		"payload": {"payload": testenv.JSON{"n": 2}},
		"put":     {"callback": testenv.JSON{"url": url}, "payload": testenv.JSON{"n": 1}, "retry": ladder},
		"refused": {"delay": "1h", "latest_at": time.Now().Add(time.Second).UTC().Format(time.RFC3339Nano)},
	} {
		timer, path := sample.Booking(kind, name, "0s", url), "/v1/timers/"+kind+"/"+name
		timer["retry"] = ladder
		env.Add(timer)
		var before testenv.Timer
		require.Eventually(t, func() bool {
			before = env.Get(kind + "/" + name)
			return before.Attempts == 1 && !before.NextAttemptAt.IsZero()
		}, testenv.Patience, testenv.Interval, "the wait is recorded")
		method := "PATCH"
		if name == "put" {
			method, change["due_at"] = "PUT", before.DueAt
		}
		reply := env.Do(method, path, change)
		require.Equal(t, name != "refused", reply.Status == http.StatusOK, "%s: %s", name, reply.Body)
		require.Eventually(t, func() bool {
			after := env.Get(kind + "/" + name)
			return after.Attempts == 1 && after.NextAttemptAt.Sub(before.NextAttemptAt).Abs() < 2*time.Second
		}, testenv.Patience, 50*time.Millisecond, "the wait goes on")
		require.Len(t, r.Calls(name), 1)
	}
}

// However often a timer is edited, its ladder makes as many attempts as it has, and a
// webhook-id stands for one body.
func TestEditsDoNotMultiplyAttempts(t *testing.T) {
	t.Parallel()
	env, r, kind := testenv.Start(t)
	timer := sample.Booking(kind, "1", "0s", r.On("/fails", receiver.Status(http.StatusServiceUnavailable)))
	timer["payload"], timer["retry"] = testenv.JSON{"n": 0}, testenv.JSON{"steps": []string{"1s", "1s", "1s"}, "jitter": 0}
	env.Add(timer)
	for n := 1; env.Get(kind+"/1").Status != "failed"; n++ {
		change := testenv.JSON{"labels": testenv.JSON{"n": strconv.Itoa(n)}}
		if n%3 == 1 {
			change = testenv.JSON{"payload": testenv.JSON{"n": n}}
		}
		env.Do("PATCH", "/v1/timers/"+kind+"/1", change)
	}
	calls, bodies := r.Calls("1"), map[string]string{}
	require.Len(t, calls, 4)
	for i, call := range calls {
		require.Equal(t, strconv.Itoa(i+1), call.Header.Get("Wakecall-Attempt"))
		id := call.Header.Get("webhook-id")
		if body, seen := bodies[id]; seen {
			require.Equal(t, body, string(call.Body), "one id, one body")
		}
		bodies[id] = string(call.Body)
	}
	require.Greater(t, len(bodies), 1, "the oracle sees several bodies")
	require.Equal(t, 4, env.Get(kind+"/1").Attempts)
}

const cancelPending = "urn:wakecall:problem:cancel-pending"

// With a worker, a booking that comes behind a cancel waits for it and books anew.
func TestABookingBehindACancelBooksAnew(t *testing.T) {
	t.Parallel()
	env, r, kind := testenv.Start(t)
	for round := range 10 {
		for _, method := range []string{"POST", "PUT"} {
			id := method + string(rune('0'+round))
			timer := sample.Booking(kind, id, "1h", r.URL)
			before := env.Add(timer)
			path := "/v1/timers/" + kind + "/" + id
			deleted := env.Do("DELETE", path+"?wait=0s", nil)
			require.Contains(t, []int{http.StatusOK, http.StatusAccepted}, deleted.Status)
			book := func() testenv.Reply { return env.Do("POST", "/v1/timers", timer) }
			if method == "PUT" {
				book = func() testenv.Reply {
					return env.Do("PUT", path+"?wait=30s", testenv.JSON{"delay": "1h", "callback": timer["callback"]})
				}
			}
			again := book()
			for again.Status == http.StatusConflict && again.Problem().Type == cancelPending { // a slow worker: it may be repeated
				again = book()
			}
			require.Equal(t, http.StatusCreated, again.Status, "%s %d: %s", method, round, again.Body)
			after := env.Get(kind + "/" + id)
			require.Equal(t, "scheduled", after.Status)
			require.False(t, after.CancelRequested)
			require.NotEqual(t, before.WebhookID, after.WebhookID, "it is another booking")
		}
	}
}

// pressure is what a policy shows of back-pressure.
type pressure struct {
	BackPressure *struct {
		Until time.Time `json:"until"`
	} `json:"back_pressure"`
}

func pressureOf(env *testenv.Env, kind string) (p pressure) {
	env.Do("GET", "/v1/policies/"+kind, nil).Into(&p)
	return p
}

func awaitPressure(t *testing.T, env *testenv.Env, kind string) {
	t.Helper()
	require.Eventually(t, func() bool { return pressureOf(env, kind).BackPressure != nil },
		testenv.Patience, testenv.Interval, "the policy's workflow hears of it")
}

// Back-pressure is lifted for the type and for the timer that was answered, in
// every worker.
func TestLiftedBackPressure(t *testing.T) {
	t.Parallel()
	env, r, kind := testenv.Start(t)
	path := "/v1/policies/" + kind + "/back_pressure"
	require.Equal(t, http.StatusNotFound, env.Do("DELETE", path, nil).Status, "there is no policy")
	env.Policy(kind, testenv.JSON{"callback": testenv.JSON{"url": r.On("/patience", func(w http.ResponseWriter, q *http.Request, n int) {
		if n == 1 && q.Header.Get("Wakecall-Business-Id") == "first" {
			w.Header().Set("Retry-After", "3600")
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})}, "retry": testenv.JSON{"steps": []string{"10ms"}}})
	require.Equal(t, http.StatusNoContent, env.Do("DELETE", path, nil).Status, "none is in force")
	env.Add(testenv.JSON{"business_type": kind, "business_id": "first", "delay": "0s"})
	awaitPressure(t, env, kind)
	env.Add(testenv.JSON{"business_type": kind, "business_id": "second", "delay": "0s"})
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		for _, id := range []string{"first", "second"} {
			next := env.Get(kind + "/" + id).NextAttemptAt
			assert.WithinDuration(c, time.Now().Add(time.Hour), next, 10*time.Minute, "%s shows when it is called", id)
		}
	}, testenv.Patience, 50*time.Millisecond, "both are held")
	require.Equal(t, http.StatusNoContent, env.Do("DELETE", path, nil).Status)
	require.Equal(t, http.StatusNoContent, env.Do("DELETE", path, nil).Status, "it may be repeated")
	require.Nil(t, pressureOf(env, kind).BackPressure)
	r.Await(t, "second", 1)
	require.Equal(t, 2, env.Await(kind+"/first", "delivered").Attempts)
}
