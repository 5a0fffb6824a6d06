package deliveries

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/e2e/receiver"
	"github.com/wakecall/wakecall/e2e/testenv"
)

// A message is dropped at the latest time, by the broker and before it.
func (h house) expire(t *testing.T) {
	const kind = "order-late"
	q := receiver.NewQueue(t, h.broker.URL, kind)
	h.Policy(kind, testenv.JSON{"callback": testenv.JSON{"broker": "main"}, "retry": testenv.JSON{"initial": "100ms", "max_interval": "1s", "max_attempts": 100}})
	h.Add(testenv.JSON{"business_type": kind, "business_id": "kept", "delay": "0s", "expires_after": "15s"})
	h.Add(testenv.JSON{"business_type": kind, "business_id": "nowhere", "delay": "0s", "expires_after": "15s", "callback": testenv.JSON{"broker": "main", "routing_key": "nobody"}})
	h.Await(kind+"/kept", "delivered")
	require.Eventually(t, func() bool {
		kept, err := q.QueueDeclarePassive(kind, true, false, false, false, nil)
		return err == nil && kept.Messages == 0
	}, testenv.Patience, 50*time.Millisecond, "the broker drops what nobody took in time")
	expired := h.Await(kind+"/nowhere", "expired")
	require.Greater(t, expired.Attempts, 1)
	require.Contains(t, expired.LastFailure.Message, "unroutable")
}

// A queue may be the second link, and whoever reads it acknowledges later as anywhere else.
func (h house) standIn(t *testing.T) {
	const kind = "order-twice"
	r, q := receiver.New(t), receiver.NewQueue(t, h.broker.URL, "order-second")
	first := r.On("/first", receiver.Status(http.StatusServiceUnavailable))
	h.Policy(kind, testenv.JSON{
		"callback": testenv.JSON{"url": first}, "fallback": testenv.JSON{"broker": "main", "routing_key": q.Name, "after": "1s"},
		"ack": testenv.JSON{"within": "10m"}, "retry": testenv.JSON{"steps": []string{"1h"}},
	})
	booked := h.Add(testenv.JSON{"business_type": kind, "business_id": "1", "delay": "0s"})
	d := q.Next()
	require.Equal(t, []string{booked.WebhookID, booked.WebhookID}, []string{d.MessageId, r.To("/first")[0].Header.Get("webhook-id")})
	view, _, err := h.Wakecall().Deliveries.Ack(t.Context(), deliveryOf(d), testenv.Patient)
	require.NoError(t, err)
	require.Equal(t, timer.Delivered, view.Status)
	require.Equal(t, "fallback", h.Get(kind+"/1").Link)
}

// A broker that takes nothing holds its types back, and nobody else.
func (h house) holdBackAtABlockedBroker(t *testing.T) {
	const kind = "order-blocked"
	r, q := receiver.New(t), receiver.NewQueue(t, h.broker.URL, kind)
	h.Policy(kind, testenv.JSON{
		"callback": testenv.JSON{"broker": "main", "timeout": "2s"}, "retry": testenv.JSON{"initial": "1s", "max_interval": "1s", "max_attempts": 100},
	})
	h.Policy("order-beside", testenv.JSON{"callback": testenv.JSON{"url": r.URL}})
	h.broker.SetMemory("{absolute, 1000000}")
	ids := []string{"1", "2"} // the broker takes one message before it blocks
	for _, id := range ids {
		h.Add(testenv.JSON{"business_type": kind, "business_id": id, "delay": "0s"})
	}
	var held string
	require.Eventually(t, func() bool {
		for _, id := range ids {
			if strings.HasPrefix(h.Get(kind+"/"+id).LastFailure.Message, "broker_blocked") {
				held = id
			}
		}
		return held != ""
	}, testenv.Patience, 50*time.Millisecond, "the broker takes nothing more")
	require.Eventually(t, func() bool {
		return strings.Contains(string(h.Do("GET", "/v1/policies/"+kind, nil).Body), `"back_pressure":`)
	},
		testenv.Patience, 50*time.Millisecond, "the policy is told beside the attempt")
	h.Add(testenv.JSON{"business_type": "order-beside", "business_id": "1", "delay": "0s"})
	h.Await("order-beside/1", "delivered")
	require.Equal(t, "delivering", h.Get(kind+"/"+held).Status)
	h.broker.SetMemory("0.4")
	arrived := map[string]bool{}
	for len(arrived) < len(ids) { // an attempt that was slow to be confirmed comes again
		arrived[q.Next().MessageId] = true
	}
	for _, id := range ids {
		require.True(t, arrived[h.Await(kind+"/"+id, "delivered").WebhookID], id)
	}
}

// A queue that confirms nothing keeps its type's share of a worker, however many of its
// timers are due. Types beside it on the same broker ring meanwhile, also where another one
// breaks a channel with each attempt.
func (h house) keepToTheirShare(t *testing.T) {
	const kind, share, due = "order-stuck", 10, 30
	stuck, well := receiver.NewQueue(t, h.broker.URL, kind), receiver.NewQueue(t, h.broker.URL, "order-well")
	h.Policy(kind, testenv.JSON{"callback": testenv.JSON{"broker": "main", "timeout": "60s"}, "limits": testenv.JSON{"in_flight": share}})
	h.Policy("order-lost", testenv.JSON{
		"callback": testenv.JSON{"broker": "main", "exchange": "nobody-has-this"}, "retry": testenv.JSON{"initial": "10ms", "max_interval": "10ms", "max_attempts": 20},
	})
	h.Policy(well.Name, testenv.JSON{"callback": testenv.JSON{"broker": "main"}})
	h.broker.Suspend(kind)
	h.AddMany(kind, due, 0)
	h.AddMany("order-lost", share, 0)
	h.awaitUnconfirmed(t, share)
	h.AddMany(well.Name, due, 0)
	for range due {
		require.Equal(t, well.Name, well.Next().Headers["Wakecall-Business-Type"])
	}
	h.AwaitAll(well.Name, due, "delivered")
	h.awaitUnconfirmed(t, share) // the others wait for their turn
	require.Contains(t, h.Await("order-lost/0", "failed").LastFailure.Message, "unroutable: there is no such exchange (404)")
	h.broker.Resume(kind)
	for range due {
		stuck.Next()
	}
	h.AwaitAll(kind, due, "delivered")
	for i := range due {
		require.Equal(t, 1, h.Get(kind+"/"+strconv.Itoa(i)).Attempts)
	}
}

// awaitUnconfirmed waits until so many messages wait for their confirmation, and no more: those
// of tests beside this one do not wait for long.
func (h house) awaitUnconfirmed(t *testing.T, wanted int) {
	t.Helper()
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		require.Equal(c, wanted, h.broker.Unconfirmed())
	}, testenv.Patience, 100*time.Millisecond, "its share is under way")
}
