package deliveries

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/e2e/receiver"
	"github.com/wakecall/wakecall/e2e/sample"
	"github.com/wakecall/wakecall/e2e/testenv"
)

// pressure is what a policy shows of back-pressure.
type pressure struct {
	BackPressure *struct {
		Until time.Time `json:"until"`
	} `json:"back_pressure"`
}

func pressureOf(env *testenv.Env, kind string) (p pressure) {
	env.Do("GET", "/v1/policies/"+kind, nil).Into(&p)
	return p
}

func awaitPressure(t *testing.T, env *testenv.Env, kind string) {
	t.Helper()
	require.Eventually(t, func() bool { return pressureOf(env, kind).BackPressure != nil },
		testenv.Patience, 20*time.Millisecond, "the policy's workflow hears of it")
}

// A timeout that is raised is in force for the retries of timers that are being
// delivered, and every attempt counts.
func TestARaisedTimeoutReachesRetries(t *testing.T) {
	t.Parallel()
	env, r, kind := testenv.Start(t)
	policy := testenv.JSON{
		"callback": testenv.JSON{"timeout": "300ms", "url": r.On("/slow", func(w http.ResponseWriter, q *http.Request, _ int) {
			select {
			case <-time.After(18 * time.Second): // longer than what was in force then, and 15 s
			case <-q.Context().Done():
			}
			w.WriteHeader(http.StatusOK)
		})},
		"retry": testenv.JSON{"steps": []string{"6s", "1s"}},
	}
	env.Policy(kind, policy)
	env.Add(testenv.JSON{"business_type": kind, "business_id": "1", "delay": "0s"})
	env.Await(kind+"/1", "delivering")
	r.Await(t, "1", 1)
	policy["callback"].(testenv.JSON)["timeout"] = "30s"
	env.Policy(kind, policy)
	require.Equal(t, 2, env.Await(kind+"/1", "delivered").Attempts)
	require.Len(t, r.Calls("1"), 2)
}

// A timer whose attempt is in flight at its latest time is delivered by it.
func TestTheLatestTimeOfADelivery(t *testing.T) {
	t.Parallel()
	env, r, kind := testenv.Start(t)
	body := sample.Booking(kind, "in-flight", "0s", r.On("/late", func(w http.ResponseWriter, q *http.Request, n int) {
		if n == 1 {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		select {
		case <-time.After(6 * time.Second):
		case <-q.Context().Done():
		}
	}))
	body["retry"], body["expires_after"] = testenv.JSON{"steps": []string{"1s"}}, "5s"
	env.Add(body)
	require.Equal(t, 2, env.Await(kind+"/in-flight", "delivered").Attempts)
}

// Back-pressure is lifted for the type and for the timer that was answered, in
// every worker.
func TestLiftedBackPressure(t *testing.T) {
	t.Parallel()
	env, r, kind := testenv.Start(t)
	path := "/v1/policies/" + kind + "/back_pressure"
	require.Equal(t, http.StatusNotFound, env.Do("DELETE", path, nil).Status, "there is no policy")
	env.Policy(kind, testenv.JSON{"callback": testenv.JSON{"url": r.On("/patience", func(w http.ResponseWriter, q *http.Request, n int) {
		if n == 1 && q.Header.Get("Wakecall-Business-Id") == "first" {
			w.Header().Set("Retry-After", "3600")
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})}, "retry": testenv.JSON{"steps": []string{"10ms"}}})
	require.Equal(t, http.StatusNoContent, env.Do("DELETE", path, nil).Status, "none is in force")
	env.Add(testenv.JSON{"business_type": kind, "business_id": "first", "delay": "0s"})
	awaitPressure(t, env, kind)
	env.Add(testenv.JSON{"business_type": kind, "business_id": "second", "delay": "0s"})
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		for _, id := range []string{"first", "second"} {
			next := env.Get(kind + "/" + id).NextAttemptAt
			assert.WithinDuration(c, time.Now().Add(time.Hour), next, 10*time.Minute, "%s shows when it is called", id)
		}
	}, testenv.Patience, 50*time.Millisecond, "both are held")
	require.Equal(t, http.StatusNoContent, env.Do("DELETE", path, nil).Status)
	require.Equal(t, http.StatusNoContent, env.Do("DELETE", path, nil).Status, "it may be repeated")
	require.Nil(t, pressureOf(env, kind).BackPressure)
	r.Await(t, "second", 1)
	require.Equal(t, 2, env.Await(kind+"/first", "delivered").Attempts)
}

// One attempt at a time leaves room for retries.
func TestOneInFlight(t *testing.T) {
	t.Parallel()
	env, r, kind := testenv.Start(t)
	env.Policy(kind, testenv.JSON{
		"callback": testenv.JSON{"url": r.On("/once", receiver.FailFirst(1))}, "limits": testenv.JSON{"in_flight": 1},
		"retry": testenv.JSON{"steps": []string{"10ms"}},
	})
	env.Add(testenv.JSON{"business_type": kind, "business_id": "1", "delay": "1s"})
	require.Equal(t, 2, env.Await(kind+"/1", "delivered").Attempts)
}

// While a type has no policy its timers wait, and use nothing up.
func TestATimerWaitsForItsPolicy(t *testing.T) {
	t.Parallel()
	env, r, kind := testenv.Start(t)
	policy := testenv.JSON{"callback": testenv.JSON{"url": r.URL}, "retry": testenv.JSON{"steps": []string{}}}
	env.Policy(kind, policy)
	env.Add(testenv.JSON{"business_type": kind, "business_id": "1", "delay": "2s"})
	require.Equal(t, http.StatusNoContent, env.Do("DELETE", "/v1/policies/"+kind+"?timers=keep", nil).Status)
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		assert.Equal(c, "no_receiver", env.Get(kind+"/1").LastFailure.Message)
	}, testenv.Patience, 50*time.Millisecond, "nobody can be called")
	require.Zero(t, env.Get(kind+"/1").Attempts)
	env.Policy(kind, policy)
	env.Await(kind+"/1", "delivered")
	require.Equal(t, "1", r.Calls("1")[0].Header.Get("Wakecall-Attempt"))
}
