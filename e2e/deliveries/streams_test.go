package deliveries

import (
	"net/http"
	"testing"
	"time"

	webhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/e2e/receiver"
	"github.com/wakecall/wakecall/e2e/sample"
	"github.com/wakecall/wakecall/e2e/testenv"
)

// A receiver that nobody can call connects, and is rung.
func TestReceiversConnect(t *testing.T) {
	t.Parallel()
	env, kind, key := testenv.Open(t, testenv.Addr), sample.Type(t), sample.Secret()
	env.Policy(kind, testenv.JSON{
		"callback":        testenv.JSON{"stream": true, "headers": testenv.JSON{"X-Tenant": "7"}, "timeout": "5s"},
		"signing_secrets": []string{key}, "retry": testenv.JSON{"steps": []string{"100ms", "100ms"}},
	})
	l := receiver.Listen(t, env.URL, kind)

	booked, timeout := time.Now(), 5*time.Second
	env.Add(testenv.JSON{"business_type": kind, "business_id": "1", "delay": "3s", "payload": testenv.JSON{"total": 12.5}})
	r := l.Next()
	header := http.Header{}
	for name, value := range r.Headers {
		header.Set(name, value)
	}
	require.Equal(t, []string{"7", "1", "1", kind, "application/json"}, []string{
		header.Get("X-Tenant"), r.ID(), header.Get("Wakecall-Attempt"), header.Get("Wakecall-Business-Type"), header.Get("Content-Type"),
	})
	require.JSONEq(t, `{"total": 12.5}`, r.Body)
	verifier, err := webhooks.NewWebhook(key)
	require.NoError(t, err)
	require.NoError(t, verifier.Verify([]byte(r.Body), header))
	require.WithinRange(t, r.Deadline, booked.Add(timeout).Truncate(time.Millisecond), time.Now().Add(timeout+time.Millisecond))
	l.Ack(r)
	delivered := env.Await(kind+"/1", "delivered")
	require.Equal(t, 1, delivered.Attempts)
	require.NotNil(t, delivered.LatenessMS)

	// What is refused goes up the ladder, under the same id.
	env.Add(testenv.JSON{"business_type": kind, "business_id": "2", "delay": "0s"})
	first := l.Next()
	l.Say(`{"nack":"` + first.Ring + `","reason":"the database is down","delay":"200ms"}`)
	second := l.Next()
	require.Equal(t, first.Headers["webhook-id"], second.Headers["webhook-id"])
	require.Equal(t, "2", second.Headers["Wakecall-Attempt"])
	require.Equal(t, "refused: the database is down", env.Get(kind+"/2").LastFailure.Message)
	l.Say(`{"nack":"` + second.Ring + `","no_retry":true}`)
	require.Equal(t, 2, env.Await(kind+"/2", "failed").Attempts)

	// A connection that breaks is no attempt: the next one gets the ring at once.
	env.Add(testenv.JSON{"business_type": kind, "business_id": "3", "delay": "0s"})
	lost := l.Next()
	require.NoError(t, l.Socket.CloseNow())
	l = receiver.Listen(t, env.URL, kind)
	again := l.Next()
	require.Equal(t, []string{lost.Headers["webhook-id"], "1"}, []string{again.Headers["webhook-id"], again.Headers["Wakecall-Attempt"]})
	l.Ack(again)
	require.Equal(t, 1, env.Await(kind+"/3", "delivered").Attempts)
}

// Without a receiver timers wait: they can be looked at, cancelled and moved, and ring
// when one connects.
func TestTimersWaitForAReceiver(t *testing.T) {
	t.Parallel()
	env, kind := testenv.Open(t, testenv.Addr), sample.Type(t)
	env.Policy(kind, testenv.JSON{"callback": testenv.JSON{"stream": true}})
	for _, id := range []string{"waits", "cancelled", "moved"} {
		env.Add(testenv.JSON{"business_type": kind, "business_id": id, "delay": "0s"})
	}
	env.Add(testenv.JSON{"business_type": kind, "business_id": "expires", "delay": "0s", "expires_after": "1s"})
	require.Equal(t, 0, env.Await(kind+"/waits", "delivering").Attempts)
	env.Await(kind+"/cancelled", "delivering")
	env.Await(kind+"/moved", "delivering")
	require.Equal(t, "cancelled", env.Do("DELETE", "/v1/timers/"+kind+"/cancelled", nil).Timer().Status)
	require.Equal(t, "scheduled", env.Do("PATCH", "/v1/timers/"+kind+"/moved", testenv.JSON{"delay": "1h"}).Timer().Status)
	env.Await(kind+"/expires", "expired")
	waitsFor := func(id, what string) {
		require.EventuallyWithT(t, func(c *assert.CollectT) {
			var shown struct {
				WaitsFor string `json:"waits_for"`
			}
			env.Do("GET", "/v1/timers/"+kind+"/"+id, nil).Into(&shown)
			require.Equal(c, what, shown.WaitsFor)
		}, testenv.Patience, testenv.Interval, "a worker looks at it first")
	}
	waitsFor("waits", "receiver")
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		waits, _, err := env.Engine.Queues.Waiting(t.Context(), kind)
		require.NoError(c, err)
		require.Equal(c, 1, waits)
	}, testenv.Patience, 50*time.Millisecond, "visibility has heard that one waits and the others do not")
	l := receiver.Listen(t, env.URL, kind)
	r := l.Next()
	require.Equal(t, "waits", r.ID())
	l.Ack(r)
	env.Await(kind+"/waits", "delivered")
	require.Empty(t, l.Rings)
}

// A client without WebSockets polls, and answers with calls of their own, at any gateway.
func TestLongPolls(t *testing.T) {
	t.Parallel()
	env, kind := testenv.Open(t, testenv.Addr), sample.Type(t)
	env.Policy(kind, testenv.JSON{"callback": testenv.JSON{"stream": true}})
	path := "/v1/streams/" + kind
	var polled struct{ Rings []receiver.Ring }
	env.Do("GET", path+"?wait=0s", nil).Into(&polled)
	require.Empty(t, polled.Rings)
	env.Add(testenv.JSON{"business_type": kind, "business_id": "1", "delay": "1s", "payload": 1})
	env.Do("GET", path, nil).Into(&polled)
	require.Len(t, polled.Rings, 1)
	require.Equal(t, []string{"1", "1"}, []string{polled.Rings[0].ID(), polled.Rings[0].Body})
	answer := func(body testenv.JSON) int { return env.Do("POST", path+"/answers", body).Status }
	require.Equal(t, http.StatusConflict, answer(testenv.JSON{"ack": "0"}))
	require.Equal(t, http.StatusUnprocessableEntity, answer(testenv.JSON{"ack": polled.Rings[0].Ring, "reason": "x"}))
	require.Equal(t, http.StatusNoContent, answer(testenv.JSON{"ack": polled.Rings[0].Ring}))
	require.Equal(t, http.StatusConflict, answer(testenv.JSON{"ack": polled.Rings[0].Ring}), "twice")
	env.Await(kind+"/1", "delivered")

	other := testenv.Open(t, testenv.Addr)
	env.Add(testenv.JSON{"business_type": kind, "business_id": "2", "delay": "0s"})
	env.Do("GET", path, nil).Into(&polled)
	answer = func(body testenv.JSON) int { return other.Do("POST", path+"/answers", body).Status }
	require.Equal(t, http.StatusNoContent, answer(testenv.JSON{"nack": polled.Rings[0].Ring, "no_retry": true, "reason": "elsewhere"}))
	require.Equal(t, "refused: elsewhere", env.Await(kind+"/2", "failed").LastFailure.Message)
	require.Equal(t, http.StatusConflict, answer(testenv.JSON{"ack": polled.Rings[0].Ring}), "twice")
}

// A gateway that stops waits for the answers to what was taken by long polls, which come by
// another one. What nobody has answered by then is no attempt, and rings again.
func TestAGatewayStopsBetweenALongPollAndItsAnswer(t *testing.T) {
	t.Parallel()
	testenv.Steadily(t, func(t testing.TB) {
		other, kind := testenv.Open(t, testenv.Addr), sample.Type(t)
		settings := testenv.Settings()
		settings.StopTimeout = 6 * time.Second
		gateway := testenv.OpenWith(t, testenv.Addr, settings)
		gateway.Policy(kind, testenv.JSON{"callback": testenv.JSON{"stream": true, "timeout": "50s"}, "retry": testenv.JSON{"steps": []string{}}})
		path := "/v1/streams/" + kind
		poll := func(env *testenv.Env) receiver.Ring {
			var polled struct{ Rings []receiver.Ring }
			env.Do("GET", path, nil).Into(&polled)
			require.Len(t, polled.Rings, 1)
			return polled.Rings[0]
		}
		gateway.Add(testenv.JSON{"business_type": kind, "business_id": "acked", "delay": "0s"})
		acked := poll(gateway)
		gateway.Add(testenv.JSON{"business_type": kind, "business_id": "left", "delay": "0s"})
		left := poll(gateway)

		stopped := gateway.Stopping()
		require.Eventually(t, func() bool { return gateway.Do("GET", path+"?wait=0s", nil).Status == http.StatusServiceUnavailable },
			testenv.Patience, time.Millisecond, "it takes no more receivers")
		require.Equal(t, http.StatusNoContent, other.Do("POST", path+"/answers", testenv.JSON{"ack": acked.Ring}).Status)
		require.EqualValues(t, 1, other.Await(kind+"/acked", "delivered").Attempts)
		again := poll(other)
		<-stopped
		require.Equal(t, left.Headers["webhook-id"], again.Headers["webhook-id"])
		require.Equal(t, "1", again.Headers["Wakecall-Attempt"], "it was no attempt")
		require.Equal(t, http.StatusNoContent, other.Do("POST", path+"/answers", testenv.JSON{"ack": again.Ring}).Status)
		require.EqualValues(t, 1, other.Await(kind+"/left", "delivered").Attempts)
	})
}
