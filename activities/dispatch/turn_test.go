package dispatch

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/detector"
	"github.com/wakecall/wakecall/internal/tuning"
)

// slow is a world of a shard that sends an item every 250 s.
func slow(businessType string) *world {
	h := newWorld(10, 10)
	h.memo.Order.Key = wire.Key{BusinessType: businessType, BusinessID: "slow"}
	h.memo.Plan.PerSecond = 0.004
	return h
}

// last is the last heartbeat; nil for none.
func (h *world) last() *dispatch.State {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.told) == 0 {
		return nil
	}
	told := h.told[len(h.told)-1]
	return &told
}

// Shards of one type that hold every place of a worker give one up to another type at once.
// Waiting shards report that they wait, and get their turn.
func TestShardsTakeTurnsAtPlaces(t *testing.T) {
	t.Parallel()
	detector.SkipSweep(t)
	synctest.Test(t, func(t *testing.T) {
		shared, quick := slow("slow").executor(), newWorld(20, 20)
		end := make(chan struct{})
		var running sync.WaitGroup
		worlds := make([]*world, tuning.DispatchSlots+2)
		for n := range worlds {
			worlds[n] = slow("slow")
			shard := worlds[n].shard()
			shard.ID = dispatch.ID{Key: wire.Key{BusinessType: "slow", BusinessID: fmt.Sprint(n)}}
			worlds[n].beat = func(int) error {
				select {
				case <-end:
					return &wire.Error{Code: wire.Overtaken}
				default:
					return nil
				}
			}
			running.Go(func() { // what its workflow does
				var from *dispatch.State
				for {
					executor := worlds[n].executor() // each run is another one
					executor.turns = shared.turns
					result, err := attempt{executor: executor, number: 1}.run(t, shard, from)
					if err == nil && result.End == dispatch.RunCancelled {
						return
					}
					if from = nil; err == nil {
						shard.State = result.State
						continue
					}
					from = worlds[n].last()
				}
			})
		}
		time.Sleep(3 * time.Second) //nolint:forbidigo // synctest's
		waiting := 0
		for _, h := range worlds {
			if told := h.last(); told != nil && told.Waits != 0 {
				waiting++
			}
		}
		require.Equal(t, 2, waiting, "they say that they wait")

		began := time.Now()
		executor := quick.executor()
		executor.turns = shared.turns
		result, err := attempt{executor: executor, number: 1}.run(t, quick.shard(), nil)
		require.NoError(t, err)
		require.Equal(t, 20, result.State.Done)
		require.Less(t, time.Since(began), 2*time.Second, "another type's items flow")

		time.Sleep(550 * time.Second) //nolint:forbidigo // synctest's
		close(end)
		running.Wait()
		for n, h := range worlds { // these are 3 moments, at 0 s, 250 s and 500 s
			require.Len(t, h.came, 3, "%d had its turns, and lost no moment", n)
		}
	})
}
