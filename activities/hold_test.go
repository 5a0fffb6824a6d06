package activities

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/testsuite"

	"github.com/wakecall/wakecall/timer"
)

// engine is a Temporal that answers a look, or fails to.
type engine struct {
	Runs
	gone   atomic.Bool
	errors atomic.Int32
	looks  atomic.Int32
}

func (e *engine) Wanted(context.Context, timer.Key, string) (bool, error) {
	e.looks.Add(1)
	if e.errors.Add(-1) >= 0 {
		return false, errors.New("no answer")
	}
	return !e.gone.Load(), nil
}

type noPolicies struct{ Policies }

func (noPolicies) Policy(context.Context, string) (timer.Policy, error) { return timer.Policy{}, nil }

// places is a hold with room, or without.
type places bool

func (p places) Enter(time.Duration) (leave func(), ok bool) { return func() {}, bool(p) }

// task is one that has timed out, or not.
type task struct {
	Tasks
	timedOut atomic.Bool
}

func (t *task) TimedOut(string) bool { return t.timedOut.Load() }

type counts struct {
	Observer
	held   atomic.Int32
	unrung atomic.Value
}

func (c *counts) Held(change int)         { c.held.Add(int32(change)) }
func (c *counts) Unrung(how timer.Result) { c.unrung.Store(how) }

type holding struct {
	*testing.T
	ringer *Ringer
	engine *engine
	task   *task
	counts *counts
}

func newHolding(t *testing.T, room bool) *holding {
	h := &holding{T: t, engine: &engine{}, task: &task{}, counts: &counts{}}
	ringer, err := NewRinger(Config{Runs: h.engine, Policies: noPolicies{}, Hold: places(room), Tasks: h.task, Observer: h.counts})
	require.NoError(t, err)
	h.ringer = ringer
	return h
}

// holds holds a timer that rings after a while, and says what came of it and
// how long it took.
func (h *holding) holds(rings, preload time.Duration) (result timer.Result, took time.Duration) {
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestActivityEnvironment()
	env.SetTestTimeout(time.Hour)
	began := time.Now()
	spec := timer.Spec{Memo: timer.Memo{DueAt: timer.At(began.Add(rings)), Preload: timer.Preload{Lead: timer.Duration(preload), Window: timer.Duration(preload)}}}
	_, err := env.ExecuteLocalActivity(func(ctx context.Context) (timer.Report, error) {
		var err error
		result, err = h.ringer.hold(ctx, spec)
		return timer.Report{}, err
	})
	require.NoError(h, err)
	require.Zero(h, h.counts.held.Load(), "nothing is held any more")
	return result, time.Since(began)
}

func TestHeldUntilItsTime(t *testing.T) {
	for name, c := range map[string]struct {
		rings, preload time.Duration
		looks          int
	}{
		"due":          {0, timer.DefaultPreload, 0},
		"late":         {-promptly + time.Millisecond, timer.DefaultPreload, 0},
		"overdue":      {-time.Minute, timer.DefaultPreload, 1},
		"by default":   {2 * time.Second, timer.DefaultPreload, 1},
		"shortly":      {15 * time.Millisecond, timer.MinPreload, 1},
		"for a minute": {time.Minute, time.Minute, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHolding(t, true)
				result, took := h.holds(c.rings, c.preload)
				require.Empty(t, result)
				require.Equal(t, max(c.rings, 0), took.Round(time.Millisecond))
				require.EqualValues(t, c.looks, h.engine.looks.Load())
			})
		})
	}
}

func TestNotHeld(t *testing.T) {
	for name, c := range map[string]struct {
		rings  time.Duration
		room   bool
		result timer.Result
	}{
		"no room":                           {2 * time.Second, false, timer.ResultRejected},
		"no room, and nearly due":           {900 * time.Millisecond, false, ""},
		"the engine's clock is a bit ahead": {3 * time.Second, true, ""},
		"the engine's clock is far ahead":   {2 * time.Minute, true, timer.ResultUseQueue},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				result, took := newHolding(t, c.room).holds(c.rings, timer.DefaultPreload)
				require.Equal(t, c.result, result)
				if c.result != "" {
					require.Zero(t, took)
				}
			})
		})
	}
}

func TestALookBeforeTheRing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHolding(t, true)
		h.engine.gone.Store(true)
		result, took := h.holds(10*time.Second, 10*time.Second)
		require.Equal(t, timer.ResultInterrupted, result)
		require.Greater(t, took, 7*time.Second)
		require.Equal(t, timer.ResultInterrupted, h.counts.unrung.Load())
	})
}

// What stood still while its timer fell due asks whether it still has it.
func TestNotRungOnOldNews(t *testing.T) {
	for name, c := range map[string]struct {
		happened func(*holding)
		rings    time.Duration
		result   timer.Result
	}{
		"cancelled":            {func(h *holding) { h.engine.gone.Store(true) }, -time.Second, timer.ResultInterrupted},
		"timed out":            {func(h *holding) { h.task.timedOut.Store(true) }, -time.Second, timer.ResultWorkerStopping},
		"timed out while held": {func(h *holding) { h.task.timedOut.Store(true) }, time.Second, timer.ResultWorkerStopping},
		"neither":              {func(*holding) {}, -time.Second, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHolding(t, true)
				c.happened(h)
				result, took := h.holds(c.rings, timer.DefaultPreload)
				require.Equal(t, c.result, result)
				require.Equal(t, max(c.rings, 0), took)
			})
		})
	}
}

// A look without an answer is repeated, and the timer is late rather than wrong.
func TestNotRungUnseen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHolding(t, true)
		h.engine.errors.Store(500)
		result, took := h.holds(2*time.Second, 2*time.Second)
		require.Empty(t, result)
		require.Greater(t, took, 500*lookAgain)
	})
}

func TestANudgeMakesItLook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHolding(t, true)
		nudge := func() {
			h.ringer.looks.mu.Lock()
			defer h.ringer.looks.mu.Unlock()
			for _, nudges := range h.ringer.looks.runs {
				nudges <- struct{}{}
			}
		}
		time.AfterFunc(time.Second, nudge) // for nothing: it goes on
		time.AfterFunc(2*time.Second, func() { h.engine.gone.Store(true); nudge() })
		result, took := h.holds(time.Minute, time.Minute)
		require.Equal(t, timer.ResultInterrupted, result)
		require.Equal(t, 2*time.Second, took)
		require.EqualValues(t, 2, h.engine.looks.Load())
		require.NoError(t, h.ringer.Look(t.Context(), "one that is not held"))
	})
}

func TestAStoppingWorkerLetsGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHolding(t, true)
		time.AfterFunc(time.Second, h.ringer.HandBack)
		result, took := h.holds(time.Minute, time.Minute)
		require.Equal(t, timer.ResultWorkerStopping, result)
		require.Equal(t, time.Second, took)
		result, took = h.holds(time.Minute, time.Minute)
		require.Equal(t, timer.ResultWorkerStopping, result, "nor holds anything new")
		require.Zero(t, took)
	})
}
