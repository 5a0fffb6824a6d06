package operations

import (
	"net/http"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/e2e/receiver"
	"github.com/wakecall/wakecall/e2e/testenv"
)

// A policy that is deleted with its timers leaves none of them open: neither those that ring
// again and again, nor those that are changed meanwhile. What is booked under the next policy
// is left alone.
func TestADeletedPolicyLeavesNoTimerOpen(t *testing.T) {
	t.Parallel()
	env, r, kind := testenv.Start(t)
	url := r.On("/ring", receiver.Status(http.StatusOK))
	policy := testenv.JSON{"callback": testenv.JSON{"url": url}}
	env.Policy(kind, policy)
	const timers = 40
	for n := range timers {
		env.Add(testenv.JSON{"business_type": kind, "business_id": "every-" + strconv.Itoa(n), "recurrence": testenv.JSON{"every": "1s"}})
		env.Add(testenv.JSON{"business_type": kind, "business_id": "once-" + strconv.Itoa(n), "delay": "1h"})
	}
	stop := make(chan struct{})
	var changing sync.WaitGroup
	changing.Go(func() {
		for n := 0; ; n++ {
			select {
			case <-stop:
				return
			default:
				env.Do("PATCH", "/v1/timers/"+kind+"/once-"+strconv.Itoa(n%timers), testenv.JSON{"delay": strconv.Itoa(n+60) + "m"})
			}
		}
	})
	require.Equal(t, http.StatusNoContent, env.Do("DELETE", "/v1/policies/"+kind+"?timers=cancel", nil).Status)
	env.Policy(kind, policy)
	kept := env.Add(testenv.JSON{"business_type": kind, "business_id": "kept", "delay": "1h"})
	for n := range timers {
		env.Await(kind+"/every-"+strconv.Itoa(n), "cancelled")
		env.Await(kind+"/once-"+strconv.Itoa(n), "cancelled")
	}
	close(stop)
	changing.Wait()
	rung := len(r.To("/ring"))
	require.Never(t, func() bool { return len(r.To("/ring")) > rung }, 3*time.Second, 100*time.Millisecond, "nothing rings any more")
	require.Equal(t, kept.WebhookID, env.Get(kind+"/kept").WebhookID)
	require.Equal(t, "scheduled", env.Get(kind+"/kept").Status)
}

// Between two of its runs a timer is listed as neither, and a list may come in that moment. The
// policy leaves no timer behind all the same.
func TestADeletedPolicyFindsALoneTimerThatRings(t *testing.T) {
	t.Parallel()
	env, r, kind := testenv.Start(t)
	var deleting sync.WaitGroup
	for n := range 10 {
		name := kind + "-" + strconv.Itoa(n)
		env.Policy(name, testenv.JSON{"callback": testenv.JSON{"url": r.URL}})
		env.Add(testenv.JSON{"business_type": name, "business_id": "lone", "recurrence": testenv.JSON{"every": "1s"}})
		deleting.Go(func() {
			assert.Eventually(t, func() bool { // where it is not certain yet, it may be repeated
				status := env.Do("DELETE", "/v1/policies/"+name+"?timers=cancel", nil).Status
				return status == http.StatusNoContent || status == http.StatusNotFound
			}, testenv.Patience, 100*time.Millisecond, "the policy is deleted")
			env.Await(name+"/lone", "cancelled")
		})
	}
	deleting.Wait()
}
