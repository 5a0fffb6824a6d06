package gateway_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/api/gateway"
	"github.com/wakecall/wakecall/core/problem"
)

func TestAddLimit(t *testing.T) {
	t.Parallel()
	env, kind := gateway.Open(t)
	env.Policy(kind, gateway.JSON{"callback": gateway.JSON{"url": gateway.Receiver}, "limits": gateway.JSON{"adds_per_second": 0.01, "adds_burst": 5}})
	for n := range 5 {
		env.Add(gateway.JSON{"business_type": kind, "business_id": fmt.Sprint(n), "delay": "1h"})
	}
	refused := env.Do("POST", "/v1/timers", gateway.JSON{"business_type": kind, "business_id": "5", "delay": "1h"})
	require.Equal(t, "urn:wakecall:problem:quota-exceeded", refused.Problem().Type)
	require.Equal(t, http.StatusTooManyRequests, refused.Status)
	require.Equal(t, `"adds_per_second";q=5;w=500`, refused.Header.Get("RateLimit-Policy"))
	require.Regexp(t, `^"adds_per_second";r=0;t=(9\d|100)$`, refused.Header.Get("RateLimit"))
	require.Regexp(t, `^(9\d|100)$`, refused.Header.Get("Retry-After"))
	require.Equal(t, http.StatusNotFound, env.Do("GET", "/v1/timers/"+kind+"/5", nil).Status, "nothing was started")
	put := env.Do("PUT", "/v1/timers/"+kind+"/5", gateway.JSON{"delay": "1h"})
	require.Equal(t, http.StatusTooManyRequests, put.Status)
	var document problem.Document
	refused.Into(&document)
	require.Equal(t, seconds(t, refused.Header.Get("Retry-After")), document.RetryAfter.D())
	var batch struct {
		Results []struct {
			Status  int
			Problem problem.Document
		}
	}
	env.Do("POST", "/v1/timers/batch", gateway.JSON{"timers": []gateway.JSON{
		{"business_type": kind, "business_id": "6", "delay": "1h"}, gateway.Booking(kind+".free", "1", "1h"),
	}}).Into(&batch)
	require.Equal(t, http.StatusTooManyRequests, batch.Results[0].Status)
	require.Greater(t, batch.Results[0].Problem.RetryAfter.D(), 80*time.Second, "a batch has no header field for each of its results")
	require.Equal(t, http.StatusCreated, batch.Results[1].Status, "another type is not concerned")
	require.Zero(t, batch.Results[1].Problem.RetryAfter)

	env.Policy(kind, gateway.JSON{"callback": gateway.JSON{"url": gateway.Receiver}, "limits": gateway.JSON{"adds_per_second": 0}})
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		assert.Equal(c, http.StatusTooManyRequests, env.Do("PUT", "/v1/timers/"+kind+"/5", gateway.JSON{"delay": "1h"}).Status)
	}, time.Minute, 50*time.Millisecond, "a policy is trusted for a while")
	env.Policy(kind, gateway.JSON{"callback": gateway.JSON{"url": gateway.Receiver}})
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		assert.Equal(c, http.StatusCreated, env.Do("PUT", "/v1/timers/"+kind+"/5", gateway.JSON{"delay": "1h"}).Status)
	}, time.Minute, 50*time.Millisecond, "a policy is trusted for a while")
}

func seconds(t *testing.T, text string) time.Duration {
	t.Helper()
	wait, err := time.ParseDuration(text + "s")
	require.NoError(t, err)
	return wait
}

// matched puts a timer that has to be there.
func matched(env *gateway.Gateway, path, tag string) gateway.Reply {
	request := env.Request("PUT", path+"?wait=20s", gateway.JSON{"delay": "2h"})
	request.Header.Set("If-Match", tag)
	return env.Send(request)
}

func TestPendingQuota(t *testing.T) {
	t.Parallel()
	env, kind := gateway.Open(t)
	env.Policy(kind, gateway.JSON{"callback": gateway.JSON{"url": gateway.Receiver}, "limits": gateway.JSON{"pending": 3}})
	env.Add(gateway.JSON{"business_type": kind, "business_id": "ended", "delay": "0s"})
	env.End(kind+"/ended", "delivered")
	for n := range 3 {
		require.EventuallyWithT(t, func(c *assert.CollectT) {
			reply := env.Do("POST", "/v1/timers", gateway.JSON{"business_type": kind, "business_id": fmt.Sprint(n), "delay": "1h"})
			assert.Contains(c, []int{http.StatusCreated, http.StatusOK}, reply.Status)
		}, time.Minute, 100*time.Millisecond, "a count is trusted for a moment")
	}
	refused := env.Do("POST", "/v1/timers", gateway.JSON{"business_type": kind, "business_id": "3", "delay": "1h"})
	require.Equal(t, http.StatusTooManyRequests, refused.Status)
	require.Equal(t, `"pending";q=3`, refused.Header.Get("RateLimit-Policy"))
	require.Equal(t, http.StatusTooManyRequests, env.Do("PUT", "/v1/timers/"+kind+"/3", gateway.JSON{"delay": "1h"}).Status)
	// What is there already needs no room.
	repeated := env.Do("POST", "/v1/timers", gateway.JSON{"business_type": kind, "business_id": "2", "delay": "1h"})
	require.Equal(t, http.StatusOK, repeated.Status, "%s", repeated.Body)
	require.Equal(t, http.StatusConflict, env.Do("POST", "/v1/timers", gateway.JSON{"business_type": kind, "business_id": "2", "delay": "2h"}).Status)
	for _, call := range [][2]string{{"POST", "/v1/timers"}, {"PUT", "/v1/timers/" + kind + "/ended"}} {
		body := gateway.JSON{"business_type": kind, "business_id": "ended", "delay": "1h"}
		if call[0] == "PUT" {
			body = gateway.JSON{"delay": "1h"}
		}
		require.Equal(t, http.StatusConflict, env.Do(call[0], call[1], body).Status, "its id is not free, whatever ends")
	}
	for range 5 { // a debounce
		put := env.Do("PUT", "/v1/timers/"+kind+"/2", gateway.JSON{"delay": "3h"})
		require.Equal(t, http.StatusOK, put.Status, "%s", put.Body)
		require.Equal(t, http.StatusOK, matched(env, "/v1/timers/"+kind+"/1", "*").Status)
	}
	env.Do("DELETE", "/v1/timers/"+kind+"/0", nil)
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		reply := env.Do("POST", "/v1/timers", gateway.JSON{"business_type": kind, "business_id": "3", "delay": "1h"})
		assert.Contains(c, []int{http.StatusCreated, http.StatusOK}, reply.Status)
	}, time.Minute, 100*time.Millisecond, "a count is trusted for a moment")

	env.Policy(kind+".none", gateway.JSON{"callback": gateway.JSON{"url": gateway.Receiver}, "limits": gateway.JSON{"pending": 0}})
	refused = env.Do("PUT", "/v1/timers/"+kind+".none/1", gateway.JSON{"delay": "1h"})
	require.Equal(t, http.StatusTooManyRequests, refused.Status, "none is none, and not any number")
	require.Equal(t, `"pending";q=0`, refused.Header.Get("RateLimit-Policy"))
	require.Contains(t, string(env.Do("GET", "/v1/policies/"+kind+".none", nil).Body), `"pending":0`)
}
