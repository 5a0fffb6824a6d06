package canary

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/serviceerror"

	"github.com/wakecall/wakecall/core/health"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/workflows"
)

// run runs the canary of a world in a bubble until the test is through.
func run(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		w := newWorld(ctx, t)
		ended := make(chan struct{})
		go func() { defer close(ended); w.canary.Run(ctx) }()
		test(t, w)
		stop()
		<-ended
	})
}

func pass(d time.Duration) { <-time.After(d) }

// A day in which nothing is wrong shows no fault, and leaves nothing behind.
func TestAQuietDay(t *testing.T) {
	t.Parallel()
	run(t, func(t *testing.T, w *world) {
		require.Equal(t, health.Unknown, w.canary.Check().Status, "nothing is known yet")
		pass(24 * time.Hour)
		beats := w.seen()
		require.InDelta(t, 24*60, len(beats), 1)
		requireQuiet(t, beats)
		for _, step := range Steps {
			require.Contains(t, beats[0].Took, step)
			made, failed := w.measured(step)
			require.True(t, made)
			require.False(t, failed)
		}
		require.Equal(t, health.OK, w.canary.Check().Status)
		require.Contains(t, w.canary.Check().Detail, "rang 0s late")
		require.Zero(t, beats[0].Took[StepRing], "it rings on time here")
		require.Len(t, w.Called("DeleteWorkflowExecution"), len(beats), "each timer is deleted once it is measured")
	})
}

// Each fault is noticed within 90 s of its beginning, wherever in a minute it begins, and its end
// within as much.
func TestFaultsAreNoticed(t *testing.T) {
	t.Parallel()
	refused := func(err error, calls ...string) fault {
		f := fault{calls: map[string]error{}}
		for _, call := range calls {
			f.calls[call] = err
		}
		return f
	}
	for name, c := range map[string]struct {
		fault
		step Step
		why  string
	}{
		"no worker":                     {fault{unpolled: []string{workflows.TaskQueue}}, StepRing, "no process polls the queue wakecall"},
		"a stream without a poller":     {fault{unpolled: []string{streamQueue()}}, StepRing, "no process polls the queue " + streamQueue()},
		"workers that do nothing":       {fault{stuck: true}, StepRing, "the queues are polled"},
		"Temporal's timers stand still": {fault{late: 11 * time.Second}, StepRing, "did not ring within 10s"},
		"Temporal is gone":              {refused(errAway, ""), StepBook, "connection refused"},
		"the database is read-only":     {refused(serviceerror.NewUnavailable("read-only"), "ExecuteWorkflow"), StepBook, "read-only"},
		"the namespace is gone":         {refused(serviceerror.NewNamespaceNotFound("default"), "ExecuteWorkflow"), StepBook, "default"},
		"runs cannot be read":           {refused(errAway, "DescribeWorkflowExecution"), StepClock, "could not be read"},
		"Temporal's clock is ahead":     {fault{off: 3 * time.Second}, StepClock, "ahead of"},
		"Temporal's clock is behind":    {fault{off: -3 * time.Second}, StepClock, "behind"},
		"the disk is full":              {fault{unrecorded: true}, StepRecord, "not recorded"},
		"rings count as failures":       {fault{outcome: timer.Expired}, StepRecord, "expired"},
		"visibility is gone":            {refused(errAway, "CountWorkflow"), StepList, "does not answer"},
		"visibility lags behind":        {fault{unlisted: true}, StepList, "does not show"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, into := range []time.Duration{0, time.Second, 10 * time.Second, 30 * time.Second, 59 * time.Second} {
				run(t, func(t *testing.T, w *world) {
					pass(10*time.Minute + into)
					requireQuiet(t, w.seen())
					w.set(c.fault)
					pass(90 * time.Second)
					require.Equal(t, c.step, w.canary.Last().Failed)
					_, failed := w.measured(c.step)
					require.True(t, failed, "the metrics say so, too")
					require.Equal(t, health.Failing, w.canary.Check().Status)
					require.Contains(t, w.canary.Check().Detail, c.why)
					require.Contains(t, w.canary.Last().Why, c.why)
					w.set(fault{})
					pass(90 * time.Second)
					require.Empty(t, w.canary.Last().Failed, "it is over")
				})
			}
		})
	}
}

// A receiver that fails, and an operator who pauses all callbacks, are no faults of Wakecall.
func TestAPauseIsNoFault(t *testing.T) {
	t.Parallel()
	run(t, func(t *testing.T, w *world) {
		w.mu.Lock()
		w.held = &policy.Emergency{Everything: true}
		w.mu.Unlock()
		pass(time.Hour)
		requireQuiet(t, w.seen())
		require.True(t, w.canary.Last().Held)
		require.Equal(t, health.OK, w.canary.Check().Status)
		require.Empty(t, w.Called("ExecuteWorkflow"), "nothing is booked that cannot ring")
		w.mu.Lock()
		w.held = nil
		w.mu.Unlock()
		w.set(fault{calls: map[string]error{"Holding": errors.New("unknown")}})
		pass(90 * time.Second)
		require.False(t, w.canary.Last().Held, "what cannot be read holds nothing")
		requireQuiet(t, w.seen())
	})
}

// Nor is a pause a fault that begins while a timer waits for its time. Without a pause it is one.
func TestAPauseDuringABeat(t *testing.T) {
	t.Parallel()
	for _, emergency := range []*policy.Emergency{{Everything: true}, nil} {
		run(t, func(t *testing.T, w *world) {
			pass(2 * time.Minute)
			for booked := len(w.Called("ExecuteWorkflow")); len(w.Called("ExecuteWorkflow")) == booked; {
				pass(100 * time.Millisecond)
			}
			w.set(fault{stuck: true})
			w.mu.Lock()
			w.held = emergency
			w.mu.Unlock()
			pass(30 * time.Second)
			require.Equal(t, emergency != nil, w.canary.Last().Held)
			require.Equal(t, emergency == nil, w.canary.Last().Failed == StepRing)
			_, failed := w.measured(StepRing)
			require.Equal(t, emergency == nil, failed)
		})
	}
}

// A pause while a step fails does not say that it works again.
func TestAPauseEndsNoFault(t *testing.T) {
	t.Parallel()
	run(t, func(t *testing.T, w *world) {
		said := func(text string) int { return strings.Count(w.said(), text) }
		w.set(fault{unlisted: true})
		pass(2 * time.Minute)
		require.NotZero(t, said("did not ring"))
		w.mu.Lock()
		w.held = &policy.Emergency{Everything: true}
		w.mu.Unlock()
		pass(2 * time.Minute)
		require.True(t, w.canary.Last().Held)
		require.Zero(t, said("rings again"))
		w.mu.Lock()
		w.held = nil
		w.mu.Unlock()
		w.set(fault{})
		pass(3 * time.Minute)
		require.Equal(t, 1, said("rings again"))
		require.Equal(t, 1, said("step=list\n"), "the step that failed")
	})
}

// However slow the steps are, a ring is bound by its lateness, and a beat as a whole.
func TestASlowBeat(t *testing.T) {
	t.Parallel()
	run(t, func(t *testing.T, w *world) {
		slow := tuning.CanaryBook - 100*time.Millisecond
		w.set(fault{slow: slow, late: tuning.CanaryRing - time.Millisecond, unlisted: true})
		pass(3 * time.Minute)
		require.Equal(t, StepList, w.canary.Last().Failed)
		w.set(fault{slow: slow, late: tuning.CanaryRing + time.Second})
		pass(2 * time.Minute)
		require.Equal(t, StepRing, w.canary.Last().Failed)
		require.LessOrEqual(t, w.longest, 30*time.Second-tuning.CanaryBook, "the deletion has the rest")
	})
}

// A ring that comes too late belongs to no later beat.
func TestALateRing(t *testing.T) {
	t.Parallel()
	run(t, func(t *testing.T, w *world) {
		pass(2 * time.Minute)
		w.set(fault{late: 70 * time.Second})
		pass(time.Minute)
		w.set(fault{late: 80 * time.Second}) // the ring of the beat before comes meanwhile
		pass(time.Minute)
		require.Equal(t, StepRing, w.canary.Last().Failed)
	})
}

// A canary that hangs says so itself.
func TestASilentCanary(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		w := newWorld(ctx, t)
		pass(2 * time.Minute)
		require.Equal(t, health.Unknown, w.canary.Check().Status)
		pass(2 * time.Minute)
		require.Equal(t, health.Failing, w.canary.Check().Status, "it has not begun")
		ended := make(chan struct{})
		go func() { defer close(ended); w.canary.Run(ctx) }()
		pass(2 * time.Minute)
		require.Equal(t, health.OK, w.canary.Check().Status)
		stop()
		<-ended
		pass(3 * time.Minute)
		require.Equal(t, health.Failing, w.canary.Check().Status)
	})
}
