package deliveries

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/e2e/receiver"
	"github.com/wakecall/wakecall/e2e/testenv"
	"github.com/wakecall/wakecall/workflows"
)

// No more than the rate leave, and nothing while the type is paused.
func (h house) keepToTheRate(t *testing.T) {
	const kind, rate, most = "order-rate", 5, 15
	policy := testenv.JSON{
		"callback": testenv.JSON{"broker": "main"}, "declare": testenv.JSON{"queue": kind}, "paused": true, "limits": testenv.JSON{"callbacks_per_second": rate},
	}
	h.Policy(kind, policy)
	h.awaitPaused(t, kind)
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

// awaitPaused waits until the queue of a type lets nothing go.
func (h house) awaitPaused(t *testing.T, kind string) {
	t.Helper()
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		described, err := h.Client.WorkflowService().DescribeTaskQueue(t.Context(), &workflowservice.DescribeTaskQueueRequest{
			Namespace: client.DefaultNamespace, TaskQueue: &taskqueuepb.TaskQueue{Name: workflows.DeliveryQueue(kind)},
			TaskQueueType: enumspb.TASK_QUEUE_TYPE_ACTIVITY, ReportConfig: true,
		})
		require.NoError(c, err)
		rate := described.GetConfig().GetQueueRateLimit().GetRateLimit()
		require.NotNil(c, rate)
		require.Zero(c, rate.GetRequestsPerSecond())
	}, testenv.Patience, 20*time.Millisecond)
}

// A message is dropped at the latest time, by the broker and before it.
func (h house) expire(t *testing.T) {
	const kind = "order-late"
	q := newQueue(t, h.broker, kind)
	h.Policy(kind, testenv.JSON{"callback": testenv.JSON{"broker": "main"}, "retry": testenv.JSON{"initial": "100ms", "max_interval": "1s", "max_attempts": 100}})
	h.Add(testenv.JSON{"business_type": kind, "business_id": "kept", "delay": "0s", "expires_after": "15s"})
	h.Await(kind+"/kept", "delivered")
	require.Eventually(t, func() bool {
		kept, err := q.QueueDeclarePassive(kind, true, false, false, false, nil)
		return err == nil && kept.Messages == 0
	}, testenv.Patience, 50*time.Millisecond, "the broker drops what nobody took in time")
	h.Add(testenv.JSON{"business_type": kind, "business_id": "nowhere", "delay": "0s", "expires_after": "15s", "callback": testenv.JSON{"broker": "main", "routing_key": "nobody"}})
	expired := h.Await(kind+"/nowhere", "expired")
	require.Greater(t, expired.Attempts, 1)
	require.Contains(t, expired.LastFailure.Message, "unroutable")
}

func (h house) callOffWhilePreloaded(t *testing.T) {
	const kind = "order-held"
	q := newQueue(t, h.broker, kind)
	h.Policy(kind, testenv.JSON{"callback": testenv.JSON{"broker": "main"}, "preload": "1m"})
	h.Add(testenv.JSON{"business_type": kind, "business_id": "called-off", "delay": "55s"})
	h.Add(testenv.JSON{"business_type": kind, "business_id": "moved", "delay": "55s"})
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

// A queue may be the second link, and whoever reads it acknowledges later as anywhere else.
func (h house) standIn(t *testing.T) {
	const kind = "order-twice"
	r, q := receiver.New(t), newQueue(t, h.broker, "order-second")
	first := r.On("/first", receiver.Status(http.StatusServiceUnavailable))
	h.Policy(kind, testenv.JSON{
		"callback": testenv.JSON{"url": first}, "fallback": testenv.JSON{"broker": "main", "routing_key": q.name, "after": "1s"},
		"ack": testenv.JSON{"within": "10m"}, "retry": testenv.JSON{"steps": []string{"1h"}},
	})
	booked := h.Add(testenv.JSON{"business_type": kind, "business_id": "1", "delay": "0s"})
	d := q.next()
	require.Equal(t, []string{booked.WebhookID, booked.WebhookID}, []string{d.MessageId, r.To("/first")[0].Header.Get("webhook-id")})
	view, _, err := h.Wakecall().Deliveries.Ack(t.Context(), deliveryOf(d), testenv.Patient)
	require.NoError(t, err)
	require.Equal(t, timer.Delivered, view.Status)
	require.Equal(t, "fallback", h.Get(kind+"/1").Link)
}

// A broker that takes nothing holds its types back, and nobody else.
func (h house) holdBackAtABlockedBroker(t *testing.T) {
	const kind = "order-blocked"
	r, q := receiver.New(t), newQueue(t, h.broker, kind)
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
	arrived := map[string]bool{q.next().MessageId: true, q.next().MessageId: true}
	for _, id := range ids {
		require.True(t, arrived[h.Await(kind+"/"+id, "delivered").WebhookID], id)
	}
}
