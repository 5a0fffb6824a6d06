package timers

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/e2e/contract"
	"github.com/wakecall/wakecall/e2e/testenv"
)

// awaitWait waits until a timer says what holds it up, and shows no time of an attempt that
// slides while nobody knows until when.
func awaitWait(t *testing.T, env *testenv.Env, key string, want contract.Timer) (shown contract.Timer) {
	t.Helper()
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		shown = env.Get(key)
		assert.Equal(c, []string{want.WaitsFor, want.WaitsBy, want.WaitsNote}, []string{shown.WaitsFor, shown.WaitsBy, shown.WaitsNote})
		if shown.WaitsUntil.IsZero() || shown.WaitsFor == "limit" {
			assert.Zero(c, shown.NextAttemptAt)
		}
	}, testenv.Patience, 50*time.Millisecond, "%s comes to its queue", key)
	return shown
}

// inList is a timer as a list of its type shows it.
func inList(t *testing.T, env *testenv.Env, kind, id string) (shown contract.Timer) {
	t.Helper()
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		var page struct{ Timers []contract.Timer }
		env.Do("GET", "/v1/timers?business_type="+kind+"&business_id="+id, nil).Into(&page)
		if assert.Len(c, page.Timers, 1) {
			shown = page.Timers[0]
		}
	}, testenv.Patience, 50*time.Millisecond, "visibility lags behind")
	return shown
}

// Nothing is held without a word: each way of being held shows in the timer, with until
// when and by whom, in a get and in a list, and goes with what held it.
func TestWhatHoldsATimerUp(t *testing.T) {
	t.Parallel()
	env, r, kind := testenv.Start(t)
	patience := r.On("/patience", func(w http.ResponseWriter, _ *http.Request, _ int) {
		w.Header().Set("Retry-After", "600")
		w.WriteHeader(http.StatusServiceUnavailable)
	})
	slow := make(chan struct{})
	slowly := r.On("/slow", func(_ http.ResponseWriter, q *http.Request, _ int) {
		select {
		case <-slow:
		case <-q.Context().Done():
		}
	})
	ready := testenv.JSON{"url": r.URL}
	for name, policy := range map[string]testenv.JSON{
		".pause":     {"callback": ready, "paused": true},
		".limit":     {"callback": ready, "limits": testenv.JSON{"callbacks_per_second": 0.01}},
		".none":      {"callback": ready, "limits": testenv.JSON{"callbacks_per_second": 0}},
		".in-flight": {"callback": testenv.JSON{"url": slowly, "timeout": "1m"}, "limits": testenv.JSON{"in_flight": 1}},
		".pressure":  {"callback": testenv.JSON{"url": patience}},
		".own":       {"callback": ready},
		".ladder":    {"callback": testenv.JSON{"url": r.On("/fails", func(w http.ResponseWriter, _ *http.Request, _ int) { w.WriteHeader(http.StatusInternalServerError) })}, "retry": testenv.JSON{"steps": []string{"1h"}}},
		".stream":    {"callback": testenv.JSON{"stream": true}},
		".policy":    {"callback": ready},
	} {
		env.Policy(kind+name, policy)
		body := testenv.JSON{"business_type": kind + name, "business_id": "1", "delay": "1s"}
		if name == ".own" {
			body["callback"] = testenv.JSON{"url": patience}
		}
		if name == ".policy" { // which is gone by the time
			body["delay"] = "10s"
		}
		env.Add(body)
		if name == ".policy" {
			require.Equal(t, http.StatusNoContent, env.Do("DELETE", "/v1/policies/"+kind+name+"?timers=keep", nil).Status)
		}
	}
	for _, name := range []string{".limit", ".in-flight"} {
		for _, id := range []string{"2", "3"} {
			env.Add(testenv.JSON{"business_type": kind + name, "business_id": id, "delay": "1s"})
		}
	}
	order := testenv.JSON{"business_types": []string{kind + ".emergency"}, "note": "wrong prices"}
	env.Policy(kind+".emergency", testenv.JSON{"callback": ready})
	require.Equal(t, http.StatusOK, env.Do("POST", "/v1/emergency/pause", order).Status)
	env.Add(testenv.JSON{"business_type": kind + ".emergency", "business_id": "1", "delay": "1s"})

	paused := awaitWait(t, env, kind+".pause/1", contract.Timer{WaitsFor: "pause", WaitsBy: "anonymous"})
	require.WithinDuration(t, time.Now(), paused.WaitsSince, time.Minute)
	emergency := awaitWait(t, env, kind+".emergency/1", contract.Timer{WaitsFor: "emergency", WaitsBy: "anonymous", WaitsNote: "wrong prices"})
	require.NotZero(t, emergency.WaitsSince)
	why := string(env.Do("GET", "/v1/timers/"+kind+".emergency/1/why", nil).Body)
	require.Contains(t, why, `"business_type":"`+kind+`.emergency"`)
	require.Contains(t, why, "The callbacks of its business type are paused by anonymous since ")
	pressure := awaitWait(t, env, kind+".pressure/1", contract.Timer{WaitsFor: "back_pressure", WaitsBy: "receiver"})
	require.WithinDuration(t, time.Now().Add(10*time.Minute), pressure.WaitsUntil, time.Minute)
	require.False(t, pressure.NextAttemptAt.Before(pressure.WaitsUntil), "it is made behind it")
	own := awaitWait(t, env, kind+".own/1", contract.Timer{WaitsFor: "retry_after", WaitsBy: "receiver"})
	require.Equal(t, own.NextAttemptAt, own.WaitsUntil)
	awaitWait(t, env, kind+".none/1", contract.Timer{WaitsFor: "limit", WaitsBy: "policy"})
	awaitWait(t, env, kind+".stream/1", contract.Timer{WaitsFor: "receiver", WaitsBy: "receiver"})
	awaitWait(t, env, kind+".policy/1", contract.Timer{WaitsFor: "policy", WaitsBy: "policy"})
	last := awaitLast(t, env, kind+".limit", contract.Timer{WaitsFor: "limit", WaitsBy: "policy"})
	require.WithinRange(t, last.WaitsUntil, time.Now(), time.Now().Add(10*time.Minute))
	awaitLast(t, env, kind+".in-flight", contract.Timer{WaitsFor: "in_flight", WaitsBy: "policy"})
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		assert.NotZero(c, env.Get(kind+".ladder/1").NextAttemptAt)
	}, testenv.Patience, 50*time.Millisecond, "it failed once")
	require.Empty(t, env.Get(kind+".ladder/1").WaitsFor, "a step of the ladder is no hold")

	require.Equal(t, paused.WaitsBy, inList(t, env, kind+".pause", "1").WaitsBy)
	require.Equal(t, "emergency", inList(t, env, kind+".emergency", "1").WaitsFor)

	close(slow)
	require.Equal(t, http.StatusOK, env.Do("POST", "/v1/emergency/resume", order).Status)
	env.Policy(kind+".pause", testenv.JSON{"callback": ready})
	env.Policy(kind+".none", testenv.JSON{"callback": ready})
	env.Policy(kind+".policy", testenv.JSON{"callback": ready})
	for _, name := range []string{".pause", ".none", ".policy", ".emergency", ".in-flight"} {
		require.Empty(t, env.Await(kind+name+"/1", "delivered").WaitsFor, name)
	}
}

// awaitLast is [awaitWait] for any timer of a type: which of them was first is not known.
func awaitLast(t *testing.T, env *testenv.Env, kind string, want contract.Timer) (shown contract.Timer) {
	t.Helper()
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		for _, id := range []string{"1", "2", "3"} {
			if shown = env.Get(kind + "/" + id); shown.WaitsFor == want.WaitsFor && shown.WaitsBy == want.WaitsBy {
				assert.Zero(c, shown.NextAttemptAt)
				return
			}
		}
		assert.Fail(c, "none waits")
	}, testenv.Patience, 50*time.Millisecond, "they come to their queue")
	return shown
}
