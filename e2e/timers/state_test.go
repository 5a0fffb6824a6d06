package timers

import (
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/e2e/receiver"
	"github.com/wakecall/wakecall/e2e/sample"
	"github.com/wakecall/wakecall/e2e/testenv"
)

// Temporal's own lists show TimerState for as long as they show the timer.
func TestTimerStateSaysHowItEnded(t *testing.T) {
	t.Parallel()
	env, r, kind := testenv.Start(t)
	busy := r.On("/busy", receiver.Status(500))
	book := func(id, target string, steps ...string) testenv.JSON {
		body := sample.Booking(kind, id, "0s", target)
		body["retry"] = testenv.JSON{"steps": steps}
		return body
	}
	env.Add(book("delivered", r.On("/twice", receiver.FailFirst(2)), "10ms", "10ms"))
	env.Add(book("failed", busy, "10ms"))
	env.Add(book("cancelled", busy, "1h"))
	expired := book("expired", busy, "1h")
	expired["expires_after"] = "300ms"
	env.Add(expired)
	require.Eventually(t, func() bool { return env.Get(kind + "/cancelled").NextAttemptAt.After(time.Now()) },
		20*time.Second, 10*time.Millisecond, "it is in back-off")
	require.Equal(t, http.StatusOK, env.Do("DELETE", "/v1/timers/"+kind+"/cancelled", nil).Status)
	for _, id := range []string{"delivered", "failed", "cancelled", "expired"} {
		env.Await(kind+"/"+id, id)
		described, err := env.Client.DescribeWorkflowExecution(t.Context(), kind+"/"+id, "")
		require.NoError(t, err)
		state := described.GetWorkflowExecutionInfo().GetSearchAttributes().GetIndexedFields()["TimerState"]
		require.Equal(t, `"`+id+`"`, string(state.GetData()))
		require.EventuallyWithT(t, func(c *assert.CollectT) {
			assert.Len(c, testenv.Listed(env, url.Values{"business_type": {kind}, "status": {id}}), 1, id)
		}, testenv.Patience, 100*time.Millisecond, "visibility lags behind")
	}
}
