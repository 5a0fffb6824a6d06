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
	"github.com/wakecall/wakecall/internal/rabbit"
)

// What a policy says of its rate, the pause, latest times and preloading holds for
// messages as it does for callbacks.
func keepsToItsPolicy(t *testing.T, env *testenv.Env, broker *rabbit.Server) {
	keepsToItsRate(t, env, broker)
	expires(t, env, broker)
	isCalledOffWhilePreloaded(t, env, broker)
	isHeldBackByABlockedBroker(t, env, broker)
}

func keepsToItsRate(t *testing.T, env *testenv.Env, broker *rabbit.Server) {
	const kind, rate, most = "order-rate", 5, 15
	policy := testenv.JSON{
		"callback": testenv.JSON{"broker": "main"}, "declare": testenv.JSON{"queue": kind}, "paused": true, "limits": testenv.JSON{"callbacks_per_second": rate},
	}
	env.Policy(kind, policy)
	for i := range most {
		env.Add(testenv.JSON{"business_type": kind, "business_id": strconv.Itoa(i), "delay": "0s"})
	}
	env.AwaitAll(kind, most, "delivering")
	q := newQueue(t, broker, kind)
	_, sent, err := q.Get(kind, true)
	require.NoError(t, err)
	require.False(t, sent, "it is paused")
	policy["paused"] = false
	env.Policy(kind, policy)
	ids := map[any]bool{}
	for range most {
		ids[q.next().Headers["Wakecall-Business-Id"]] = true
	}
	require.Len(t, ids, most)
	env.AwaitAll(kind, most, "delivered")
	first, last := time.Now(), time.Time{}
	for i := range most {
		at := env.Get(kind + "/" + strconv.Itoa(i)).DeliveredAt
		if at.Before(first) {
			first = at
		}
		if at.After(last) {
			last = at
		}
	}
	require.GreaterOrEqual(t, last.Sub(first), time.Duration(most-rate)*time.Second/(rate+1), "no more than the rate and one second's burst")
}

func expires(t *testing.T, env *testenv.Env, broker *rabbit.Server) {
	const kind = "order-late"
	q := newQueue(t, broker, kind)
	env.Policy(kind, testenv.JSON{"callback": testenv.JSON{"broker": "main"}, "retry": testenv.JSON{"initial": "100ms", "max_interval": "100ms", "max_attempts": 100}})
	env.Add(testenv.JSON{"business_type": kind, "business_id": "kept", "delay": "0s", "expires_after": "2s"})
	env.Await(kind+"/kept", "delivered")
	require.Eventually(t, func() bool {
		kept, err := q.QueueDeclarePassive(kind, true, false, false, false, nil)
		return err == nil && kept.Messages == 0
	}, 20*time.Second, 50*time.Millisecond, "the broker drops what nobody took in time")
	env.Add(testenv.JSON{"business_type": kind, "business_id": "nowhere", "delay": "0s", "expires_after": "1s", "callback": testenv.JSON{"broker": "main", "routing_key": "nobody"}})
	expired := env.Await(kind+"/nowhere", "expired")
	require.Greater(t, expired.Attempts, 1)
	require.Contains(t, expired.LastFailure.Message, "unroutable")
}

func isCalledOffWhilePreloaded(t *testing.T, env *testenv.Env, broker *rabbit.Server) {
	const kind = "order-held"
	q := newQueue(t, broker, kind)
	env.Policy(kind, testenv.JSON{"callback": testenv.JSON{"broker": "main"}, "preload": "10s"})
	env.Add(testenv.JSON{"business_type": kind, "business_id": "called-off", "delay": "10s"})
	env.Add(testenv.JSON{"business_type": kind, "business_id": "moved", "delay": "10s"})
	awaitHeld(t, env, kind+"/called-off")
	awaitHeld(t, env, kind+"/moved")
	require.Equal(t, http.StatusOK, env.Do("DELETE", "/v1/timers/"+kind+"/called-off", nil).Status)
	require.Equal(t, http.StatusOK, env.Do("PATCH", "/v1/timers/"+kind+"/moved", testenv.JSON{"delay": "0s"}).Status)
	require.Equal(t, "moved", q.next().Headers["Wakecall-Business-Id"])
	require.NotNil(t, env.Await(kind+"/moved", "delivered").LatenessMS)
	_, sent, err := q.Get(kind, true)
	require.NoError(t, err)
	require.False(t, sent)
}

// A broker that takes nothing holds its types back, and nobody else.
func isHeldBackByABlockedBroker(t *testing.T, env *testenv.Env, broker *rabbit.Server) {
	const kind = "order-blocked"
	r, q := receiver.New(t), newQueue(t, broker, kind)
	env.Policy(kind, testenv.JSON{
		"callback": testenv.JSON{"broker": "main", "timeout": "2s"}, "retry": testenv.JSON{"initial": "1s", "max_interval": "1s", "max_attempts": 100},
	})
	env.Policy("order-beside", testenv.JSON{"callback": testenv.JSON{"url": r.URL}})
	broker.Control("set_vm_memory_high_watermark", "absolute", "1MB")
	env.Add(testenv.JSON{"business_type": kind, "business_id": "before", "delay": "0s"}) // the broker takes one message before it blocks
	require.Equal(t, "before", q.next().Headers["Wakecall-Business-Id"])
	env.Add(testenv.JSON{"business_type": kind, "business_id": "1", "delay": "0s"})
	require.Eventually(t, func() bool {
		return strings.HasPrefix(env.Get(kind+"/1").LastFailure.Message, "broker_blocked")
	}, 30*time.Second, 50*time.Millisecond)
	require.Contains(t, string(env.Do("GET", "/v1/policies/"+kind, nil).Body), `"back_pressure":`)
	env.Add(testenv.JSON{"business_type": "order-beside", "business_id": "1", "delay": "0s"})
	env.Await("order-beside/1", "delivered")
	require.Equal(t, "delivering", env.Get(kind+"/1").Status)
	broker.Control("set_vm_memory_high_watermark", "0.4")
	require.Equal(t, env.Get(kind+"/1").WebhookID, q.next().MessageId)
	env.Await(kind+"/1", "delivered")
}
