package deliveries

import (
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/e2e/receiver"
	"github.com/wakecall/wakecall/e2e/sample"
	"github.com/wakecall/wakecall/e2e/testenv"
)

// busy answers 503 and asks for ten minutes of patience.
func busy(w http.ResponseWriter, _ *http.Request, _ int) {
	w.Header().Set("Retry-After", "600")
	w.WriteHeader(http.StatusServiceUnavailable)
}

// onItsWait books a timer whose receiver asks for patience, and waits until that is recorded.
func onItsWait(t *testing.T, env *testenv.Env, url string, key wire.Key) testenv.Timer {
	t.Helper()
	timer := sample.Booking(key.BusinessType, key.BusinessID, "0s", url)
	timer["payload"], timer["retry"] = testenv.JSON{"n": 1}, testenv.JSON{"steps": []string{"10s", "10s", "10s"}}
	env.Add(timer)
	var shown testenv.Timer
	require.Eventually(t, func() bool {
		shown = env.Get(key.String())
		return shown.Attempts == 1 && shown.NextAttemptAt.After(time.Now().Add(time.Minute))
	}, testenv.Patience, 20*time.Millisecond, "the wait is recorded")
	return shown
}

// A change that is not about when a timer rings leaves its wait and its count as they are, and
// one that is refused does nothing at all.
func TestAChangeKeepsTheWait(t *testing.T) {
	t.Parallel()
	env, r, kind := testenv.Start(t)
	url := r.On("/busy", busy)
	for name, change := range map[string]testenv.JSON{
		"labels":        {"labels": testenv.JSON{"a": "b"}},
		"priority":      {"priority": 1},
		"payload":       {"payload": testenv.JSON{"n": 2}},
		"on_failed":     {"on_failed": testenv.JSON{"url": url}},
		"expires_after": {"expires_after": "48h"},
		"timeout":       {"callback": testenv.JSON{"timeout": "3s"}},
		"url":           {"callback": testenv.JSON{"url": r.On("/other", busy)}},
		"ladder":        {"retry": testenv.JSON{"steps": []string{"1s", "1s", "1s"}}},
		"put":           {"callback": testenv.JSON{"url": url}, "payload": testenv.JSON{"n": 1}, "retry": testenv.JSON{"steps": []string{"10s", "10s", "10s"}}},
		"bulk":          {"labels": testenv.JSON{"a": "b"}},
		"refused":       {"delay": "1h", "latest_at": time.Now().Add(time.Second).UTC().Format(time.RFC3339Nano)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := env.For(t)
			before := onItsWait(t, env, url, wire.Key{BusinessType: kind, BusinessID: name})
			path := "/v1/timers/" + kind + "/" + name
			switch name {
			case "refused":
				require.NotEqual(t, http.StatusOK, env.Do("PATCH", path, change).Status)
			case "put":
				change["due_at"] = before.DueAt
				reply := env.Do("PUT", path, change)
				require.Equal(t, http.StatusOK, reply.Status, "%s", reply.Body)
			case "bulk":
				job := env.Do("POST", "/v1/bulk", testenv.JSON{
					"id": kind, "operation": "edit", "filter": testenv.JSON{"business_type": kind, "business_id": name}, "edit": change, "per_second": 100,
				})
				require.Equal(t, http.StatusAccepted, job.Status, "%s", job.Body)
				require.Eventually(t, func() bool { return env.Get(kind+"/"+name).Revision == 2 }, testenv.Patience, 50*time.Millisecond, "it is edited")
			default:
				reply := env.Do("PATCH", path, change)
				require.Equal(t, http.StatusOK, reply.Status, "%s", reply.Body)
			}
			require.Eventually(t, func() bool {
				after := env.Get(kind + "/" + name)
				return after.Attempts == 1 && after.NextAttemptAt.Sub(before.NextAttemptAt).Abs() < 2*time.Second
			}, testenv.Patience, 50*time.Millisecond, "the wait goes on")
			require.Len(t, r.Calls(name), 1)
			env.Do("DELETE", "/v1/timers/"+kind+"/"+name, nil)
		})
	}
}

// Of changes at once under one condition one is made, and the others do nothing.
func TestRefusedChangesDoNothing(t *testing.T) {
	t.Parallel()
	env, r, kind := testenv.Start(t)
	onItsWait(t, env, r.On("/busy", busy), wire.Key{BusinessType: kind, BusinessID: "1"})
	tag := env.Do("GET", "/v1/timers/"+kind+"/1", nil).Header.Get("ETag")
	statuses := make([]int, 8)
	var group sync.WaitGroup
	for i := range statuses {
		group.Go(func() {
			statuses[i] = testenv.SendIf(env, tag, env.Request("PATCH", "/v1/timers/"+kind+"/1", testenv.JSON{"labels": testenv.JSON{"n": fmt.Sprint(i)}})).Status
		})
	}
	group.Wait()
	made := map[int]int{}
	for _, status := range statuses {
		made[status]++
	}
	require.Equal(t, map[int]int{http.StatusOK: 1, http.StatusPreconditionFailed: 7}, made)
	require.Equal(t, 1, env.Get(kind+"/1").Attempts)
	require.Len(t, r.Calls("1"), 1, "no extra call")
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
		if n%3 == 0 {
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

// Each extra ring that was answered 200 rings once, at once, whatever the rule says.
func TestEveryFireRings(t *testing.T) {
	t.Parallel()
	env, r, kind := testenv.Start(t)
	for name, rule := range map[string]testenv.JSON{
		"jitter": {"every": "12h", "jitter": "6h"},
		"cron":   {"cron": "0 3 1 1 *", "jitter": "6h"},
		"after":  {"after": "12h", "jitter": "1h"},
		"paused": {"every": "12h", "paused": true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := env.For(t)
			timer := sample.Booking(kind, name, "", r.URL)
			delete(timer, "delay")
			timer["recurrence"] = rule
			env.Add(timer)
			const fires = 5
			var group sync.WaitGroup
			for range fires {
				group.Go(func() {
					reply := env.Do("POST", "/v1/timers/"+kind+"/"+name+"/fire", nil)
					require.Equal(t, http.StatusOK, reply.Status, "%s", reply.Body)
				})
			}
			group.Wait()
			calls := r.Await(t, name, fires)
			ids, numbers := map[string]bool{}, map[string]bool{}
			for _, call := range calls {
				ids[call.Header.Get("webhook-id")] = true
				numbers[call.Header.Get("Wakecall-Occurrence")] = true
			}
			require.Len(t, ids, fires)
			require.Len(t, numbers, fires)
			require.Len(t, r.Calls(name), fires, "and no more")
		})
	}
}

// A word on an attempt before a change, or before a redelivery, is no word on the one after it.
func TestAWordOnAnOldAttempt(t *testing.T) {
	t.Parallel()
	env, r, kind := testenv.Start(t)
	testenv.Accepts(env, r, kind, nil)
	_, first := testenv.Accepted(t, env, r, testenv.Nth{Path: kind + "/1", Number: 1})
	require.Equal(t, http.StatusOK, env.Do("PATCH", "/v1/timers/"+kind+"/1", testenv.JSON{"payload": testenv.JSON{"n": 2}}).Status)
	r.Await(t, "1", 2)
	require.Eventually(t, func() bool { return !env.Get(kind + "/1").AckUntil.IsZero() }, testenv.Patience, 10*time.Millisecond, "v2 is accepted")
	_, _, err := env.Wakecall().Deliveries.Ack(t.Context(), first, testenv.Patient)
	require.ErrorContains(t, err, "not-awaited", "v1 was taken, and v2 was not")

	// A change that is not about the content leaves the acceptance standing.
	_, labelled := testenv.Accepted(t, env, r, testenv.Nth{Path: kind + "/2", Number: 1})
	require.Equal(t, http.StatusOK, env.Do("PATCH", "/v1/timers/"+kind+"/2", testenv.JSON{"labels": testenv.JSON{"a": "b"}}).Status)
	_, _, err = env.Wakecall().Deliveries.Ack(t.Context(), labelled, testenv.Patient)
	require.NoError(t, err)
	require.Equal(t, "delivered", env.Await(kind+"/2", "delivered").Status)
	require.Len(t, r.Calls("2"), 1)
}
