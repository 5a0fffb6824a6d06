package timers

import (
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/e2e/testenv"
)

// A timer that is tried again is one timer in lists, says of each attempt to which round it
// belongs, and has no latest time that nobody gave.
func TestARedeliveredTimerIsOneTimer(t *testing.T) {
	t.Parallel()
	var mended atomic.Bool
	env, r, kind := testenv.Start(t)
	url := r.On("/down", func(w http.ResponseWriter, _ *http.Request, _ int) {
		if !mended.Load() {
			w.WriteHeader(http.StatusInternalServerError)
		}
	})
	env.Policy(kind, testenv.JSON{
		"callback": testenv.JSON{"url": url}, "retry": testenv.JSON{"steps": []string{"100ms"}}, "expires_after": "1h",
	})
	env.Add(testenv.JSON{"business_type": kind, "business_id": "1", "delay": "1ms"})
	failed := env.Await(kind+"/1", "failed")
	mended.Store(true)
	redelivered := env.Do("POST", "/v1/timers/"+kind+"/1/redeliver", nil)
	require.Equal(t, http.StatusOK, redelivered.Status, "%s", redelivered.Body)
	delivered := env.Await(kind+"/1", "delivered")
	require.NotZero(t, failed.LatestAt, "the policy's default")
	require.Zero(t, delivered.LatestAt)
	require.Equal(t, []int{1, 2, 2, 1}, []int{failed.Round, failed.Attempts, delivered.Round, delivered.Attempts})

	var told struct {
		Attempts []struct {
			Round, Number int
			Result        string
		}
	}
	env.Do("GET", "/v1/timers/"+kind+"/1/attempts", nil).Into(&told)
	require.Len(t, told.Attempts, 3)
	require.Equal(t, []int{2, 1}, []int{told.Attempts[0].Round, told.Attempts[0].Number})
	require.Equal(t, []int{1, 2}, []int{told.Attempts[1].Round, told.Attempts[1].Number})
	for query, want := range map[string][]string{"": {"delivered"}, "&sort=due": {"delivered"}, "&status=failed": nil} {
		require.EventuallyWithT(t, func(c *assert.CollectT) {
			var page struct{ Timers []testenv.Timer }
			env.Do("GET", "/v1/timers?business_type="+kind+query, nil).Into(&page)
			var rows []string
			for _, row := range page.Timers {
				rows = append(rows, row.Status)
			}
			assert.Equal(c, want, rows, query)
		}, testenv.Patience, 50*time.Millisecond, "visibility lags behind")
	}
}
