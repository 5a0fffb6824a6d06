package timers

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/e2e/sample"
	"github.com/wakecall/wakecall/e2e/testenv"
)

func TestIfMatch(t *testing.T) {
	t.Parallel()
	env, r, kind := testenv.Start(t)
	path := "/v1/timers/" + kind + "/1"
	missing := testenv.SendIf(env, "*", env.Request("PUT", path, testenv.JSON{"delay": "1h", "callback": testenv.JSON{"url": r.URL}}))
	require.Equal(t, http.StatusPreconditionFailed, missing.Status, "%s", missing.Body)
	require.Equal(t, http.StatusNotFound, env.Do("GET", path, nil).Status, "nothing was made")
	require.Equal(t, http.StatusNotFound, testenv.SendIf(env, "*", env.Request("PATCH", path, testenv.JSON{"delay": "1h"})).Status)

	booked := env.Do("POST", "/v1/timers", sample.Booking(kind, "1", "1h", r.URL))
	first := booked.Header.Get("ETag")
	require.Equal(t, first, env.Do("GET", path, nil).Header.Get("ETag"))
	moved := testenv.SendIf(env, first, env.Request("PATCH", path, testenv.JSON{"delay": "2h"}))
	require.Equal(t, http.StatusOK, moved.Status, "%s", moved.Body)
	second := moved.Header.Get("ETag")
	require.NotEqual(t, first, second)
	for method, below := range map[string]string{"PATCH": "", "PUT": "", "DELETE": "", "POST": "/fire"} {
		var body any
		if below == "" && method != "DELETE" {
			body = testenv.JSON{"delay": "3h", "callback": testenv.JSON{"url": r.URL}}
		}
		for _, tag := range []string{first, `"1"`} {
			refused := testenv.SendIf(env, tag, env.Request(method, path+below, body))
			require.Equal(t, http.StatusPreconditionFailed, refused.Status, "%s %s", method, refused.Body)
			require.Equal(t, "urn:wakecall:problem:precondition-failed", refused.Problem().Type)
			require.Equal(t, 2, refused.Problem().Timer.Revision, "the true state")
			require.Equal(t, second, refused.Header.Get("ETag"))
		}
		require.Equal(t, http.StatusUnprocessableEntity, testenv.SendIf(env, "W/"+second, env.Request(method, path+below, body)).Status)
	}
	require.Equal(t, 2, env.Get(kind+"/1").Revision)
	put := testenv.SendIf(env, `"2"`, env.Request("PUT", path, testenv.JSON{"delay": "3h", "callback": testenv.JSON{"url": r.URL}}))
	require.Equal(t, http.StatusOK, put.Status, "%s", put.Body)
	require.Equal(t, 3, put.Timer().Revision)
	require.Equal(t, booked.Timer().WebhookID, put.Timer().WebhookID, "it is the same timer")
	third := put.Header.Get("ETag")
	require.Equal(t, http.StatusOK, testenv.SendIf(env, third, env.Request("DELETE", path, nil)).Status)
	require.Equal(t, http.StatusOK, testenv.SendIf(env, third, env.Request("DELETE", path, nil)).Status, "cancelled already")

	env.Add(sample.Booking(kind, "1", "1h", r.URL))
	again := env.Do("GET", path, nil)
	require.Equal(t, 1, again.Timer().Revision)
	require.Equal(t, http.StatusPreconditionFailed, testenv.SendIf(env, first, env.Request("PATCH", path, testenv.JSON{"delay": "2h"})).Status, "the same revision of another booking")
	require.Equal(t, http.StatusOK, testenv.SendIf(env, again.Header.Get("ETag"), env.Request("POST", path+"/fire", nil)).Status)
	r.Await(t, "1", 1)
}

func TestIfMatchOfARecurringTimer(t *testing.T) {
	t.Parallel()
	env, r, kind := testenv.Start(t)
	path := "/v1/timers/" + kind + "/1"
	timer := sample.Booking(kind, "1", "", r.URL)
	delete(timer, "delay")
	timer["recurrence"] = testenv.JSON{"every": "1s"}
	tag := env.Do("POST", "/v1/timers", timer).Header.Get("ETag")
	r.Await(t, "1", 2)
	require.Equal(t, tag, env.Do("GET", path, nil).Header.Get("ETag"), "an occurrence is no change")
	require.Equal(t, http.StatusPreconditionFailed, testenv.SendIf(env, `"9"`, env.Request("POST", path+"/pause", nil)).Status)
	paused := testenv.SendIf(env, tag, env.Request("POST", path+"/pause", nil))
	require.Equal(t, http.StatusOK, paused.Status, "%s", paused.Body)
	require.Equal(t, http.StatusPreconditionFailed, testenv.SendIf(env, tag, env.Request("POST", path+"/resume", nil)).Status)
	resumed := testenv.SendIf(env, paused.Header.Get("ETag"), env.Request("POST", path+"/resume", nil))
	require.Equal(t, http.StatusOK, resumed.Status, "%s", resumed.Body)
	require.Equal(t, http.StatusOK, testenv.SendIf(env, resumed.Header.Get("ETag"), env.Request("DELETE", path, nil)).Status)
}

// Of changes that are made on the same revision at once one is made, through
// whichever gateway they come; and a cancel is made on what it names.
func TestIfMatchLetsOneThrough(t *testing.T) {
	t.Parallel()
	env, r, kind := testenv.Start(t)
	other := testenv.OpenWith(t, testenv.Addr, testenv.Settings())
	for round := range 5 {
		id := fmt.Sprint(round)
		path := "/v1/timers/" + kind + "/" + id
		tag := env.Do("POST", "/v1/timers", sample.Booking(kind, id, "1h", r.URL)).Header.Get("ETag")
		replies := make([]testenv.Reply, 20)
		var group sync.WaitGroup
		for i := range replies {
			gateway := []*testenv.Env{env, other}[i%2]
			group.Go(func() {
				if i == 0 && round > 0 {
					replies[i] = testenv.SendIf(gateway, tag, gateway.Request("DELETE", path+"?wait=30s", nil))
					return
				}
				replies[i] = testenv.SendIf(gateway, tag, gateway.Request("PATCH", path+"?wait=30s", testenv.JSON{"delay": fmt.Sprintf("%dh", i+2)}))
			})
		}
		group.Wait()
		made := map[int]int{}
		for _, reply := range replies {
			made[reply.Status]++
		}
		end := env.Get(kind + "/" + id)
		if end.Status == "cancelled" {
			require.Equal(t, http.StatusOK, replies[0].Status)
			require.Equal(t, 1, end.Revision, "it was cancelled at the revision that was named")
		} else {
			require.Equal(t, 2, end.Revision, "one change was made")
		}
		require.Equal(t, 1, made[http.StatusOK], "round %d: %v", round, made)
		require.Zero(t, made[http.StatusAccepted], "%v", made)
	}
}

// A cancel that nobody waits for is accepted only where it holds.
func TestIfMatchOfACancelThatIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	env, r, kind := testenv.Start(t)
	for round := range 40 {
		id := fmt.Sprint(round)
		path := "/v1/timers/" + kind + "/" + id
		tag := env.Do("POST", "/v1/timers", sample.Booking(kind, id, "1h", r.URL)).Header.Get("ETag")
		var cancelled testenv.Reply
		var group sync.WaitGroup
		group.Go(func() { env.Do("PATCH", path+"?wait=30s", testenv.JSON{"delay": "2h"}) })
		group.Go(func() { cancelled = testenv.SendIf(env, tag, env.Request("DELETE", path+"?wait=0s", nil)) })
		group.Wait()
		if cancelled.Status == http.StatusPreconditionFailed {
			require.Equal(t, "scheduled", env.Get(kind+"/"+id).Status)
			continue
		}
		require.Contains(t, []int{http.StatusOK, http.StatusAccepted}, cancelled.Status, "%s", cancelled.Body)
		require.Eventually(t, func() bool { return env.Get(kind+"/"+id).Status == "cancelled" },
			10*time.Second, 20*time.Millisecond, "round %d was answered with %d", round, cancelled.Status)
	}
}
