package dispatch

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/testsuite"

	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/wire"
)

// A dispatch of a type with a limit claims its rate, keeps to its share, and releases it
// when paused.
func TestAClaim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newWorld(3000, 1000)
		limit := 50.0
		h.policy.Limits.CallbacksPerSecond = &limit
		h.memo.Run = "run"
		go func() {
			<-time.After(10 * time.Second)
			h.with(func() { h.memo.Plan.PerSecond = 20; h.memo.Plan.Changes++ })
			<-time.After(10 * time.Second)
			h.with(func() { h.memo.Plan.Paused = true; h.memo.Plan.Changes++ })
		}()
		began := time.Now()
		end, err := h.runShard(t, h.shard(), nil)
		require.NoError(t, err)
		require.Equal(t, dispatch.RunPaused, end.End)
		require.True(t, end.State.Claimed)
		before := 0
		for _, m := range h.came {
			if m.at.Sub(began) < 10*time.Second {
				before++
			}
		}
		require.InDelta(t, 10*45, before, 45, "a tenth of the limit is for timers")
		require.InDelta(t, 10*20, len(h.came)-before, 35)
		var rates []float64
		for _, claim := range h.claims {
			require.Equal(t, "run", claim.Dispatch)
			rates = append(rates, claim.PerSecond)
		}
		require.Equal(t, []float64{100, 20, 0}, rates)
		require.Empty(t, h.policy.Claims)
	})
}

func TestASweepYields(t *testing.T) {
	t.Parallel()
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestActivityEnvironment()
	h := newWorld(0, 1)
	e := h.executor()
	env.RegisterActivity(e.CleanUp)
	_, err := env.ExecuteActivity(e.CleanUp, dispatch.Cleanup{Yield: "run", BusinessType: "mass"})
	require.NoError(t, err)
	require.Equal(t, []policy.Claim{{Dispatch: "run"}}, h.claims)
}

// Readers of a dispatch's workflow see its progress, at little cost for Temporal in any
// length of time.
func TestProgressIsTold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newWorld(900, 1000)
		h.memo.Plan.PerSecond, h.memo.StartedAt = 2, wire.At(time.Now())
		began := time.Now()
		end := h.live(t, h.shard())
		require.WithinDuration(t, began.Add(10*time.Second), h.progress[0], 3*time.Second)
		require.InDelta(t, 44, len(h.progress), 3)
		for _, hours := range []int{1, 24} {
			h := newWorld(900, 1000)
			h.memo.Plan.PerSecond, h.memo.StartedAt = 2, wire.At(time.Now().Add(-time.Duration(hours)*time.Hour))
			shard := h.shard()
			shard.State.Told = end.State.Told
			h.live(t, shard)
			require.InDelta(t, 6/hours, len(h.progress), 2)
		}
	})
}

// A run that began at a low rate ends when the rate is high: a killed worker must be noticed
// sooner than at the low rate.
func TestARunEndsWhenItIsMuchFaster(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		silence   time.Duration
		perSecond float64
		over      bool
	}{{time.Minute, 1, false}, {time.Minute, 300, true}, {1500 * time.Millisecond, 10_000, false}} {
		r := (&Executor{}).newRun(dispatch.Shard{}, activity.Info{HeartbeatTimeout: c.silence}, nil)
		r.until, r.settings = time.Now().Add(time.Hour), &settings{}
		r.settings.memo.Plan = dispatch.Plan{PerSecond: c.perSecond, Active: []int{0}}
		require.Equal(t, c.over, r.reasonToEnd(time.Now()) == dispatch.RunYielded, "%+v", c)
	}
}
