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
