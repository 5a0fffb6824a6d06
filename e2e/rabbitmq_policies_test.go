package e2e

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/e2e/receiver"
	"github.com/wakecall/wakecall/e2e/testenv"
)

// No more than the rate leave, and nothing while the type is paused.
func (h house) keepToTheRate(t *testing.T) {
	const kind, rate, most = "order-rate", 5, 15
	policy := testenv.JSON{
		"callback": testenv.JSON{"broker": "main"}, "declare": testenv.JSON{"queue": kind}, "paused": true, "limits": testenv.JSON{"callbacks_per_second": rate},
	}
	h.Policy(kind, policy)
	for i := range most {
		h.Add(testenv.JSON{"business_type": kind, "business_id": strconv.Itoa(i), "delay": "0s"})
	}
	h.AwaitAll(kind, most, "delivering")
	q := newQueue(t, h.broker, kind)
	_, sent, err := q.Get(kind, true)
	require.NoError(t, err)
	require.False(t, sent, "it is paused")
	policy["paused"] = false
	h.Policy(kind, policy)
	ids := map[any]bool{}
	for range most {
		ids[q.next().Headers["Wakecall-Business-Id"]] = true
	}
	require.Len(t, ids, most)
	h.AwaitAll(kind, most, "delivered")
	first, last := time.Now(), time.Time{}
	for i := range most {
		at := h.Get(kind + "/" + strconv.Itoa(i)).DeliveredAt
		if at.Before(first) {
			first = at
		}
		if at.After(last) {
			last = at
		}
	}
	require.GreaterOrEqual(t, last.Sub(first), time.Duration(most-rate)*time.Second/(rate+1), "no more than the rate and one second's burst")
}

// A message is dropped at the latest time, by the broker and before it.
func (h house) expire(t *testing.T) {
	const kind = "order-late"
	q := newQueue(t, h.broker, kind)
	h.Policy(kind, testenv.JSON{"callback": testenv.JSON{"broker": "main"}, "retry": testenv.JSON{"initial": "100ms", "max_interval": "100ms", "max_attempts": 100}})
	h.Add(testenv.JSON{"business_type": kind, "business_id": "kept", "delay": "0s", "expires_after": "2s"})
	h.Await(kind+"/kept", "delivered")
	require.Eventually(t, func() bool {
		kept, err := q.QueueDeclarePassive(kind, true, false, false, false, nil)
		return err == nil && kept.Messages == 0
	}, testenv.Patience, 50*time.Millisecond, "the broker drops what nobody took in time")
	h.Add(testenv.JSON{"business_type": kind, "business_id": "nowhere", "delay": "0s", "expires_after": "1s", "callback": testenv.JSON{"broker": "main", "routing_key": "nobody"}})
	expired := h.Await(kind+"/nowhere", "expired")
	require.Greater(t, expired.Attempts, 1)
	require.Contains(t, expired.LastFailure.Message, "unroutable")
}

func (h house) callOffWhilePreloaded(t *testing.T) {
	const kind = "order-held"
	q := newQueue(t, h.broker, kind)
	h.Policy(kind, testenv.JSON{"callback": testenv.JSON{"broker": "main"}, "preload": "10s"})
	h.Add(testenv.JSON{"business_type": kind, "business_id": "called-off", "delay": "10s"})
	h.Add(testenv.JSON{"business_type": kind, "business_id": "moved", "delay": "10s"})
	awaitHeld(t, h.Env, kind+"/called-off")
	awaitHeld(t, h.Env, kind+"/moved")
	require.Equal(t, http.StatusOK, h.Do("DELETE", "/v1/timers/"+kind+"/called-off", nil).Status)
	require.Equal(t, http.StatusOK, h.Do("PATCH", "/v1/timers/"+kind+"/moved", testenv.JSON{"delay": "0s"}).Status)
	require.Equal(t, "moved", q.next().Headers["Wakecall-Business-Id"])
	require.NotNil(t, h.Await(kind+"/moved", "delivered").LatenessMS)
	_, sent, err := q.Get(kind, true)
	require.NoError(t, err)
	require.False(t, sent)
}

// A broker that takes nothing holds its types back, and nobody else.
func (h house) holdBackAtABlockedBroker(t *testing.T) {
	const kind = "order-blocked"
	r, q := receiver.New(t), newQueue(t, h.broker, kind)
	h.Policy(kind, testenv.JSON{
		"callback": testenv.JSON{"broker": "main", "timeout": "2s"}, "retry": testenv.JSON{"initial": "1s", "max_interval": "1s", "max_attempts": 100},
	})
	h.Policy("order-beside", testenv.JSON{"callback": testenv.JSON{"url": r.URL}})
	h.broker.Control("set_vm_memory_high_watermark", "absolute", "1MB")
	h.Add(testenv.JSON{"business_type": kind, "business_id": "before", "delay": "0s"}) // the broker takes one message before it blocks
	blocked := func(path string) bool { return strings.HasPrefix(h.Get(path).LastFailure.Message, "broker_blocked") }
	require.Eventually(t, func() bool { return blocked(kind+"/before") || h.Get(kind+"/before").Status == "delivered" }, time.Minute, 50*time.Millisecond)
	h.Add(testenv.JSON{"business_type": kind, "business_id": "1", "delay": "0s"})
	require.Eventually(t, func() bool { return blocked(kind + "/1") }, time.Minute, 50*time.Millisecond)
	require.Contains(t, string(h.Do("GET", "/v1/policies/"+kind, nil).Body), `"back_pressure":`)
	h.Add(testenv.JSON{"business_type": "order-beside", "business_id": "1", "delay": "0s"})
	h.Await("order-beside/1", "delivered")
	require.Equal(t, "delivering", h.Get(kind+"/1").Status)
	h.broker.Control("set_vm_memory_high_watermark", "0.4")
	arrived := map[string]bool{q.next().MessageId: true, q.next().MessageId: true}
	for _, id := range []string{"before", "1"} {
		require.True(t, arrived[h.Await(kind+"/"+id, "delivered").WebhookID], id)
	}
}
