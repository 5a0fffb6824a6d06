package waits

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/emergencies"
	"github.com/wakecall/wakecall/engine/enginetest"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/engine/policies"
	"github.com/wakecall/wakecall/engine/queues"
	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/workflows"
)

func waitsOn(t *testing.T, on *enginetest.Temporal, current policy.Policy) (*Waits, *emergencies.Emergencies) {
	t.Helper()
	current.BusinessType, current.Version = "order", 1
	on.Policy(t, current.WithDefaults())
	k := kernel.New(on, "default", "")
	t.Cleanup(k.EndWaits)
	known, pauses := policies.New(k, policies.Config{TTL: time.Hour}), emergencies.New(k, time.Hour)
	return New(known, pauses, queues.New(k, known)), pauses
}

func called() delivery.Callback {
	return delivery.Callback{Destination: delivery.HTTP("https://o.test/")}
}

// A timer that no worker has taken waits for what holds its type, or else for a worker.
func TestWhatAnUntakenTimerWaitsFor(t *testing.T) {
	t.Parallel()
	for want, current := range map[delivery.Waiting]policy.Policy{
		delivery.WaitsForWorker: {Callback: called()},
		delivery.WaitsForPause:  {Callback: called(), Paused: true},
	} {
		on := &enginetest.Temporal{}
		w, _ := waitsOn(t, on, current)
		view := timer.View{Key: wire.Key{BusinessType: "order", BusinessID: "1"}}
		w.ShowUntaken(t.Context(), &view)
		require.Equal(t, want, view.WaitsFor)
	}
}

// An attempt waits on the queue that its receiver is called from: that of its type, that of those
// who connect, or the one of types without a policy.
func TestTheQueueOfAnAttempt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		businessType string
		callback     delivery.Callback
		queue        string
		want         delivery.Waiting
	}{
		"receivers that are called": {"order", called(), workflows.DeliveryQueue("order"), delivery.WaitsForWorker},
		"receivers that connect":    {"order", delivery.Callback{Destination: delivery.Destination{Stream: true}}, workflows.StreamQueue("order"), delivery.WaitsForReceiver},
		"a type that has no policy": {"invoice", called(), workflows.DefaultDeliveryQueue, delivery.WaitsForWorker},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			on := &enginetest.Temporal{Unpolled: map[string]bool{c.queue: true}}
			w, _ := waitsOn(t, on, policy.Policy{Callback: c.callback})
			view := timer.View{Key: wire.Key{BusinessType: c.businessType, BusinessID: "1"}}
			w.ShowNext(t.Context(), &view, policy.Standby{NotBefore: wire.At(time.Now()).Add(-time.Minute)})
			require.Equal(t, c.want, view.WaitsFor)
			require.Contains(t, on.Called("DescribeTaskQueue"), c.queue)
		})
	}
}

// A queue is looked at once in a while. One that cannot be looked at holds nobody up.
func TestAQueueIsTrustedForAMoment(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		queue := workflows.DeliveryQueue("order")
		on := &enginetest.Temporal{Unpolled: map[string]bool{queue: true}}
		w, _ := waitsOn(t, on, policy.Policy{Callback: called()})
		waits := func() delivery.Waiting {
			view := timer.View{Key: wire.Key{BusinessType: "order", BusinessID: "1"}}
			w.ShowNext(t.Context(), &view, policy.Standby{NotBefore: wire.At(time.Now()).Add(-time.Minute)})
			return view.WaitsFor
		}
		require.Equal(t, delivery.WaitsForWorker, waits())
		require.Equal(t, delivery.WaitsForWorker, waits())
		require.Len(t, on.Calls("DescribeTaskQueue"), 1)
		<-time.After(tuning.QueueTrusted)
		on.Refuse("DescribeTaskQueue", "", errors.New("down"))
		require.Empty(t, waits())
	})
}

// What comes after the latest time is made never.
func TestAnAttemptBehindTheLatestTime(t *testing.T) {
	t.Parallel()
	w, pauses := waitsOn(t, &enginetest.Temporal{}, policy.Policy{Callback: called()})
	next := wire.At(time.Now()).Add(time.Hour)
	for latest, want := range map[wire.Instant]wire.Instant{0: next, next: 0, next + 1: next} {
		view := timer.View{Key: wire.Key{BusinessType: "order", BusinessID: "1"}, LatestAt: latest}
		w.ShowNext(t.Context(), &view, policy.Standby{NotBefore: next})
		require.Equal(t, want, view.NextAttemptAt)
	}
	_, err := pauses.Pause(t.Context(), policy.EmergencyOrder{Everything: true, Author: "operator", Note: "fire"})
	require.NoError(t, err)
	require.NotNil(t, w.Holds(t.Context(), "order").Emergency)
}
