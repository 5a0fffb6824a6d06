package operations

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

// What is booked before a limit or a pause keeps to it all the same.
func TestPauseAndResume(t *testing.T) {
	t.Parallel()
	env, r, kind := testenv.Start(t)
	policy := testenv.JSON{"callback": testenv.JSON{"url": r.URL}, "retry": testenv.JSON{"steps": []string{"15s"}}}
	env.Policy(kind, policy)
	env.Policy(kind+".open", testenv.JSON{"callback": testenv.JSON{"url": r.URL}})
	r.On("/", receiver.FailFirst(1))
	env.Add(testenv.JSON{"business_type": kind, "business_id": "retrying", "delay": "0s"})
	env.Add(testenv.JSON{"business_type": kind, "business_id": "waiting", "delay": "15s"})
	refused := r.Await(t, "retrying", 1)[0].At
	policy["paused"] = true
	env.Policy(kind, policy)

	env.Await(kind+"/waiting", "delivering")
	after := max(time.Until(refused.Add(17*time.Second)), 0).String() // the retry that is held back was due
	env.Add(testenv.JSON{"business_type": kind + ".open", "business_id": "later", "delay": after})
	r.Await(t, "later", 1)
	require.Len(t, r.Calls("retrying"), 1, "a pending retry is paused as well")
	require.Empty(t, r.Calls("waiting"))
	require.Equal(t, "delivering", env.Get(kind+"/waiting").Status)
	require.Zero(t, env.Get(kind+"/waiting").Attempts)
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		assert.Contains(c, held(t, env, "paused=true"), kind)
	}, testenv.Patience, testenv.Interval, "visibility lags behind")

	policy["paused"] = false
	env.Policy(kind, policy)
	r.Await(t, "waiting", 2)
	r.Await(t, "retrying", 2)
	require.Equal(t, 2, env.Await(kind+"/retrying", "delivered").Attempts)
}

// held lists the business types of the policies that a filter selects.
func held(t *testing.T, env *testenv.Env, filter string) (types []string) {
	var list struct {
		Policies []struct {
			Type string `json:"business_type"`
		}
	}
	reply := env.Do("GET", "/v1/policies?"+filter, nil)
	require.Equal(t, http.StatusOK, reply.Status)
	reply.Into(&list)
	for _, policy := range list.Policies {
		types = append(types, policy.Type)
	}
	return types
}

// A receiver that asks for patience is heard for its whole type, and called
// again by itself when the time has come.
func TestBackPressure(t *testing.T) {
	t.Parallel()
	env, r, kind := testenv.Start(t)
	r.On("/busy", func(w http.ResponseWriter, req *http.Request, n int) {
		if req.Header.Get("Wakecall-Business-Id") == "first" && n == 1 {
			w.Header().Set("Retry-After", "30")
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	env.Policy(kind, testenv.JSON{"callback": testenv.JSON{"url": r.URL + "/busy"}, "retry": testenv.JSON{"steps": []string{"10ms", "10ms"}}})
	env.Add(testenv.JSON{"business_type": kind, "business_id": "first", "delay": "0s"})
	refused := r.Await(t, "first", 1)[0].At
	var policy struct {
		BackPressure struct {
			Until  time.Time
			Status int
		} `json:"back_pressure"`
	}
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		env.Do("GET", "/v1/policies/"+kind, nil).Into(&policy)
		assert.Equal(c, http.StatusServiceUnavailable, policy.BackPressure.Status)
	}, testenv.Patience, testenv.Interval, "the policy's workflow hears of it")
	require.WithinRange(t, policy.BackPressure.Until, refused.Add(30*time.Second).Truncate(time.Millisecond), time.Now().Add(30*time.Second))
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		assert.Contains(c, held(t, env, "back_pressure=true"), kind)
	}, testenv.Patience, testenv.Interval, "visibility lags behind")

	env.AddMany(kind, 5, 0)
	own := sample.Booking(kind, "elsewhere", "0s", r.URL+"/own")
	env.Add(own)
	r.AwaitAll(t, 7+1)
	for _, call := range r.All() {
		if call.ID() != "first" || call.At != refused {
			require.False(t, call.At.Before(policy.BackPressure.Until), "%s was called %s early", call.ID(), policy.BackPressure.Until.Sub(call.At))
		}
	}
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		assert.NotContains(c, held(t, env, "back_pressure=true"), kind)
	}, testenv.Patience, testenv.Interval, "it ends by itself")
	require.Equal(t, 2, env.Await(kind+"/first", "delivered").Attempts)
}
