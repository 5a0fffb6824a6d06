package operations

import (
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/e2e/receiver"
	"github.com/wakecall/wakecall/e2e/sample"
	"github.com/wakecall/wakecall/e2e/testenv"
	"github.com/wakecall/wakecall/workflows"
)

func TestPolicyIsReadWhenTheDeliveryStarts(t *testing.T) {
	t.Parallel()
	env, r, kind := testenv.Start(t)
	moved := receiver.New(t)
	env.Policy(kind, testenv.JSON{"callback": testenv.JSON{"url": r.URL}})
	env.Add(testenv.JSON{"business_type": kind, "business_id": "1", "delay": "10s"})
	env.Policy(kind, testenv.JSON{"callback": testenv.JSON{"url": moved.URL}})
	moved.Await(t, "1", 1)
	require.Empty(t, r.Calls("1"), "a receiver that moves, moves for the pending timers too")
}

func TestNothingSecretReachesTemporal(t *testing.T) {
	t.Parallel()
	env, r, kind := testenv.Start(t)
	key := sample.Secret()
	env.Policy(kind, testenv.JSON{
		"callback": testenv.JSON{"url": r.URL, "headers": testenv.JSON{"Authorization": "Bearer in-the-policy"}}, "signing_secrets": []string{key},
	})
	env.Policy(kind, testenv.JSON{"callback": testenv.JSON{"url": r.URL, "headers": testenv.JSON{"X-Key": "in-the-update"}}})
	body := sample.Booking(kind, "1", "0s", r.URL)
	body["callback"] = testenv.JSON{"url": r.URL, "headers": testenv.JSON{"X-Key": "in-the-timer"}}
	env.Add(body)
	require.Equal(t, "in-the-timer", r.Await(t, "1", 1)[0].Header.Get("X-Key"))
	env.Await(kind+"/1", "delivered")
	env.Do("PUT", "/v1/timers/"+kind+"/2", testenv.JSON{"delay": "1h", "callback": testenv.JSON{"url": r.URL, "headers": testenv.JSON{"X-Key": "in-the-change"}}})
	for _, id := range []string{kind + "/1", kind + "/2", workflows.PolicyID(kind)} {
		stored := env.Stored(id)
		require.Contains(t, stored, r.URL, "the oracle sees what is stored")
		for _, word := range []string{"in-the-policy", "in-the-update", "in-the-timer", "in-the-change", key} {
			require.NotContains(t, stored, word, id)
		}
	}
}

// A gateway books by the policy that it knows while another one deletes it.
func TestAPolicyStaysWhereATimerIsBookedMeanwhile(t *testing.T) {
	t.Parallel()
	settings, kind := testenv.Settings(), sample.Type(t)
	settings.PolicyTTL = 2 * time.Second // for long enough to book by a policy that is gone
	a, b := testenv.OpenWith(t, testenv.Addr, settings), testenv.OpenWith(t, testenv.Addr, settings)
	a.Policy(kind, testenv.JSON{"callback": testenv.JSON{"url": receiver.New(t).URL}})
	tomorrow := func(n int) testenv.JSON {
		return testenv.JSON{"business_type": kind, "business_id": strconv.Itoa(n), "delay": "24h"}
	}
	b.Add(tomorrow(0))
	require.Equal(t, http.StatusOK, b.Do("DELETE", "/v1/timers/"+kind+"/0", nil).Status)
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		assert.Empty(c, testenv.Listed(b, url.Values{"business_type": {kind}, "status": {"scheduled"}}))
	}, testenv.Patience, 100*time.Millisecond, "visibility lags behind")
	deleted := make(chan testenv.Reply, 1)
	go func() { deleted <- a.Do("DELETE", "/v1/policies/"+kind, nil) }()
	booked, refused := 0, 0
	for n := 1; ; n++ {
		select {
		case reply := <-deleted:
			require.Equal(t, http.StatusConflict, reply.Status, "%s", reply.Body)
			require.Positive(t, booked)
			t.Logf("%d booked, %d refused", booked, refused)
			return
		case <-time.After(50 * time.Millisecond):
		}
		switch reply := b.Do("POST", "/v1/timers", tomorrow(n)); reply.Status {
		case http.StatusCreated:
			booked++
		default:
			require.Equal(t, http.StatusServiceUnavailable, reply.Status, "%s", reply.Body)
			refused++
		}
	}
}

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
