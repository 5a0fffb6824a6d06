package deliveries

import (
	"encoding/json"
	"net/http"
	"testing"

	webhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/e2e/receiver"
	"github.com/wakecall/wakecall/e2e/sample"
	"github.com/wakecall/wakecall/e2e/testenv"
)

// event is what an alert says.
type event struct {
	Type string
	Data struct {
		BusinessID  string `json:"business_id"`
		Attempts    int
		WebhookID   string               `json:"webhook_id"`
		LastFailure struct{ Status int } `json:"last_failure"`
	}
}

// alerted is a business type whose alerts a receiver takes at the second try.
func alerted(env *testenv.Env, r *receiver.Receiver, kind string) (key string) {
	key = sample.Secret()
	r.On("/alert", func(w http.ResponseWriter, req *http.Request, n int) {
		if n == 1 {
			w.WriteHeader(http.StatusInternalServerError)
		}
	})
	env.Policy(kind, testenv.JSON{
		"callback": testenv.JSON{"url": r.URL + "/call"}, "retry": testenv.JSON{"steps": []string{"10ms"}},
		"signing_secrets": []string{key}, "alert": testenv.JSON{"url": r.URL + "/alert"},
	})
	return key
}

// alerts returns the alerts about events of one type.
func alerts(t *testing.T, r *receiver.Receiver, kind string) (calls []receiver.Call, events []event) {
	for _, call := range r.To("/alert") {
		var e event
		require.NoError(t, json.Unmarshal(call.Body, &e))
		if e.Type == kind {
			calls, events = append(calls, call), append(events, e)
		}
	}
	return calls, events
}

func TestAlertOfAFailedTimer(t *testing.T) {
	t.Parallel()
	env, r, kind := testenv.Start(t)
	key := alerted(env, r, kind)
	r.On("/call", receiver.Status(http.StatusBadGateway))
	env.Add(testenv.JSON{"business_type": kind, "business_id": "1", "delay": "0s"})
	failed := env.Await(kind+"/1", "failed")
	r.AwaitTo(t, "/alert", 2)

	calls, events := alerts(t, r, "timer.failed")
	require.Len(t, calls, 2, "the first try was answered 500")
	require.Equal(t, calls[0].Header.Get("webhook-id"), calls[1].Header.Get("webhook-id"))
	verifier, err := webhooks.NewWebhook(key)
	require.NoError(t, err)
	require.NoError(t, verifier.Verify(calls[1].Body, calls[1].Header))
	require.Equal(t, "1", events[1].Data.BusinessID)
	require.Equal(t, 2, events[1].Data.Attempts)
	require.Equal(t, failed.WebhookID, events[1].Data.WebhookID)
	require.Equal(t, http.StatusBadGateway, events[1].Data.LastFailure.Status)

	require.Equal(t, http.StatusOK, env.Do("POST", "/v1/timers/"+kind+"/1/redeliver", nil).Status)
	r.AwaitTo(t, "/alert", 3)
	calls, _ = alerts(t, r, "timer.failed")
	require.NotEqual(t, calls[0].Header.Get("webhook-id"), calls[2].Header.Get("webhook-id"), "it failed again: another event")
}

// Who asked for it is told how a delivery ended, once, and the timer's own in place of
// the policy's.
func TestOutcomesAreTold(t *testing.T) {
	t.Parallel()
	env, r, kind := testenv.Start(t)
	key := sample.Secret()
	r.On("/told", func(w http.ResponseWriter, _ *http.Request, n int) {
		if n == 1 {
			w.WriteHeader(http.StatusInternalServerError)
		}
	})
	r.On("/gone", receiver.Status(http.StatusGone))
	env.Policy(kind, testenv.JSON{
		"callback": testenv.JSON{"url": r.URL + "/call"}, "signing_secrets": []string{key},
		"on_delivered": testenv.JSON{"url": r.URL + "/told"}, "on_failed": testenv.JSON{"url": r.URL + "/told"},
	})
	env.Add(testenv.JSON{"business_type": kind, "business_id": "good", "delay": "0s"})
	told := r.AwaitTo(t, "/told", 2)
	require.Equal(t, told[0].Header.Get("webhook-id"), told[1].Header.Get("webhook-id"), "the first try was answered 500")
	verifier, err := webhooks.NewWebhook(key)
	require.NoError(t, err)
	require.NoError(t, verifier.Verify(told[1].Body, told[1].Header))
	var said timer.Event
	require.NoError(t, json.Unmarshal(told[1].Body, &said))
	good := env.Get(kind + "/good")
	require.Equal(t, timer.EventDelivered, said.Type)
	require.Equal(t, good.WebhookID, said.Data.WebhookID)
	require.Equal(t, good.DeliveredAt, said.Data.DeliveredAt.Time())
	require.Equal(t, good.LatenessMS, said.Data.LatenessMS)

	env.Add(testenv.JSON{"business_type": kind, "business_id": "bad", "delay": "0s", "callback": testenv.JSON{"url": r.URL + "/gone"}})
	require.NoError(t, json.Unmarshal(r.AwaitTo(t, "/told", 3)[2].Body, &said))
	require.Equal(t, timer.EventFailed, said.Type)
	require.Equal(t, "bad", said.Data.BusinessID)
	require.Len(t, r.To("/told"), 3)
}
