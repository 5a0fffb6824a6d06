package e2e

import (
	"fmt"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/e2e/house"
	"github.com/wakecall/wakecall/e2e/receiver"
)

// gateways are two that trust a policy for long enough to book by one that is gone.
func gateways(t *testing.T) (a, b *house.House, kind string) {
	t.Helper()
	settings := house.Settings()
	settings.PolicyTTL = 2 * time.Second
	a, b, kind = house.OpenWith(t, temporalAddr, settings), house.OpenWith(t, temporalAddr, settings), typeOf(t)
	a.Policy(kind, house.JSON{"callback": house.JSON{"url": receiver.New(t).URL}})
	return a, b, kind
}

func tomorrow(kind string, n int) house.JSON {
	return house.JSON{"business_type": kind, "business_id": fmt.Sprint(n), "delay": "24h"}
}

// Visibility knows nothing yet of a booking that was acknowledged a moment ago.
func TestAPolicyStaysWhereATimerWasJustBooked(t *testing.T) {
	t.Parallel()
	a, b, kind := gateways(t)
	for n := range 3 {
		b.Add(tomorrow(kind, n))
		reply := a.Do("DELETE", "/v1/policies/"+kind, nil)
		require.Equal(t, http.StatusConflict, reply.Status, "%s", reply.Body)
		require.Contains(t, reply.Problem().Detail, "open timers")
	}
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		assert.Equal(c, http.StatusCreated, b.Do("POST", "/v1/timers", tomorrow(kind, 3)).Status)
	}, 10*time.Second, 100*time.Millisecond, "the policy takes bookings again")
}

// A gateway books by the policy that it knows while another one deletes it.
func TestAPolicyStaysWhereATimerIsBookedMeanwhile(t *testing.T) {
	t.Parallel()
	a, b, kind := gateways(t)
	b.Add(tomorrow(kind, 0))
	require.Equal(t, http.StatusOK, b.Do("DELETE", "/v1/timers/"+kind+"/0", nil).Status)
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		assert.Empty(c, listed(b, url.Values{"business_type": {kind}, "status": {"scheduled"}}))
	}, 20*time.Second, 100*time.Millisecond, "visibility lags behind")
	deleted := make(chan house.Reply, 1)
	go func() { deleted <- a.Do("DELETE", "/v1/policies/"+kind, nil) }()
	booked, refused := 0, 0
	for n := 1; ; n++ {
		select {
		case reply := <-deleted:
			require.Equal(t, http.StatusConflict, reply.Status, "%s", reply.Body)
			require.Positive(t, booked)
			t.Logf("%d booked, %d refused", booked, refused)
			return
		case <-time.After(50 * time.Millisecond):
		}
		switch reply := b.Do("POST", "/v1/timers", tomorrow(kind, n)); reply.Status {
		case http.StatusCreated:
			booked++
		default:
			require.Equal(t, http.StatusServiceUnavailable, reply.Status, "%s", reply.Body)
			refused++
		}
	}
}

// The URL of a policy is as much as the policy to a timer that has none of its own.
func TestAPolicyKeepsItsURLWhereATimerWasJustBooked(t *testing.T) {
	t.Parallel()
	a, b, kind := gateways(t)
	b.Add(tomorrow(kind, 1))
	reply := a.Do("PATCH", "/v1/policies/"+kind, house.JSON{"callback": nil})
	require.Equal(t, http.StatusConflict, reply.Status, "%s", reply.Body)
	require.Equal(t, http.StatusOK, b.Do("DELETE", "/v1/timers/"+kind+"/1", nil).Status)
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		assert.Equal(c, http.StatusOK, a.Do("PATCH", "/v1/policies/"+kind, house.JSON{"callback": nil}).Status)
	}, 20*time.Second, 100*time.Millisecond, "visibility lags behind")
}

func TestTimersOfTheLastMomentAreCancelledWithTheirPolicy(t *testing.T) {
	t.Parallel()
	a, b, kind := gateways(t)
	for n := range 3 {
		b.Add(tomorrow(kind, n))
	}
	require.Equal(t, http.StatusNoContent, a.Do("DELETE", "/v1/policies/"+kind+"?timers=cancel", nil).Status)
	b.AwaitAll(kind, 3, "cancelled")
}

// While a policy is deleted a gateway that knows of it books nothing, and afterwards
// there is none.
func TestAPolicyThatIsDeletedTakesNoBookings(t *testing.T) {
	t.Parallel()
	a, b, kind := gateways(t)
	deleted := make(chan house.Reply, 1)
	go func() { deleted <- a.Do("DELETE", "/v1/policies/"+kind, nil) }()
	require.Eventually(t, func() bool {
		policy, err := a.Engine.StoredPolicy(t.Context(), kind)
		return err == nil && policy.ClosedUntil != 0
	}, 4*time.Second, 10*time.Millisecond, "it is closed")
	require.Equal(t, http.StatusServiceUnavailable, b.Do("POST", "/v1/timers", tomorrow(kind, 1)).Status)
	require.Equal(t, http.StatusServiceUnavailable, b.Do("PUT", "/v1/timers/"+kind+"/1", house.JSON{"delay": "24h"}).Status)
	require.Equal(t, http.StatusNoContent, (<-deleted).Status)
	for _, gateway := range []*house.House{a, b} {
		require.NotEqual(t, http.StatusCreated, gateway.Do("POST", "/v1/timers", tomorrow(kind, 2)).Status)
	}
	require.Equal(t, http.StatusNotFound, a.Do("GET", "/v1/timers/"+kind+"/1", nil).Status, "nothing was booked")
}
