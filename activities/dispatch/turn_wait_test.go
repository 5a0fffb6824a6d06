package dispatch

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/internal/turns"
)

// crowded is an executor whose only place is held permanently, by work of a type with no
// more places than the shard's. free ends that.
func crowded(t *testing.T, h *world) (executor *Executor, free func()) {
	t.Helper()
	executor = h.executor()
	executor.turns = turns.New(1, time.Hour)
	return executor, executor.turns.Acquire(t.Context(), "other", time.Now()).Release
}

// ending is the result of an attempt.
type ending struct {
	result dispatch.ShardRunResult
	err    error
}

// begin makes an attempt in the background of the test.
func begin(t *testing.T, executor *Executor, shard dispatch.Shard, from *dispatch.State) <-chan ending {
	t.Helper()
	ends := make(chan ending, 1)
	go func() {
		result, err := attempt{executor: executor, number: 1}.run(t, shard, from)
		ends <- ending{result, err}
	}()
	return ends
}

// A change while a shard waits for its turn applies when the turn comes: a pause ends it
// without an item, and frees the place; a new rate is its rate.
func TestAPlanThatChangesWhileAShardWaits(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(plan *dispatch.Plan)
		end    dispatch.ShardRunEnd
		items  int
		takes  time.Duration
	}{
		"nothing": {func(*dispatch.Plan) {}, dispatch.RunDone, 20, 200 * time.Millisecond},
		"a pause": {func(plan *dispatch.Plan) { plan.Paused, plan.Changes = true, 1 }, dispatch.RunPaused, 0, 0},
		"a new rate": {func(plan *dispatch.Plan) {
			plan.PerSecond, plan.Began, plan.Changes = 2, wire.At(time.Now()), 1
		}, dispatch.RunDone, 20, 9500 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				h := newWorld(20, 20)
				executor, free := crowded(t, h)
				ends := begin(t, executor, h.shard(), nil)
				time.Sleep(10 * time.Second) //nolint:forbidigo // synctest's
				require.NotZero(t, h.last().Waits)
				h.with(func() { c.change(&h.memo.Plan) })
				free()
				end := <-ends
				require.NoError(t, end.err)
				require.Equal(t, c.end, end.result.End)
				require.Zero(t, end.result.State.Waits, "it waits for its turn no more")
				require.Len(t, h.came, c.items)
				if c.items > 0 {
					require.InDelta(t, c.takes, h.came[c.items-1].at.Sub(h.came[0].at), float64(100*time.Millisecond))
				}
				require.NotNil(t, executor.turns.Acquire(t.Context(), "third", time.Now()), "it has left the place")
			})
		})
	}
}

// A shard that waits for its turn, and that Temporal has given to another worker meanwhile, leaves
// without an item and without a place.
func TestAWaitingShardThatAnotherWorkerHas(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h, began := newWorld(20, 20), time.Now()
		h.beat = func(int) error { return &wire.Error{Code: wire.NotFound} }
		executor, free := crowded(t, h)
		end := <-begin(t, executor, h.shard(), nil)
		require.Error(t, end.err)
		require.Less(t, time.Since(began), tuning.TurnPatience)
		free()
		require.NotNil(t, executor.turns.Acquire(t.Context(), "third", time.Now()))
		require.Empty(t, h.came)
	})
}

// A shard that has waited long at one worker is handed on, and keeps its place in the order:
// at the next worker it precedes work that has waited for less. The same holds if its worker
// died, and it continues from its last heartbeat.
func TestAShardWaitsAtTwoWorkers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h, began := newWorld(20, 20), time.Now()
		first, _ := crowded(t, h)
		end := <-begin(t, first, h.shard(), nil)
		require.ErrorContains(t, end.err, "waits for its turn", "the first worker hands it on")
		require.Equal(t, tuning.TurnPatience, time.Since(began))
		told := h.last()
		require.Equal(t, wire.At(began), told.Waits)
		require.Empty(t, h.came)

		second, free := crowded(t, h)
		other := newWorld(20, 20)
		beside := other.executor()
		beside.turns = second.turns
		later := begin(t, beside, other.shard(), nil)
		synctest.Wait()
		again := begin(t, second, h.shard(), told)
		time.Sleep(5 * time.Second) //nolint:forbidigo // synctest's
		require.Equal(t, wire.At(began), h.last().Waits, "it says since when it waits in all")
		require.Equal(t, wire.At(began.Add(tuning.TurnPatience)), other.last().Waits)
		free()
		for _, ends := range []<-chan ending{again, later} {
			end := <-ends
			require.NoError(t, end.err)
			require.Equal(t, 20, end.result.State.Done)
		}
		require.True(t, h.came[0].at.Before(other.came[0].at), "who has waited longest comes first")
	})
}
