package testrings

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/emergencies"
	"github.com/wakecall/wakecall/engine/enginetest"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/engine/policies"
)

func ringing(t *testing.T, all ...policy.Policy) (*TestRings, *enginetest.Temporal) {
	t.Helper()
	on := &enginetest.Temporal{}
	for _, one := range all {
		on.Policy(t, one)
	}
	k := kernel.New(on, "default", "")
	t.Cleanup(k.EndWaits)
	return New(k, policies.New(k, policies.Config{TTL: time.Minute}), emergencies.New(k, time.Minute)), on
}

// A link that nothing is sent to is refused, and nothing is started.
func TestLinksThatAreNotCalled(t *testing.T) {
	t.Parallel()
	called := delivery.Callback{Destination: delivery.HTTP("https://orders.test/")}
	streamed := delivery.Callback{Destination: delivery.Destination{Stream: true}}
	rings, on := ringing(t,
		policy.Policy{BusinessType: "one", Callback: called}, policy.Policy{BusinessType: "streamed", Callback: streamed},
		policy.Policy{BusinessType: "nowhere"})
	for businessType, c := range map[string]struct {
		link delivery.Link
		want wire.Code
	}{
		"one":      {delivery.LinkFallback, wire.InvalidRequest},
		"streamed": {delivery.LinkCallback, wire.InvalidRequest},
		"nowhere":  {delivery.LinkCallback, wire.InvalidRequest},
		"unknown":  {delivery.LinkCallback, wire.NotFound},
	} {
		_, err := rings.Ring(t.Context(), businessType, c.link)
		require.Equal(t, c.want, wire.CodeOf(err), businessType)
	}
	require.Empty(t, on.Called("ExecuteWorkflow"))
}

// While the callbacks of a type are held back its test event is refused at once, with what holds it, and none is started.
func TestAnEventThatIsHeldBack(t *testing.T) {
	t.Parallel()
	none := 0.0
	called := delivery.Callback{Destination: delivery.HTTP("https://orders.test/")}
	until := time.Now().Add(time.Hour)
	for want, c := range map[string]struct {
		policy.Policy
		order policy.EmergencyOrder
	}{
		"An emergency pause holds the callbacks of the type back, by anna. The test event was not sent.": {
			order: policy.EmergencyOrder{BusinessTypes: []string{"one"}, Author: "anna"},
		},
		"An emergency pause holds the callbacks of the type back, by gus.": {order: policy.EmergencyOrder{Everything: true, Author: "gus", Note: "network"}},
		"pauses its callbacks, by cara.":                                   {Policy: policy.Policy{Paused: true, PausedBy: "cara"}},
		"pauses its callbacks. The":                                        {Policy: policy.Policy{Paused: true}},
		"patience with the type until " + wire.At(until).String(): {
			Policy: policy.Policy{BackPressure: &policy.BackPressure{Since: wire.At(time.Now()), Until: wire.At(until)}},
		},
		"limits.callbacks_per_second is 0": {Policy: policy.Policy{Limits: policy.Limits{CallbacksPerSecond: &none}}},
	} {
		held := c.Policy
		held.BusinessType, held.Callback = "one", called
		rings, on := ringing(t, held)
		if c.order.Author != "" {
			_, err := rings.emergencies.Pause(t.Context(), c.order)
			require.NoError(t, err)
		}
		started := len(on.Called("ExecuteWorkflow"))
		_, err := rings.Ring(t.Context(), "one", delivery.LinkCallback)
		require.Equal(t, wire.HeldBack, wire.CodeOf(err), want)
		require.ErrorContains(t, err, want)
		require.Len(t, on.Called("ExecuteWorkflow"), started, want)
	}
}

// A business type has one test ring a second, and another type its own.
func TestOneTestRingASecond(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		called := delivery.Callback{Destination: delivery.HTTP("https://orders.test/")}
		rings, on := ringing(t, policy.Policy{BusinessType: "one", Callback: called}, policy.Policy{BusinessType: "two", Callback: called})
		closed := map[string]bool{}
		ring := func(businessType string) wire.Code {
			done := make(chan error, 1)
			go func() {
				_, err := rings.Ring(t.Context(), businessType, delivery.LinkCallback)
				done <- err
			}()
			synctest.Wait()
			for _, id := range on.Called("ExecuteWorkflow") {
				if !closed[id] {
					enginetest.Worker{On: on}.Close(id, delivery.TestResult{Delivered: true, SentAt: 1})
				}
				closed[id] = true
			}
			if err := <-done; err != nil {
				return wire.CodeOf(err)
			}
			return ""
		}
		require.Empty(t, ring("one"))
		require.Empty(t, ring("two"))
		require.Equal(t, wire.QuotaExceeded, ring("one"))
		<-time.After(time.Second) // the next one
		require.Empty(t, ring("one"))
	})
}

// An event that no worker took was not sent. Of any other without a result that is not known.
func TestEventsWithoutAResult(t *testing.T) {
	t.Parallel()
	require.NoError(t, unsent(nil))
	waited := temporal.NewTimeoutError(enumspb.TIMEOUT_TYPE_SCHEDULE_TO_START, nil)
	for text, err := range map[string]error{"was not sent": waited, "may have been sent": errors.New("gone")} {
		require.Equal(t, wire.Unavailable, wire.CodeOf(unsent(err)))
		require.ErrorContains(t, unsent(err), text)
	}
}
