package dispatch

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/activities/send"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/wire"
)

// behindAt is the lag in the last heartbeat before a moment.
func (h *world) behindAt(at time.Duration, began time.Time) (behind dispatch.Behind) {
	for _, state := range h.told {
		if state.Last.Time().Sub(began) <= at {
			behind = state.Behind
		}
	}
	return behind
}

// A shard reports since when it misses its moments, and what it lacks. After a while at its
// rate it stops reporting. A shard misses none if it keeps its rate, if its items are used
// up or wait on the ladder, or if it is held back.
func TestAShardThatFallsBehind(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		prepare func(h *world)
		why     dispatch.Shortage
	}{
		"at its rate": {func(*world) {}, ""},
		"places for callbacks": {func(h *world) {
			h.takes, h.policy.Limits.InFlight = time.Second, 20
		}, dispatch.ShortOfSlots},
		"items": {func(h *world) { h.reads = 2 * time.Second }, dispatch.ShortOfItems},
		"the ladder": {func(h *world) {
			h.policy.Retry = delivery.Retry{Steps: []wire.Duration{wire.Duration(4 * time.Second), wire.Duration(4 * time.Second)}}
			h.answer = func(send.Message, int) send.Outcome { return refused(500) }
		}, ""},
		"an emergency": {func(h *world) {
			h.paused = true
			time.AfterFunc(time.Minute, func() { h.with(func() { h.paused = false }) })
		}, ""},
		"patience": {func(h *world) {
			h.answer = func(_ send.Message, n int) send.Outcome {
				if n > 1 {
					return taken()
				}
				outcome := refused(503)
				outcome.RetryAfter = 10 * time.Second
				return outcome
			}
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				h := newWorld(600, 50)
				h.policy.Limits.InFlight = 1000
				c.prepare(h)
				began := time.Now()
				end, err := h.runShard(t, h.shard(), nil)
				require.NoError(t, err)
				require.Equal(t, c.why, end.State.Behind.Why)
				require.Equal(t, c.why != "", end.State.Behind.Lasting())
				if c.why != "" {
					require.WithinDuration(t, began, end.State.Behind.Since.Time(), 3*time.Second)
				}
			})
		})
	}
}

// A shard that has caught up reports that.
func TestAShardThatCatchesUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newWorld(2000, 50)
		h.policy.Limits.InFlight, h.takes = 20, time.Second
		time.AfterFunc(8*time.Second, func() { h.with(func() { h.takes = 0 }) })
		began := time.Now()
		end, err := h.runShard(t, h.shard(), nil)
		require.NoError(t, err)
		require.Equal(t, dispatch.ShortOfSlots, h.behindAt(8*time.Second, began).Why)
		require.True(t, h.behindAt(8*time.Second, began).Lasting())
		require.Zero(t, h.behindAt(14*time.Second, began))
		require.Zero(t, end.State.Behind)
	})
}
