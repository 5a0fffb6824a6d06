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
