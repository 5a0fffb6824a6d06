package timers

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/client"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/e2e/contract"
	"github.com/wakecall/wakecall/e2e/receiver"
	"github.com/wakecall/wakecall/e2e/sample"
	"github.com/wakecall/wakecall/e2e/testenv"
)

// Each attempt is recorded, also while the timer is on its ladder, and those of a
// redelivery behind it.
func TestTheRecordOfAttempts(t *testing.T) {
	t.Parallel()
	env, r, kind := testenv.Start(t)
	const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	url := r.On("/1", func(w http.ResponseWriter, _ *http.Request, n int) {
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = fmt.Fprintf(w, "busy %d", n)
	})
	env.Policy(kind, testenv.JSON{
		"callback": testenv.JSON{"url": url}, "retry": testenv.JSON{"steps": []string{"1ms", "2s"}}, "signing_secrets": []string{secret},
	})
	attempts := func() (all []delivery.ShownAttempt) {
		t.Helper()
		wakecall := client.New(client.Options{URL: env.URL, HTTP: contract.Calls(t)})
		for attempt, err := range wakecall.Timers.Attempts(t.Context(), wire.Key{BusinessType: kind, BusinessID: "1"}) {
			require.NoError(t, err)
			all = append(all, attempt)
		}
		return all
	}
	booked := env.Add(testenv.JSON{"business_type": kind, "business_id": "1", "delay": "1ms", "payload": 7})
	require.EventuallyWithT(t, func(c *assert.CollectT) { assert.Len(c, attempts(), 2) }, testenv.Patience, testenv.Interval, "two attempts are made soon")
	ladder := attempts()
	env.Await(kind+"/1", "failed")
	all := attempts()
	require.Len(t, all, 3)
	require.Equal(t, ladder[len(ladder)-1], all[2], "the first one stays as it was")
	digest := sha256.Sum256([]byte("7"))
	for i, attempt := range all {
		require.Equal(t, 3-i, attempt.Number)
		require.Equal(t, 503, attempt.Status)
		require.Equal(t, delivery.Answered, attempt.Class)
		require.Equal(t, fmt.Sprintf("busy %d", 3-i), attempt.Answer)
		require.Equal(t, []string{delivery.KeyID(secret)}, attempt.KeyIDs)
		require.Equal(t, booked.WebhookID, attempt.WebhookID)
		require.Equal(t, hex.EncodeToString(digest[:]), attempt.BodySHA256)
		require.Equal(t, 1, attempt.PolicyVersion)
		require.NotEmpty(t, attempt.Worker)
		require.LessOrEqual(t, attempt.DueAt, attempt.SentAt)
		require.LessOrEqual(t, attempt.SentAt, attempt.EndedAt)
	}
	require.Equal(t, delivery.ResultFailed, all[0].Result)
	require.Equal(t, delivery.ResultRetry, all[1].Result)
	require.GreaterOrEqual(t, all[1].RetryIn.D(), 2*time.Second)
	require.Equal(t, all[1].EndedAt.Add(all[1].RetryIn.D()), all[0].DueAt)

	env.Policy(kind, testenv.JSON{"callback": testenv.JSON{"url": url}, "discard_answers": true, "retry": testenv.JSON{"steps": []string{"1ms", "2s"}}})
	redelivered := env.Do("POST", "/v1/timers/"+kind+"/1/redeliver", nil)
	require.Equal(t, http.StatusOK, redelivered.Status)
	env.Await(kind+"/1", "failed")
	require.EventuallyWithT(t, func(c *assert.CollectT) { assert.Len(c, attempts(), 6) }, testenv.Patience, 50*time.Millisecond, "visibility lags behind")
	again := attempts()[0]
	require.Equal(t, redelivered.Timer().RunID, again.RunID)
	require.Equal(t, booked.WebhookID, again.WebhookID)
	require.Empty(t, again.Answer)
	require.Equal(t, []string{delivery.KeyID(secret)}, again.KeyIDs, "a policy without secrets keeps them")

	r.On("/2", receiver.Status(204))
	env.Add(sample.Booking(kind, "2", "1ms", r.URL+"/2"))
	env.Await(kind+"/2", "delivered")
	var page struct{ Attempts []delivery.ShownAttempt }
	env.Do("GET", "/v1/timers/"+kind+"/2/attempts?page_size=1", nil).Into(&page)
	require.Len(t, page.Attempts, 1)
	require.Equal(t, delivery.ResultDelivered, page.Attempts[0].Result)
	require.Equal(t, 204, page.Attempts[0].Status)
	require.Equal(t, http.StatusNotFound, env.Do("GET", "/v1/timers/"+kind+"/3/attempts", nil).Status)
	require.Equal(t, "page_size", env.Do("GET", "/v1/timers/"+kind+"/2/attempts?page_size=101", nil).Problem().Errors[0].Pointer)
}
