package waits

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/health"
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
	return New(known, pauses, queues.New(k, known), living(nil)), pauses
}

// living are the verdicts on processes; a process without one is not listed. Nil is a Temporal that
// keeps no signs of life.
type living map[string]health.Life

func (l living) List(context.Context) (listed health.Processes, err error) {
	if l == nil {
		listed.Note = "processes may be missing"
	}
	for process, state := range l {
		listed.Processes = append(listed.Processes, health.Process{ID: process, State: state})
	}
	return listed, nil
}

func called() delivery.Callback {
	return delivery.Callback{Destination: delivery.HTTP("https://o.test/")}
}

// Of an attempt under way it is told what stops the others of its type: each pause, and no limit.
func TestWhatStopsATypeDuringAnAttempt(t *testing.T) {
	t.Parallel()
	none, pressed := 0.0, &policy.BackPressure{Since: wire.At(time.Now()), Until: wire.At(time.Now()).Add(time.Hour)}
	for name, c := range map[string]struct {
		current    policy.Policy
		everything bool
		want       delivery.Waiting
		others     []delivery.Waiting
	}{
		"a limit":       {current: policy.Policy{Callback: called(), Limits: policy.Limits{CallbacksPerSecond: &none}}},
		"a pause":       {current: policy.Policy{Callback: called(), Paused: true}, want: delivery.WaitsForPause},
		"back-pressure": {current: policy.Policy{Callback: called(), BackPressure: pressed}, want: delivery.WaitsForBackPressure},
		"all of them": {
			policy.Policy{Callback: called(), Paused: true, BackPressure: pressed, Limits: policy.Limits{CallbacksPerSecond: &none}}, true,
			delivery.WaitsForEmergency, []delivery.Waiting{delivery.WaitsForPause, delivery.WaitsForBackPressure},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, pauses := waitsOn(t, &enginetest.Temporal{}, c.current)
			if c.everything {
				_, err := pauses.Pause(t.Context(), policy.EmergencyOrder{Everything: true, Author: "operator", Note: "fire"})
				require.NoError(t, err)
			}
			view := timer.View{Key: wire.Key{BusinessType: "order", BusinessID: "1"}, Circumstances: timer.Circumstances{Worker: "w-1"}}
			w.ShowStopped(t.Context(), &view)
			require.Equal(t, c.want, view.Circumstances.Stopped.WaitsFor)
			var others []delivery.Waiting
			for _, other := range view.Circumstances.Others {
				others = append(others, other.WaitsFor)
			}
			require.Equal(t, c.others, others)
			require.Equal(t, c.everything, view.Circumstances.AllPaused)
			require.Equal(t, "w-1", view.Circumstances.Worker)
			require.Empty(t, view.WaitsFor, "the attempt waits for nothing")
		})
	}
}

// A timer that no worker has taken waits for what holds its type, or else for a worker, if it is on
// the queue. It tells when one last polled that queue.
func TestWhatAnUntakenTimerWaitsFor(t *testing.T) {
	t.Parallel()
	free, paused := policy.Policy{Callback: called()}, policy.Policy{Callback: called(), Paused: true}
	for name, c := range map[string]struct {
		current policy.Policy
		queued  bool
		want    delivery.Waiting
		polled  bool
	}{
		"on the queue":                 {free, true, delivery.WaitsForWorker, true},
		"paused":                       {paused, true, delivery.WaitsForPause, false},
		"not handed out":               {free, false, "", false},
		"not handed out, while paused": {paused, false, delivery.WaitsForPause, false},
	} {
		on := &enginetest.Temporal{}
		w, _ := waitsOn(t, on, c.current)
		view := timer.View{Key: wire.Key{BusinessType: "order", BusinessID: "1"}}
		w.ShowUntaken(t.Context(), &view, c.queued)
		require.Equal(t, c.want, view.WaitsFor, name)
		require.Equal(t, c.polled, view.Circumstances.LastPoll != 0, name)
	}
	on := &enginetest.Temporal{Unpolled: map[string]bool{workflows.TaskQueue: true}}
	w, _ := waitsOn(t, on, free)
	view := timer.View{Key: wire.Key{BusinessType: "order", BusinessID: "1"}}
	w.ShowUntaken(t.Context(), &view, true)
	require.Zero(t, view.Circumstances.LastPoll, "none has polled it")
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

// A queue is looked at once in a while. One that cannot be looked at is said to be unread.
func TestAQueueIsTrustedForAMoment(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		queue := workflows.DeliveryQueue("order")
		on := &enginetest.Temporal{Unpolled: map[string]bool{queue: true}}
		w, _ := waitsOn(t, on, policy.Policy{Callback: called()})
		waits := func() timer.View {
			view := timer.View{Key: wire.Key{BusinessType: "order", BusinessID: "1"}}
			w.ShowNext(t.Context(), &view, policy.Standby{NotBefore: wire.At(time.Now()).Add(-time.Minute)})
			return view
		}
		require.Equal(t, delivery.WaitsForWorker, waits().WaitsFor)
		require.Equal(t, delivery.WaitsForWorker, waits().WaitsFor)
		require.Len(t, on.Calls("DescribeTaskQueue"), 1)
		require.Empty(t, waits().Circumstances.Unread)
		<-time.After(tuning.QueueTrusted)
		on.Refuse("DescribeTaskQueue", "", errors.New("down"))
		require.Empty(t, waits().WaitsFor)
		require.Equal(t, []timer.ReasonSource{timer.FromWorker}, waits().Circumstances.Unread)
	})
}

// What is not read is said, and is no reason.
func TestWhatCannotBeReadIsSaid(t *testing.T) {
	t.Parallel()
	on := &enginetest.Temporal{}
	w, _ := waitsOn(t, on, policy.Policy{Callback: called()})
	on.Err = errors.New("down")
	view := timer.View{Key: wire.Key{BusinessType: "order", BusinessID: "1"}}
	w.ShowUntaken(t.Context(), &view, true)
	require.Equal(t, delivery.WaitsForWorker, view.WaitsFor)
	require.Equal(t, []timer.ReasonSource{timer.FromEmergency, timer.FromPolicy}, view.Circumstances.Unread)
}

// A poll outlasts its worker. Only a worker that lives makes the in_flight limit the reason.
func TestAPollOfADeadWorker(t *testing.T) {
	t.Parallel()
	queue := workflows.DeliveryQueue("order")
	for name, c := range map[string]struct {
		lives living
		want  delivery.Waiting
	}{
		"it lives":                 {living{"worker-1": health.Alive}, delivery.WaitsForInFlight},
		"it has died":              {living{"worker-1": health.Silent}, delivery.WaitsForWorker},
		"another one lives":        {living{"worker-1": health.Silent, "worker-2": health.Alive}, delivery.WaitsForWorker},
		"it has stopped":           {living{"worker-2": health.Alive}, delivery.WaitsForWorker},
		"it stops":                 {living{"worker-1": health.Stopping}, delivery.WaitsForInFlight},
		"a Temporal without signs": {nil, delivery.WaitsForInFlight},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			on := &enginetest.Temporal{Backlogs: map[string]int64{queue: 3}, Pollers: map[string]string{queue: "worker-1"}}
			w, _ := waitsOn(t, on, policy.Policy{Callback: called()})
			w.processes = c.lives
			view := timer.View{Key: wire.Key{BusinessType: "order", BusinessID: "1"}}
			w.ShowNext(t.Context(), &view, policy.Standby{NotBefore: wire.At(time.Now()).Add(-time.Minute)})
			require.Equal(t, c.want, view.WaitsFor)
			require.NotZero(t, view.Circumstances.LastPoll)
		})
	}
}

// At a limit the queue tells how many attempts go before one at most.
func TestTheQueueAtALimit(t *testing.T) {
	t.Parallel()
	rate := 0.5
	on := &enginetest.Temporal{Backlogs: map[string]int64{workflows.DeliveryQueue("order"): 3}}
	w, _ := waitsOn(t, on, policy.Policy{Callback: called(), Limits: policy.Limits{CallbacksPerSecond: &rate}})
	view := timer.View{Key: wire.Key{BusinessType: "order", BusinessID: "1"}}
	w.ShowNext(t.Context(), &view, policy.Standby{NotBefore: wire.At(time.Now()).Add(-time.Minute)})
	require.Equal(t, delivery.WaitsForLimit, view.WaitsFor)
	require.Equal(t, 3, view.Circumstances.Queued)
	require.InDelta(t, 0.5, view.Circumstances.PerSecond, 0)
}

// What holds an attempt up beside the gravest cause is told as well.
func TestSeveralCauses(t *testing.T) {
	t.Parallel()
	w, pauses := waitsOn(t, &enginetest.Temporal{}, policy.Policy{Callback: called(), Paused: true})
	_, err := pauses.Pause(t.Context(), policy.EmergencyOrder{Everything: true, Author: "operator", Note: "fire"})
	require.NoError(t, err)
	for name, show := range map[string]func(*timer.View){
		"untaken":   func(v *timer.View) { w.ShowUntaken(t.Context(), v, true) },
		"waiting":   func(v *timer.View) { w.ShowNext(t.Context(), v, policy.Standby{}) },
		"under way": func(v *timer.View) { w.ShowStopped(t.Context(), v) },
	} {
		view := timer.View{Key: wire.Key{BusinessType: "order", BusinessID: "1"}, Status: timer.Delivering}
		show(&view)
		want := []timer.Reason{"emergency", "pause"}
		if name == "under way" {
			want = append(want, timer.ReasonAttempting)
		}
		var told []timer.Reason
		for _, fact := range view.Why(wire.At(time.Now())) {
			told = append(told, fact.Fact)
		}
		require.Equal(t, want, told, name)
	}
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

// A timer that an emergency holds back tells whether it is one of all types or of its own.
func TestWhatAnEmergencyPauses(t *testing.T) {
	t.Parallel()
	for name, order := range map[string]policy.EmergencyOrder{"all": {Everything: true, Author: "ana"}, "its own": {BusinessTypes: []string{"order"}, Author: "ana"}} {
		w, pauses := waitsOn(t, &enginetest.Temporal{}, policy.Policy{Callback: called()})
		_, err := pauses.Pause(t.Context(), order)
		require.NoError(t, err, name)
		for _, show := range []func(*timer.View){
			func(v *timer.View) { w.ShowNext(t.Context(), v, policy.Standby{}) }, func(v *timer.View) { w.ShowUntaken(t.Context(), v, true) },
		} {
			view := timer.View{Key: wire.Key{BusinessType: "order", BusinessID: "1"}, Status: timer.Delivering}
			show(&view)
			fact := view.Why(wire.At(time.Now()))[0]
			require.Equal(t, timer.Reason(delivery.WaitsForEmergency), fact.Fact, name)
			require.Equal(t, order.Everything, fact.Everything, name)
			require.Equal(t, order.Everything, fact.BusinessType == "", name)
		}
	}
}
