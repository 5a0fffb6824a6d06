package dispatch

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/activities/send"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/wire"
)

// Items leave at the moments of the plan, at every rate and however long a callback takes,
// and each unchanged.
func TestItemsLeaveEvenly(t *testing.T) {
	t.Parallel()
	for _, rate := range []float64{0.5, 20, 100, 1000} {
		t.Run(fmt.Sprint(rate), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				h := newWorld(95, 10)
				h.memo.Plan.PerSecond, h.takes = rate, 300*time.Millisecond
				began := time.Now()
				end, err := h.runShard(t, h.shard(), nil)
				require.NoError(t, err)
				require.Equal(t, dispatch.RunDone, end.End)
				require.Equal(t, dispatch.Counts{Found: 95, Done: 95, Callbacks: 95}, end.State.Counts)
				require.Len(t, h.came, 95)
				for n, m := range h.came {
					require.Equal(t, fmt.Sprint("n-", n), m.Headers[send.HeaderBusinessID])
					require.Equal(t, fmt.Sprint(n), string(m.Body))
					at := began.Add(time.Duration(float64(n) / rate * float64(time.Second)))
					require.WithinDuration(t, at, m.at, 3*time.Millisecond, "item %d", n)
				}
			})
		})
	}
}

// A policy that becomes a stream while items are sent holds them until there is a receiver
// to call again. None is given up, and none is sent twice.
func TestAPolicyThatBecomesAStream(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newWorld(100, 10)
		h.memo.Plan.PerSecond = 10
		url := h.policy.Callback.Destination
		time.AfterFunc(3*time.Second, func() { h.with(func() { h.policy.Callback.Destination = delivery.Destination{Stream: true} }) })
		time.AfterFunc(time.Minute, func() { h.with(func() { h.policy.Callback.Destination = url }) })
		began := time.Now()
		end, err := h.runShard(t, h.shard(), nil)
		require.NoError(t, err)
		require.Equal(t, dispatch.Counts{Found: 100, Done: 100, Callbacks: 100}, end.State.Counts)
		require.Len(t, h.came, 100)
		for n, m := range h.came {
			require.Equal(t, url, m.Destination)
			require.Equal(t, fmt.Sprint("n-", n), m.Headers[send.HeaderBusinessID])
			at := m.at.Sub(began)
			require.True(t, at < 10*time.Second || at >= time.Minute, "item %d left after %s", n, at)
		}
	})
}

// A policy that goes, and with it the receiver, holds the items as well. The dispatch is paused
// and changed as ever.
func TestAPolicyThatGoes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newWorld(100, 10)
		h.memo.Plan.PerSecond = 10
		url := h.policy.Callback
		time.AfterFunc(3*time.Second, func() {
			h.with(func() { h.policy.Callback, h.noPolicy = delivery.Callback{}, &wire.Error{Code: wire.NotFound} })
		})
		time.AfterFunc(time.Minute, func() { h.with(func() { h.policy.Callback, h.noPolicy = url, nil }) })
		time.AfterFunc(63*time.Second, func() {
			h.with(func() { h.policy.Callback, h.noPolicy = delivery.Callback{}, &wire.Error{Code: wire.NotFound} })
		})
		time.AfterFunc(2*time.Minute, func() { h.with(func() { h.memo.Plan.Paused = true; h.memo.Plan.Changes++ }) })
		began := time.Now()
		end, err := h.runShard(t, h.shard(), nil)
		require.NoError(t, err)
		require.Equal(t, dispatch.RunPaused, end.End)
		require.InDelta(t, 60, len(h.came), 15)
		for n, m := range h.came {
			at := m.at.Sub(began)
			require.True(t, at < 5*time.Second || at >= time.Minute && at < 65*time.Second, "item %d left after %s", n, at)
		}
	})
}

// Two shards of one plan take turns.
func TestShardsTakeTurns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newWorld(100, 10)
		h.memo.Plan.Active = []int{0, 1}
		first, second := h.shard(), h.shard()
		first.Source.Items, second.Source.Items = 45, 55
		second.Number, second.Source.First, second.Source.Skip, second.Stored = 1, 4, 5, "other"
		done := make(chan dispatch.ShardRunResult, 2)
		for _, shard := range []dispatch.Shard{first, second} {
			go func() {
				end, _ := h.runShard(t, shard, nil)
				done <- end
			}()
		}
		require.Equal(t, dispatch.RunDone, (<-done).End)
		require.Equal(t, dispatch.RunDone, (<-done).End)
		came := map[string]int{}
		for i, m := range h.came {
			came[m.Headers[send.HeaderBusinessID]]++
			if i > 0 && i < 80 {
				require.InDelta(t, 10, m.at.Sub(h.came[i-1].at).Milliseconds(), 3)
			}
		}
		require.Len(t, came, 100, "each item is one shard's")
		require.Len(t, h.came, 100)
	})
}

// A run that ends anywhere is continued from its last heartbeat: no item is skipped, and
// only unreported items are repeated.
func TestAnExecutorThatDiesAnywhere(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for range 40 {
		synctest.Test(t, func(t *testing.T) {
			items := 1 + random.IntN(150)
			h := newWorld(items, 1+random.IntN(40))
			h.memo.Plan.PerSecond, h.takes = 50, time.Duration(random.IntN(400))*time.Millisecond
			h.policy.Retry = delivery.Retry{Steps: []wire.Duration{wire.Duration(time.Second)}}
			failing := random.IntN(5)
			h.answer = func(m send.Message, _ int) send.Outcome {
				if failing > 0 && len(m.Headers[send.HeaderBusinessID])%5 == failing && m.Headers[send.HeaderAttempt] == "1" {
					return refused(500)
				}
				return taken()
			}
			var from *dispatch.State
			shard := h.shard()
			for kills, runs := random.IntN(4), 0; ; kills-- {
				runs++
				require.Less(t, runs, 1000)
				dies := 1 + random.IntN(8)
				h.told = nil
				h.beat = func(n int) error {
					if kills > 0 && n >= dies {
						return &wire.Error{Code: wire.NotFound}
					}
					return nil
				}
				end, err := h.runShard(t, shard, from)
				if err == nil && end.End == dispatch.RunDone {
					require.Equal(t, items, end.State.Done+end.State.Failed)
					require.Equal(t, items, end.State.Found)
					require.Zero(t, end.State.Retrying)
					break
				}
				if err == nil { // it waits for its ladder, or gives others a chance
					shard.State, from = end.State, nil
					if end.WakeAt != 0 {
						<-time.After(max(time.Until(end.WakeAt.Time()), 0))
					}
					continue
				}
				if told := h.told[:max(len(h.told)-1, 0)]; len(told) > 0 {
					from = &told[random.IntN(len(told))]
				}
			}
			came := map[string]bool{}
			for _, id := range h.ids() {
				came[id] = true
			}
			require.Len(t, came, items, "none is skipped")
		})
	}
}

// Without an answered heartbeat nothing leaves: another executor may have the shard.
func TestNothingLeavesWithoutALease(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newWorld(1000, 100)
		began := time.Now()
		h.beat = func(n int) error {
			if time.Since(began) > 4*time.Second && time.Since(began) < 9*time.Second {
				return &wire.Error{Code: wire.Unavailable}
			}
			return nil
		}
		_, err := h.runShard(t, h.shard(), nil)
		require.NoError(t, err)
		silent := 0
		for _, m := range h.came {
			if since := m.at.Sub(began); since > 5300*time.Millisecond && since < 9*time.Second {
				silent++
			}
		}
		require.Zero(t, silent)
		require.Len(t, h.came, 1000)
	})
}

// A plan that changes while items leave applies within a second, and a pause ends the run.
func TestThePlanIsLive(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newWorld(2000, 100)
		began := time.Now()
		time.AfterFunc(5*time.Second, func() { h.with(func() { h.memo.Plan.PerSecond = 20 }) })
		time.AfterFunc(15*time.Second, func() { h.with(func() { h.memo.Plan.Paused, h.memo.Plan.Changes = true, 2 }) })
		end, err := h.runShard(t, h.shard(), nil)
		require.NoError(t, err)
		require.Equal(t, dispatch.RunPaused, end.End)
		require.Equal(t, 2, end.Plan.Changes)
		counts := map[int]int{}
		for _, m := range h.came {
			counts[int(m.at.Sub(began)/time.Second)]++
		}
		require.InDelta(t, 100, counts[3], 1)
		require.InDelta(t, 20, counts[7], 1)
		require.InDelta(t, 20, counts[14], 1)
		require.LessOrEqual(t, counts[15], 12)
		require.Zero(t, counts[16])
	})
}

func TestHowARunEnds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		prepare func(h *world)
		want    dispatch.ShardRunEnd
		err     string
	}{
		"the dispatch is gone": {func(h *world) { h.gone = &wire.Error{Code: wire.NotFound} }, dispatch.RunCancelled, ""},
		"the dispatch goes": {func(h *world) {
			time.AfterFunc(time.Second, func() { h.with(func() { h.gone = &wire.Error{Code: wire.NotFound} }) })
		}, dispatch.RunCancelled, ""},
		"it cannot be read":       {func(h *world) { h.gone = &wire.Error{Code: wire.Unavailable, Message: "no answer"} }, "", "no answer"},
		"nobody knows the policy": {func(h *world) { h.noPolicy = &wire.Error{Code: wire.Unavailable} }, "", "cannot continue"},
		"there is nobody to call": {func(h *world) { h.policy = policy.Policy{} }, "", "has a callback"},
		"a header cannot be opened": {func(h *world) {
			h.memo.Order.Callback = &delivery.Callback{Destination: delivery.HTTP("http://h"), Headers: map[string]string{"X": "bad"}}
		}, "", "cannot continue"},
		"it is cancelled":    {func(h *world) { h.beat = func(int) error { return &wire.Error{Code: wire.Overtaken} } }, dispatch.RunCancelled, ""},
		"another one has it": {func(h *world) { h.beat = func(int) error { return &wire.Error{Code: wire.NotFound} } }, "", "taken over"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				h := newWorld(500, 100)
				c.prepare(h)
				end, err := h.runShard(t, h.shard(), nil)
				if c.err != "" {
					require.ErrorContains(t, err, c.err)
					return
				}
				require.NoError(t, err)
				require.Equal(t, c.want, end.End)
				require.Less(t, end.State.Done, 500)
				require.Equal(t, len(h.came), end.State.Done, "what has left is counted")
			})
		})
	}
}

// A cancelled run stores the failed items, even if the cancel comes with its first
// heartbeat, or with one after a while without an answer.
func TestACancelledRunStoresWhatFailed(t *testing.T) {
	t.Parallel()
	for name, beat := range map[string]func(at time.Duration) error{
		"at once": func(time.Duration) error { return &wire.Error{Code: wire.Overtaken} },
		"after a silence": func(at time.Duration) error {
			switch {
			case at < time.Second:
				return nil
			case at < 4*time.Second:
				return &wire.Error{Code: wire.Unavailable}
			}
			return &wire.Error{Code: wire.Overtaken}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				h := newWorld(1000, 100)
				h.policy.Retry = delivery.Retry{Steps: []wire.Duration{wire.Duration(time.Hour)}}
				h.answer = func(send.Message, int) send.Outcome { return refused(500) }
				h.takes = 50 * time.Millisecond
				began := time.Now()
				h.beat = func(int) error {
					h.mu.Unlock()
					<-time.After(400 * time.Millisecond) // items leave meanwhile
					h.mu.Lock()
					return beat(time.Since(began))
				}
				end, err := h.runShard(t, h.shard(), nil)
				require.NoError(t, err)
				require.Equal(t, dispatch.RunCancelled, end.End)
				require.Positive(t, end.State.Retrying)
				require.Len(t, h.ids(), end.State.Retrying)
			})
		})
	}
}

// While the type is paused nothing leaves, and nothing is made up for.
func TestNothingLeavesInAnEmergency(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newWorld(600, 100)
		began := time.Now()
		time.AfterFunc(2*time.Second, func() { h.with(func() { h.paused = true }) })
		time.AfterFunc(5*time.Second, func() { h.with(func() { h.paused = false }) })
		_, err := h.runShard(t, h.shard(), nil)
		require.NoError(t, err)
		counts := map[int]int{}
		for _, m := range h.came {
			counts[int(m.at.Sub(began)/time.Second)]++
		}
		require.Zero(t, counts[3]+counts[4])
		require.InDelta(t, 100, counts[6], 1)
		require.Len(t, h.came, 600)
	})
}
