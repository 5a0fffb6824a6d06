package dispatch

import (
	"context"
	"fmt"
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

// A call that panics fails for its item alone. The item goes on the ladder, and is given up like
// any other.
func TestACallThatPanics(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		times int
		want  dispatch.Counts
	}{
		"once":   {1, dispatch.Counts{Found: 10, Done: 10, Callbacks: 11}},
		"always": {100, dispatch.Counts{Found: 10, Done: 9, Failed: 1, Callbacks: 11}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				h := newWorld(10, 40)
				h.policy.Retry = delivery.Retry{Steps: []wire.Duration{wire.Duration(time.Second)}}
				panics := 0
				h.answer = func(m send.Message, _ int) send.Outcome {
					if m.Headers[send.HeaderBusinessID] == "n-3" && panics < c.times {
						panics++
						panic("broken") //nolint:forbidigo // as a fault does
					}
					return taken()
				}
				shard := h.shard()
				end, err := h.runShard(t, shard, nil)
				require.NoError(t, err)
				require.Equal(t, dispatch.RunDone, end.End)
				require.Equal(t, c.want, end.State.Counts)
				for number := range end.State.GivenUp {
					page := h.pages[dispatch.GivenUp(shard.Stored).Page(number)]
					require.Len(t, page.Items, 1)
					require.Equal(t, string(delivery.CallBroken), page.Items[0].Failure.Message, "nothing of the panic itself")
				}
			})
		})
	}
}

// stumbler is a world in which the call of one name panics the second time.
type stumbler struct {
	*world
	name  string
	calls int
}

func (s *stumbler) stumble(name string) {
	if s.name != name {
		return
	}
	if s.calls++; s.calls == 2 {
		panic("broken") //nolint:forbidigo // as a fault does
	}
}

func (s *stumbler) ReadPage(ctx context.Context, id string) (dispatch.Page, error) {
	s.stumble("ReadPage")
	return s.world.ReadPage(ctx, id)
}

func (s *stumbler) AddPage(ctx context.Context, id string, page dispatch.Page, life time.Duration) error {
	s.stumble("AddPage")
	return s.world.AddPage(ctx, id, page, life)
}

func (s *stumbler) Read(ctx context.Context, key wire.Key, since time.Time) (dispatch.Memo, error) {
	s.stumble("Read")
	return s.world.Read(ctx, key, since)
}

func (s *stumbler) Heartbeat(ctx context.Context, token []byte, state dispatch.State) error {
	s.stumble("Heartbeat")
	return s.world.Heartbeat(ctx, token, state)
}

func (s *stumbler) ReportProgress(ctx context.Context, key wire.Key) error {
	s.stumble("ReportProgress")
	return s.world.ReportProgress(ctx, key)
}

func (s *stumbler) HoldBack(ctx context.Context, businessType string, wish policy.BackPressure) error {
	s.stumble("HoldBack")
	return s.world.HoldBack(ctx, businessType, wish)
}

func (s *stumbler) Claim(ctx context.Context, businessType string, claim policy.Claim) error {
	s.stumble("Claim")
	return s.world.Claim(ctx, businessType, claim)
}

// A panic beside the loop of a shard is an error of the work that panicked. The run goes on, and
// each item is dealt with once.
func TestWorkThatPanics(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"ReadPage", "AddPage", "Read", "Heartbeat", "ReportProgress", "HoldBack", "Claim"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				h := newWorld(2000, 100)
				h.policy.Retry = delivery.Retry{Steps: []wire.Duration{wire.Duration(time.Second)}}
				rate := 100.0
				h.policy.Limits.CallbacksPerSecond = &rate
				h.answer = func(m send.Message, n int) send.Outcome {
					switch {
					case n == 300 || n == 900: // the receiver asks for patience
						return refused(429)
					case len(m.Headers[send.HeaderBusinessID])%5 == 0 && m.Headers[send.HeaderAttempt] == "1":
						return refused(500)
					}
					return taken()
				}
				s := &stumbler{world: h, name: name}
				e := New(Config{Store: s, Policies: s, Opener: h, Emergencies: h, Sender: h, Observer: h})
				end, err := attempt{executor: e, number: 1}.run(t, h.shard(), nil)
				require.NoError(t, err)
				require.GreaterOrEqual(t, s.calls, 2, "it has panicked")
				require.Equal(t, dispatch.RunDone, end.End)
				require.Equal(t, []int{2000, 2000}, []int{end.State.Found, end.State.Done + end.State.Failed})
				came := map[string]int{}
				for _, m := range h.came {
					came[fmt.Sprint(m.Headers[send.HeaderBusinessID], "/", m.Headers[send.HeaderAttempt])]++
				}
				for item, times := range came {
					require.Equal(t, 1, times, item)
				}
			})
		})
	}
}

// tripping is a world whose observer panics the first time that it hears of a rate.
type tripping struct {
	*world

	tripped bool
}

func (o *tripping) Dispatching(_ wire.Key, _ int, perSecond float64, _ time.Duration) {
	if perSecond > 0 && !o.tripped {
		o.tripped = true
		panic("broken") //nolint:forbidigo // as a fault does
	}
}

// A loop that panics leaves no place taken by the callbacks that were under way. The next attempt in
// this process has them all.
func TestALoopThatPanics(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const items, places = 200, 5
		h := newWorld(items, 10)
		h.policy.Limits.InFlight, h.takes = places, 20*time.Millisecond
		observer := &tripping{world: h}
		e := New(Config{Store: h, Policies: h, Opener: h, Emergencies: h, Sender: h, Observer: observer})
		_, err := attempt{executor: e, number: 1}.run(t, h.shard(), nil)
		require.Error(t, err)
		require.True(t, observer.tripped)
		require.Empty(t, e.inFlight)
		require.Less(t, len(h.came), items)
		end, err := attempt{executor: e, number: 2}.run(t, h.shard(), &h.told[len(h.told)-1])
		require.NoError(t, err)
		require.Equal(t, dispatch.RunDone, end.End)
		require.Equal(t, items, end.State.Done)
	})
}
