package e2e

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/e2e/house"
	"github.com/wakecall/wakecall/e2e/receiver"
)

// What is booked before a limit or a pause keeps to it all the same.
func TestPauseAndResume(t *testing.T) { // it needs the machine for itself
	h, r, kind := open(t)
	policy := house.JSON{"callback": house.JSON{"url": r.URL}, "retry": house.JSON{"steps": []string{"10ms"}}}
	h.Policy(kind, policy)
	r.On("/", receiver.FailFirst(1))
	h.Add(house.JSON{"business_type": kind, "business_id": "retrying", "delay": "2s"})
	h.Add(house.JSON{"business_type": kind, "business_id": "waiting", "delay": "10s"})
	policy["retry"] = house.JSON{"steps": []string{"8s"}}
	h.Policy(kind, policy)
	r.Await(t, "retrying", 1)
	policy["paused"] = true
	h.Policy(kind, policy)

	h.Await(kind+"/waiting", "delivering")
	h.Policy(kind+".open", house.JSON{"callback": house.JSON{"url": r.URL}})
	h.Add(house.JSON{"business_type": kind + ".open", "business_id": "later", "delay": "4s"}) // after the retry that is held back
	r.Await(t, "later", 1)
	require.Len(t, r.Calls("retrying"), 1, "a pending retry is paused as well")
	require.Empty(t, r.Calls("waiting"))
	require.Equal(t, "delivering", h.Get(kind+"/waiting").Status)
	require.Zero(t, h.Get(kind+"/waiting").Attempts)
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		assert.Contains(c, held(t, h, "paused=true"), kind)
	}, 10*time.Second, 20*time.Millisecond, "visibility lags behind")

	policy["paused"] = false
	h.Policy(kind, policy)
	r.Await(t, "waiting", 2)
	r.Await(t, "retrying", 2)
	require.Equal(t, 2, h.Await(kind+"/retrying", "delivered").Attempts)
}

// held lists the business types of the policies that a filter selects.
func held(t *testing.T, h *house.House, filter string) (types []string) {
	var list struct {
		Policies []struct {
			Type string `json:"business_type"`
		}
	}
	reply := h.Do("GET", "/v1/policies?"+filter, nil)
	require.Equal(t, http.StatusOK, reply.Status)
	reply.Into(&list)
	for _, policy := range list.Policies {
		types = append(types, policy.Type)
	}
	return types
}

// A receiver that asks for patience is heard for its whole type, and called
// again by itself when the time has come.
func TestBackPressure(t *testing.T) { // it needs the machine for itself
	h, r, kind := open(t)
	r.On("/busy", func(w http.ResponseWriter, req *http.Request, n int) {
		if req.Header.Get("Wakecall-Business-Id") == "first" && n == 1 {
			w.Header().Set("Retry-After", "10")
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	h.Policy(kind, house.JSON{"callback": house.JSON{"url": r.URL + "/busy"}, "retry": house.JSON{"steps": []string{"10ms", "10ms"}}})
	h.Add(house.JSON{"business_type": kind, "business_id": "first", "delay": "0s"})
	refused := r.Await(t, "first", 1)[0].At
	var policy struct {
		BackPressure struct {
			Until  time.Time
			Status int
		} `json:"back_pressure"`
	}
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		h.Do("GET", "/v1/policies/"+kind, nil).Into(&policy)
		assert.Equal(c, http.StatusServiceUnavailable, policy.BackPressure.Status)
	}, 5*time.Second, 20*time.Millisecond, "the policy's workflow hears of it")
	require.WithinDuration(t, refused.Add(10*time.Second), policy.BackPressure.Until, 2*time.Second)
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		assert.Contains(c, held(t, h, "back_pressure=true"), kind)
	}, 4*time.Second, 20*time.Millisecond, "visibility lags behind")

	h.AddMany(kind, 5, "0s")
	own := booking(kind, "elsewhere", "0s", r.URL+"/own")
	h.Add(own)
	r.AwaitAll(t, 7+1)
	for _, call := range r.All() {
		if call.ID() != "first" || call.At != refused {
			require.False(t, call.At.Before(policy.BackPressure.Until), "%s was called %s early", call.ID(), policy.BackPressure.Until.Sub(call.At))
		}
	}
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		assert.NotContains(c, held(t, h, "back_pressure=true"), kind)
	}, 5*time.Second, 20*time.Millisecond, "it ends by itself")
	require.Equal(t, 2, h.Await(kind+"/first", "delivered").Attempts)
}

// A timer that calls elsewhere says nothing of its type's receiver.
func TestBackPressureOfAnotherReceiver(t *testing.T) {
	t.Parallel()
	h, r, kind := open(t)
	h.Policy(kind, house.JSON{"callback": house.JSON{"url": r.URL}})
	r.On("/own", func(w http.ResponseWriter, _ *http.Request, _ int) {
		w.Header().Set("Retry-After", "60")
		w.WriteHeader(http.StatusTooManyRequests)
	})
	h.Add(booking(kind, "elsewhere", "0s", r.URL+"/own"))
	r.Await(t, "elsewhere", 1)
	h.Add(house.JSON{"business_type": kind, "business_id": "here", "delay": "0s"})
	r.Await(t, "here", 1)
	require.NotContains(t, string(h.Do("GET", "/v1/policies/"+kind, nil).Body), `"back_pressure"`)
}

func TestAddLimit(t *testing.T) {
	t.Parallel()
	h, r, kind := open(t)
	h.Policy(kind, house.JSON{"callback": house.JSON{"url": r.URL}, "limits": house.JSON{"adds_per_second": 0.01, "adds_burst": 5}})
	for n := range 5 {
		h.Add(house.JSON{"business_type": kind, "business_id": fmt.Sprint(n), "delay": "1h"})
	}
	refused := h.Do("POST", "/v1/timers", house.JSON{"business_type": kind, "business_id": "5", "delay": "1h"})
	require.Equal(t, "urn:wakecall:problem:quota-exceeded", refused.Problem().Type)
	require.Equal(t, http.StatusTooManyRequests, refused.Status)
	require.Equal(t, `"adds_per_second";q=5;w=500`, refused.Header.Get("RateLimit-Policy"))
	require.Regexp(t, `^"adds_per_second";r=0;t=(9\d|100)$`, refused.Header.Get("RateLimit"))
	require.Regexp(t, `^(9\d|100)$`, refused.Header.Get("Retry-After"))
	require.Equal(t, http.StatusNotFound, h.Do("GET", "/v1/timers/"+kind+"/5", nil).Status, "nothing was started")
	put := h.Do("PUT", "/v1/timers/"+kind+"/5", house.JSON{"delay": "1h"})
	require.Equal(t, http.StatusTooManyRequests, put.Status)
	var batch struct{ Results []struct{ Status int } }
	h.Do("POST", "/v1/timers/batch", house.JSON{"timers": []house.JSON{
		{"business_type": kind, "business_id": "6", "delay": "1h"}, booking(kind+".free", "1", "1h", r.URL),
	}}).Into(&batch)
	require.Equal(t, http.StatusTooManyRequests, batch.Results[0].Status)
	require.Equal(t, http.StatusCreated, batch.Results[1].Status, "another type is not concerned")

	h.Policy(kind, house.JSON{"callback": house.JSON{"url": r.URL}, "limits": house.JSON{"adds_per_second": 0}})
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		assert.Equal(c, http.StatusTooManyRequests, h.Do("PUT", "/v1/timers/"+kind+"/5", house.JSON{"delay": "1h"}).Status)
	}, 10*time.Second, 50*time.Millisecond, "a policy is trusted for a while")
	h.Policy(kind, house.JSON{"callback": house.JSON{"url": r.URL}})
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		assert.Equal(c, http.StatusCreated, h.Do("PUT", "/v1/timers/"+kind+"/5", house.JSON{"delay": "1h"}).Status)
	}, 10*time.Second, 50*time.Millisecond, "a policy is trusted for a while")
}

func TestPendingQuota(t *testing.T) {
	t.Parallel()
	h, r, kind := open(t)
	h.Policy(kind, house.JSON{"callback": house.JSON{"url": r.URL}, "limits": house.JSON{"pending": 3}})
	for n := range 3 {
		h.Add(house.JSON{"business_type": kind, "business_id": fmt.Sprint(n), "delay": "1h"})
	}
	refused := h.Do("POST", "/v1/timers", house.JSON{"business_type": kind, "business_id": "3", "delay": "1h"})
	require.Equal(t, http.StatusTooManyRequests, refused.Status)
	require.Equal(t, `"pending";q=3`, refused.Header.Get("RateLimit-Policy"))
	h.Do("DELETE", "/v1/timers/"+kind+"/0", nil)
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		reply := h.Do("POST", "/v1/timers", house.JSON{"business_type": kind, "business_id": "3", "delay": "1h"})
		assert.Contains(c, []int{http.StatusCreated, http.StatusOK}, reply.Status)
	}, 10*time.Second, 100*time.Millisecond, "a count is trusted for a moment")

	h.Policy(kind+".none", house.JSON{"callback": house.JSON{"url": r.URL}, "limits": house.JSON{"pending": 0}})
	refused = h.Do("PUT", "/v1/timers/"+kind+".none/1", house.JSON{"delay": "1h"})
	require.Equal(t, http.StatusTooManyRequests, refused.Status, "none is none, and not any number")
	require.Equal(t, `"pending";q=0`, refused.Header.Get("RateLimit-Policy"))
	require.Contains(t, string(h.Do("GET", "/v1/policies/"+kind+".none", nil).Body), `"pending":0`)
}
