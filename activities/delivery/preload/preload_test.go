package preload

import (
	"context"
	"errors"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/testsuite"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/tuning"
)

// engine is a Temporal that answers a recheck, or fails to.
type engine struct {
	gone     atomic.Bool
	errors   atomic.Int32
	rechecks atomic.Int32
	handedOn atomic.Int32 // the attempt of the task that is pending
	cutOff   atomic.Bool
	heard    atomic.Pointer[time.Time] // when it heard of this process again
	unheard  atomic.Int32              // for how many looks the other workers do not hear of it
	slow     atomic.Int64              // for how long this process stands still as it asks
}

func (e *engine) CutOff(since time.Time) bool {
	heard := e.heard.Load()
	return e.cutOff.Load() || heard != nil && since.Before(*heard)
}

func (e *engine) Heard() bool { return e.unheard.Add(-1) < 0 }

// standsStill has the process stand still for so long that another one gets what it holds.
func (e *engine) standsStill() {
	now := time.Now()
	e.heard.Store(&now)
	e.handedOn.Store(2)
}

func (e *engine) Revoked(_ context.Context, _ wire.Key, hold timer.Hold) (delivery.Result, error) {
	e.rechecks.Add(1)
	if slow := time.Duration(e.slow.Swap(0)); slow > 0 {
		<-time.After(slow)
		defer e.standsStill() // its answer is of before
	}
	switch {
	case e.errors.Add(-1) >= 0:
		return "", errors.New("no answer")
	case e.gone.Load():
		return delivery.ResultInterrupted, nil
	case hold.Attempt < int(e.handedOn.Load()):
		return delivery.ResultWorkerStopping, nil
	}
	return "", nil
}

type noPolicies struct{}

func (noPolicies) Policy(context.Context, string) (policy.Policy, error) { return policy.Policy{}, nil }

// places are free, or taken.
type places bool

func (p places) Enter(timer.Memo) (leave func(), ok bool) { return func() {}, bool(p) }

// task is one that has timed out, or not.
type task struct {
	predecessor string
	timedOut    atomic.Bool
	hold        atomic.Pointer[handed]
}

// handed is a task that this process was handed.
type handed struct {
	attempt            int
	startedAt, beganAt time.Time
}

func (t *task) Hold(string) (attempt int, startedAt, beganAt time.Time) {
	if h := t.hold.Load(); h != nil {
		return h.attempt, h.startedAt, h.beganAt
	}
	return 0, time.Time{}, time.Time{}
}

func (t *task) TimedOut(string) bool { return t.timedOut.Load() }

func (t *task) Predecessor(string) string { return t.predecessor }

type counts struct {
	preloaded atomic.Int32
	released  atomic.Value
}

func (c *counts) Preloaded(change int)         { c.preloaded.Add(int32(change)) }
func (c *counts) Released(how delivery.Result) { c.released.Store(how) }

type preloading struct {
	*testing.T
	preloader *Preloader
	engine    *engine
	task      *task
	counts    *counts
}

func newPreloading(t *testing.T, room bool) *preloading {
	h := &preloading{T: t, engine: &engine{}, task: &task{}, counts: &counts{}}
	h.preloader = New(Config{Runs: h.engine, Policies: noPolicies{}, Places: places(room), Tasks: h.task, Failover: h.engine, Observer: h.counts})
	return h
}

// preloads takes a timer that is due after a while, and says what came of it and
// how long it took.
func (h *preloading) preloads(rings, preload time.Duration) (result delivery.Result, took time.Duration) {
	began := time.Now()
	spec := timer.Spec{Memo: timer.Memo{DueAt: wire.At(began.Add(rings)), Preload: policy.Preload{Lead: wire.Duration(preload), Window: wire.Duration(preload)}}}
	h.inActivity(func(ctx context.Context) (err error) {
		result, err = h.preloader.Await(ctx, spec)
		return err
	})
	require.Zero(h, h.counts.preloaded.Load(), "nothing is preloaded any more")
	return result, time.Since(began)
}

// inActivity does something within an attempt.
func (h *preloading) inActivity(do func(context.Context) error) {
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestActivityEnvironment()
	env.SetTestTimeout(time.Hour)
	_, err := env.ExecuteLocalActivity(do)
	require.NoError(h, err)
}

func TestPreloadedUntilItIsDue(t *testing.T) {
	for name, c := range map[string]struct {
		rings, preload time.Duration
		rechecks       int
	}{
		"due":        {0, policy.DefaultPreload, 0},
		"late":       {-tuning.Promptly + time.Millisecond, policy.DefaultPreload, 0},
		"overdue":    {-time.Minute, policy.DefaultPreload, 1},
		"by default": {2 * time.Second, policy.DefaultPreload, 1},
		"shortly":    {15 * time.Millisecond, policy.MinPreload, 1},
		"for long":   {3 * time.Second, 3 * time.Second, 1}, // before the first early recheck
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newPreloading(t, true)
				result, took := h.preloads(c.rings, c.preload)
				require.Empty(t, result)
				require.Equal(t, max(c.rings, 0), took.Round(time.Millisecond))
				require.EqualValues(t, c.rechecks, h.engine.rechecks.Load())
			})
		})
	}
}

// What another worker had before is rechecked however prompt it is: that one saw no change.
func TestRecheckedAfterAnotherWorker(t *testing.T) {
	for _, rings := range []time.Duration{0, -tuning.Promptly / 2, -time.Minute, time.Second} {
		for gone, result := range map[bool]delivery.Result{false: "", true: delivery.ResultInterrupted} {
			synctest.Test(t, func(t *testing.T) {
				h := newPreloading(t, true)
				h.task.predecessor = "other"
				h.engine.gone.Store(gone)
				got, _ := h.preloads(rings, policy.DefaultPreload)
				require.Equal(t, result, got, rings)
				require.NotZero(t, h.engine.rechecks.Load(), rings)
			})
		}
	}
}

// What another worker had is rechecked as soon as this one has it: the notification of a change went to
// that one. Early rechecks are rare among many timers.
func TestRecheckedAsItIsTakenOver(t *testing.T) {
	for predecessor, at := range map[string]time.Duration{"other": 0, "": tuning.EarlyRecheck / 2} {
		synctest.Test(t, func(t *testing.T) {
			h := newPreloading(t, true)
			h.task.predecessor = predecessor
			h.engine.gone.Store(true)
			result, took := h.preloads(50*time.Second, time.Minute)
			require.Equal(t, delivery.ResultInterrupted, result)
			require.Equal(t, predecessor != "", took <= at, took)
		})
	}
}

func TestNotPreloaded(t *testing.T) {
	for name, c := range map[string]struct {
		rings  time.Duration
		room   bool
		result delivery.Result
	}{
		"no room":                           {2 * time.Second, false, delivery.ResultRejected},
		"no room, and nearly due":           {900 * time.Millisecond, false, ""},
		"the engine's clock is a bit ahead": {3 * time.Second, true, ""},
		"the engine's clock is far ahead":   {2 * time.Minute, true, delivery.ResultUseQueue},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				result, took := newPreloading(t, c.room).preloads(c.rings, policy.DefaultPreload)
				require.Equal(t, c.result, result)
				if c.result != "" {
					require.Zero(t, took)
				}
			})
		})
	}
}

func TestARecheckBeforeItIsDue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newPreloading(t, true)
		h.engine.gone.Store(true)
		result, took := h.preloads(4*time.Second, 4*time.Second)
		require.Equal(t, delivery.ResultInterrupted, result)
		require.Greater(t, took, 2*time.Second)
		require.Equal(t, delivery.ResultInterrupted, h.counts.released.Load())
	})
}

// A cancel that did not come through the API is found while the timer is far from due.
// Where Temporal does not answer, nothing is given up; where many are preloaded, they are
// rechecked no more often than that Temporal can bear it.
func TestRecheckedNowAndThen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newPreloading(t, true)
		h.engine.errors.Store(2)
		time.AfterFunc(20*time.Second, func() { h.engine.gone.Store(true) })
		result, took := h.preloads(time.Minute, time.Minute)
		require.Equal(t, delivery.ResultInterrupted, result)
		require.InDelta(t, 23, took.Seconds(), 4)

		h = newPreloading(t, true)
		for run := range 60 * tuning.EarlyRechecks * 2 {
			_, done := h.preloader.wakeups.expect(strconv.Itoa(run))
			t.Cleanup(done)
		}
		result, _ = h.preloads(time.Minute, time.Minute)
		require.Empty(t, result)
		require.EqualValues(t, 1, h.engine.rechecks.Load())
	})
}

// What stood still while its timer fell due asks whether it still has it.
func TestNotCalledOnOldKnowledge(t *testing.T) {
	for name, c := range map[string]struct {
		happened func(*preloading)
		rings    time.Duration
		result   delivery.Result
	}{
		"cancelled":                 {func(h *preloading) { h.engine.gone.Store(true) }, -time.Second, delivery.ResultInterrupted},
		"timed out":                 {func(h *preloading) { h.task.timedOut.Store(true) }, -time.Second, delivery.ResultWorkerStopping},
		"timed out while preloaded": {func(h *preloading) { h.task.timedOut.Store(true) }, time.Second, delivery.ResultWorkerStopping},
		"freed":                     {func(h *preloading) { h.engine.handedOn.Store(2) }, -time.Second, delivery.ResultWorkerStopping},
		"neither":                   {func(*preloading) {}, -time.Second, ""},
		"cut off, and freed": {func(h *preloading) {
			time.AfterFunc(time.Second-tuning.LastRecheck/2, func() { h.engine.cutOff.Store(true); h.engine.handedOn.Store(2) })
		}, time.Second, delivery.ResultWorkerStopping},
		"stood still, and freed": {func(h *preloading) {
			time.AfterFunc(time.Second-tuning.LastRecheck/2, h.engine.standsStill)
		}, time.Second, delivery.ResultWorkerStopping},
		"stood still, and back in time": {func(h *preloading) {
			time.AfterFunc(time.Second-tuning.LastRecheck/2, func() { h.engine.standsStill(); h.engine.handedOn.Store(0) })
		}, time.Second, ""},
		"cut off, and back in time": {func(h *preloading) { h.engine.cutOff.Store(true) }, time.Second, ""},
		"freed after the last recheck, and not cut off": {func(h *preloading) {
			time.AfterFunc(time.Second-tuning.LastRecheck/2, func() { h.engine.handedOn.Store(2) })
		}, time.Second, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newPreloading(t, true)
				c.happened(h)
				result, took := h.preloads(c.rings, policy.DefaultPreload)
				require.Equal(t, c.result, result)
				require.LessOrEqual(t, took, max(c.rings, 0)+tuning.RecheckPause)
			})
		})
	}
}

// A task that was handed out before this process stood still is not trusted, however soon its
// timer is due after that.
func TestATaskFromBeforeAStandstill(t *testing.T) {
	for name, c := range map[string]struct {
		got    time.Duration // before the process was heard of again
		result delivery.Result
	}{
		"before": {time.Second, delivery.ResultWorkerStopping},
		"since":  {-time.Millisecond, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newPreloading(t, true)
				h.engine.standsStill()
				got := time.Now().Add(-c.got)
				h.task.hold.Store(&handed{1, got, got})
				<-time.After(2 * time.Millisecond)
				result, _ := h.preloads(0, policy.DefaultPreload)
				require.Equal(t, c.result, result)
			})
		})
	}
}

// A timer that has waited for its turn is rechecked once more, if another worker may have got
// it meanwhile. What was asked before a standstill is asked again after it.
func TestConfirm(t *testing.T) {
	for name, c := range map[string]struct {
		happened func(*engine)
		result   delivery.Result
		rechecks int32
	}{
		"nothing":                     {func(*engine) {}, "", 0},
		"cancelled a moment ago":      {func(e *engine) { e.gone.Store(true) }, "", 0},
		"cancelled, and it took long": {func(e *engine) { e.gone.Store(true); <-time.After(tuning.ConfirmedFor) }, delivery.ResultInterrupted, 1},
		"it took long":                {func(*engine) { <-time.After(tuning.ConfirmedFor) }, "", 1},
		"freed":                       {(*engine).standsStill, delivery.ResultWorkerStopping, 2},
		"stood still, and not freed":  {func(e *engine) { e.standsStill(); e.handedOn.Store(0) }, "", 1},
		"freed, for all that is told": {func(e *engine) { e.handedOn.Store(2) }, "", 0},
		"stands still as it asks": {func(e *engine) {
			e.standsStill()
			e.handedOn.Store(0)
			e.slow.Store(int64(2 * tuning.SignTrusted))
		}, delivery.ResultWorkerStopping, 3},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h, since := newPreloading(t, true), time.Now()
				<-time.After(time.Millisecond)
				c.happened(h.engine)
				var result delivery.Result
				h.inActivity(func(ctx context.Context) (err error) {
					result, err = h.preloader.Confirm(ctx, timer.Spec{Memo: timer.Memo{DueAt: wire.At(since)}}, since)
					return err
				})
				require.Equal(t, c.result, result)
				require.Equal(t, c.rechecks, h.engine.rechecks.Load())
			})
		})
	}
}

// The others may take what it holds until they hear of it: what was asked before that is worth
// nothing. Where they never do, it rings all the same.
func TestItRingsOnceItIsHeardOf(t *testing.T) {
	for name, c := range map[string]struct {
		looks int32
		waits time.Duration
	}{
		"at once":       {0, 0},
		"after a while": {3, 3 * tuning.HeardPoll},
		"never":         {1000, tuning.HeardWithin},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h, since := newPreloading(t, true), time.Now()
				<-time.After(time.Millisecond)
				h.engine.standsStill()
				h.engine.handedOn.Store(0)
				h.engine.unheard.Store(c.looks)
				began := time.Now()
				h.inActivity(func(ctx context.Context) error {
					result, err := h.preloader.Confirm(ctx, timer.Spec{Memo: timer.Memo{DueAt: wire.At(since)}}, since)
					require.Empty(t, result)
					require.Equal(t, c.waits, time.Since(began))
					return err
				})
				require.EqualValues(t, 1, h.engine.rechecks.Load(), "after that")
			})
		})
	}
}

// A recheck without an answer is repeated, and the timer is late rather than wrong.
func TestNotCalledUnchecked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newPreloading(t, true)
		h.engine.errors.Store(500)
		result, took := h.preloads(2*time.Second, 2*time.Second)
		require.Empty(t, result)
		require.Greater(t, took, 500*tuning.RecheckPause)
	})
}

// A timer that was freed while this worker had it is another one's, also where it has come
// back since. An exchange of the task for the next one, of an attempt that takes long, is no
// such thing.
func TestATimerThatWasFreedIsNotCalled(t *testing.T) {
	began := time.Now()
	for name, c := range map[string]struct {
		becomes handed
		result  delivery.Result
	}{
		"as it was":            {handed{1, began, began}, ""},
		"exchanged":            {handed{2, began.Add(time.Second), began}, ""},
		"freed and come again": {handed{1, began.Add(time.Second), began.Add(time.Second)}, delivery.ResultWorkerStopping},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newPreloading(t, true)
				h.task.hold.Store(&handed{1, began, began})
				time.AfterFunc(time.Second, func() { h.task.hold.Store(&c.becomes) })
				result, _ := h.preloads(2*time.Second, policy.DefaultPreload)
				require.Equal(t, c.result, result)
			})
		})
	}
}

func TestAWakeupMakesItRecheck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newPreloading(t, true)
		wake := func() {
			h.preloader.wakeups.mu.Lock()
			defer h.preloader.wakeups.mu.Unlock()
			for _, wakeup := range h.preloader.wakeups.runs {
				wakeup <- struct{}{}
			}
		}
		time.AfterFunc(time.Second, wake) // for nothing: it goes on
		time.AfterFunc(2*time.Second, func() { h.engine.gone.Store(true); wake() })
		result, took := h.preloads(time.Minute, time.Minute)
		require.Equal(t, delivery.ResultInterrupted, result)
		require.Equal(t, 2*time.Second, took)
		require.EqualValues(t, 2, h.engine.rechecks.Load())
		h.preloader.Recheck("one that is not preloaded")
	})
}

func TestAStoppingWorkerReleases(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newPreloading(t, true)
		time.AfterFunc(time.Second, h.preloader.ReleaseAll)
		result, took := h.preloads(time.Minute, time.Minute)
		require.Equal(t, delivery.ResultWorkerStopping, result)
		require.Equal(t, time.Second, took)
		result, took = h.preloads(time.Minute, time.Minute)
		require.Equal(t, delivery.ResultWorkerStopping, result, "nor preloads anything new")
		require.Zero(t, took)
	})
}

// streaming is a policy whose receivers connect.
type streaming struct{}

func (streaming) Policy(context.Context, string) (policy.Policy, error) {
	return policy.Policy{Version: 1, Callback: delivery.Callback{Destination: delivery.Destination{Stream: true}}}, nil
}

// A worker lets a timer go a moment before it is due to where its receiver is connected.
func TestReleasedAMomentEarlyForAStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newPreloading(t, true)
		h.preloader.Policies = streaming{}
		result, took := h.preloads(2*time.Second, policy.DefaultPreload)
		require.Empty(t, result)
		require.InDelta(t, float64(2*time.Second-tuning.StreamLead), float64(took), float64(tuning.StreamLead-tuning.LastRecheck), "or as soon as it was rechecked")
	})
}
