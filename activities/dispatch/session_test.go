package dispatch

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"

	"github.com/wakecall/wakecall/activities/send"
	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/wire"
)

// silent is a Temporal that loses an attempt's heartbeats from the nth on.
func (h *world) silent(from int) {
	h.beat = func(n int) error {
		if n >= from {
			h.told = h.told[:len(h.told)-1]
			return &wire.Error{Code: wire.NotFound}
		}
		return nil
	}
}

// A process that Temporal considers dead, and that gets the next attempt, continues its work
// under way. A process without the attempt before cannot, nor can one after another process
// has reported progress.
func TestTheSameProcessRepeatsNothing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		// same reports whether the next attempt comes to the same process, number is its
		// number, and told is the number of the last attempt with a heartbeat.
		same     bool
		number   int32
		told     int32
		repeated bool
	}{
		"the same process":                 {true, 2, 1, false},
		"nobody told anything in between":  {true, 3, 1, false},
		"another process":                  {false, 2, 1, true},
		"another process had it meanwhile": {true, 3, 2, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				h := newWorld(300, 40)
				h.takes = 700 * time.Millisecond
				h.silent(4)
				first, ended := attempt{executor: h.executor(), number: 1}, make(chan error)
				go func() {
					_, err := first.run(t, h.shard(), nil)
					ended <- err
				}()
				<-time.After(2 * time.Second)
				synctest.Wait()
				next := attempt{executor: first.executor, number: c.number}
				if !c.same {
					next.executor = h.executor()
				}
				var told dispatch.State
				h.with(func() { h.beat, told = nil, h.told[len(h.told)-1] })
				told.Try = c.told
				end, err := next.run(t, h.shard(), &told)
				require.NoError(t, err)
				require.Equal(t, []any{dispatch.RunDone, 300}, []any{end.End, end.State.Done})
				if err := <-ended; c.repeated {
					require.ErrorContains(t, err, "taken over")
				}
				require.Equal(t, c.repeated, len(h.came) > 300, "%d came", len(h.came))
			})
		})
	}
}

// A run whose end did not reach Temporal ends again in the next attempt.
func TestAnEndThatWasNotHeard(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newWorld(100, 40)
		e := h.executor()
		first, err := attempt{executor: e, number: 1}.run(t, h.shard(), nil)
		require.NoError(t, err)
		again, err := attempt{executor: e, number: 2}.run(t, h.shard(), &h.told[0])
		require.NoError(t, err)
		require.Equal(t, first, again)
		require.Len(t, h.ids(), 100)

		<-time.After(time.Minute)
		e.beginSession(activity.Info{ActivityID: "another"})
		require.Len(t, e.sessions, 1, "it is not kept for long")
	})
}

// faulty is a store with a fault of ours.
type faulty struct{ *world }

func (faulty) Read(context.Context, wire.Key, time.Time) (dispatch.Memo, error) {
	panic("broken") //nolint:forbidigo // as a fault does
}

// A run that panics has ended. The next attempt does not wait for it, and begins another run.
func TestAfterARunThatPanicked(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newWorld(10, 40)
		e := h.executor()
		e.Store = faulty{h}
		_, err := attempt{executor: e, number: 1}.run(t, h.shard(), nil)
		require.ErrorContains(t, err, "broken")
		e.Store = h
		end, err := attempt{executor: e, number: 2}.run(t, h.shard(), nil)
		require.NoError(t, err)
		require.Equal(t, dispatch.RunDone, end.End)
		require.Len(t, h.ids(), 10)
	})
}

// frozen is the store of an executor that stands still while it stores a page, and loses its shard.
type frozen struct {
	*world
	began time.Time
}

func (f frozen) thaw() { <-time.After(time.Until(f.began.Add(10 * time.Second))) }

func (f frozen) WritePage(ctx context.Context, id string, page dispatch.Page, life time.Duration) error {
	f.thaw()
	return f.world.WritePage(ctx, id, page, life)
}

func (f frozen) AddPage(ctx context.Context, id string, page dispatch.Page, life time.Duration) error {
	f.thaw()
	return f.world.AddPage(ctx, id, page, life)
}

func (f frozen) Heartbeat(ctx context.Context, token []byte, state dispatch.State) error {
	if time.Since(f.began) > 5*time.Second {
		return &wire.Error{Code: wire.NotFound}
	}
	return f.world.Heartbeat(ctx, token, state)
}

// An executor that stood still while it stored a page does not replace that of the next one. Its own
// attempt after a crash replaces the page that it had not reported.
func TestAnExecutorThatStoodStillReplacesNoPage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newWorld(30, 30)
		h.policy.Retry, h.takes = steps(time.Hour), time.Second
		next := false
		h.answer = func(m send.Message, _ int) send.Outcome {
			if number := strings.TrimPrefix(m.Headers[send.HeaderBusinessID], "n-"); next && len(number) == 1 {
				return taken()
			}
			return refused(500)
		}
		shard, still := h.shard(), h.executor()
		still.Store = frozen{h, time.Now()}
		var ended sync.WaitGroup
		ended.Go(func() {
			_, err := attempt{executor: still, number: 1}.run(t, shard, nil)
			require.Error(t, err)
		})
		<-time.After(6 * time.Second)
		next = true
		last := h.told[len(h.told)-1]
		end, err := attempt{executor: h.executor(), number: 2}.run(t, shard, &last)
		require.NoError(t, err)
		require.Equal(t, 20, end.State.Retrying)
		ended.Wait()
		require.Len(t, h.pages[dispatch.Ladder("shard", 1).Page(0)].Items, 20)

		crashed := end.State // it had not reported the page
		crashed.Ladder, crashed.Retrying, crashed.Open, crashed.Page, crashed.Base, crashed.End = nil, 0, nil, 0, 0, false
		crashed.Done, crashed.Found = 0, 0
		end, err = attempt{executor: h.executor(), number: 3}.run(t, shard, &crashed)
		require.NoError(t, err)
		require.Equal(t, []int{20, 1}, []int{end.State.Retrying, end.State.Ladder[1].Tail})
	})
}
