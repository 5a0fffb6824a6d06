package dispatch

import (
	"net/url"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/activities/send"
	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/wire"
)

// A run asks the loader again for the pages that the last run left open. If the loader is
// gone then, its shard stops as at any other time, and the items on the ladder are sent.
func TestALoaderThatIsGoneAtTheNextRun(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer  func(question url.Values, n int) send.Outcome
		done    int
		problem string
	}{
		"it is there": {five, 2 + 13, ""},
		"it is back soon": {func(q url.Values, n int) send.Outcome {
			if n < 6 {
				return refused(500)
			}
			return five(q, n)
		}, 2 + 13, ""},
		"no answer": {func(url.Values, int) send.Outcome { return refused(500) }, 2, "did not answer: HTTP 500"},
		"gone":      {func(url.Values, int) send.Outcome { o := refused(410); o.NoRetry = true; return o }, 2, "cannot be called: HTTP 410"},
		"rubbish":   {func(url.Values, int) send.Outcome { return says("<html>") }, 2, "is not of the form"},
		"rubbish for one page": {func(q url.Values, n int) send.Outcome {
			if q.Get("cursor") == "" {
				return says("<html>")
			}
			return five(q, n)
		}, 2 + 5, "is not of the form"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				h := loading(c.answer)
				h.policy.Retry = steps(time.Second)
				shard, began := h.shard(), time.Now()
				shard.State = left(h)
				shard.State.InFlight = 3 // when its worker died
				end := h.live(t, shard)
				require.Equal(t, c.done, end.State.Done)
				require.Zero(t, end.State.Retrying)
				require.Zero(t, end.State.InFlight)
				for i, m := range h.again() {
					require.Less(t, m.at.Sub(began), time.Duration(5*i+1)*time.Second, "%d waits for no loader", i)
				}
				require.Len(t, h.again(), 2)
				requireProblem(t, c.problem, end.State)
			})
		})
	}
}

// left is the state after a run: two items of the loader's first page were dealt with and
// none of its second one, an item of the ladder is under way, and one is due in 4 s.
func left(h *world) dispatch.State {
	first, second := fives(""), fives("a")
	first.markResolved(1)
	first.markResolved(3)
	ladder := dispatch.Ladder("shard", 1)
	due := wire.At(time.Now().Add(4 * time.Second))
	h.pages[ladder.Page(0)] = dispatch.Page{Items: []dispatch.Item{{ID: "again-0", Attempts: 1}}}
	h.pages[ladder.Page(1)] = dispatch.Page{Items: []dispatch.Item{{ID: "again-1", Attempts: 1}}, Due: due}
	under := open(dispatch.Open{Attempts: 1}, h.pages[ladder.Page(0)].Items)
	return dispatch.State{
		Page: 2, Cursor: "b", Open: []dispatch.Open{first.state(), second.state(), under.state()},
		Ladder: []dispatch.Queue{{}, {Head: 1, Tail: 2, Due: due}},
		Counts: dispatch.Counts{Found: 10, Retrying: 2},
	}
}

// fives is the page that [five] returns for a cursor.
func fives(cursor string) *page {
	read, _ := parse(five(url.Values{"cursor": {cursor}}, 0).Body, 5)
	return open(dispatch.Open{Cursor: cursor}, read.items)
}

// again are the items of the ladder that came.
func (h *world) again() (came []message) {
	for _, m := range h.came {
		if m.Headers[send.HeaderAttempt] == "2" {
			came = append(came, m)
		}
	}
	return came
}

// A run that ends before it has read the pages again leaves them to the next run, and so
// does a worker that dies.
func TestWhatIsNotReadAgainIsLeftToTheNextRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := loading(func(url.Values, int) send.Outcome { return refused(500) })
		shard := h.shard()
		shard.State = left(h)
		open := shard.State.Open[:2]
		source := func(state dispatch.State) []dispatch.Open {
			return slices.DeleteFunc(slices.Clone(state.Open), func(o dispatch.Open) bool { return o.Attempts > 0 })
		}
		time.AfterFunc(8*time.Second, func() { h.with(func() { h.memo.Plan.Paused = true }) })
		end, err := h.runShard(t, shard, nil)
		require.NoError(t, err)
		require.Equal(t, dispatch.RunPaused, end.End)
		require.Equal(t, open, source(end.State))
		for i, told := range h.told {
			require.Equal(t, open, source(told), "sign of life %d", i)
		}
	})
}

// A missing stored page that was open is a problem of its shard, which sends the rest. A
// temporarily unreadable one is read later.
func TestAStoredPageThatIsGoneAtTheNextRun(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		prepare func(h *world)
		done    int
		problem string
	}{
		"of the ladder": {func(h *world) { delete(h.pages, dispatch.Ladder("shard", 1).Page(0)) }, 10 + 1, "retry-1/0"},
		"of the source": {func(h *world) { delete(h.pages, "page/0") }, 2, "no such page"},
		"for a while": {func(h *world) {
			h.broken = &wire.Error{Code: wire.Unavailable, Message: "down"}
			time.AfterFunc(10*time.Second, func() { h.with(func() { h.broken = nil }) })
		}, 10 + 2, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				h := newWorld(10, 5)
				shard := h.shard()
				shard.State = left(h)
				first := open(dispatch.Open{}, h.pages["page/0"].Items)
				shard.State.Open = []dispatch.Open{first.state(), shard.State.Open[2]}
				shard.State.Page, shard.State.Base, shard.State.Cursor = 1, 5, ""
				c.prepare(h)
				end := h.live(t, shard)
				require.Equal(t, c.done, end.State.Done)
				requireProblem(t, c.problem, end.State)
			})
		})
	}
}

// However long it takes to read the pages again, up to half a second of unused moments is
// made up for.
func TestReadingAgainLosesNoMoment(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newWorld(300, 100)
		h.reads = 300 * time.Millisecond
		shard, began := h.shard(), time.Now()
		shard.State = dispatch.State{
			Page: 1, Base: 100, Last: wire.At(began),
			Open: []dispatch.Open{open(dispatch.Open{}, h.pages["page/0"].Items).state()},
		}
		h.live(t, shard)
		require.Len(t, h.came, 300)
		require.WithinDuration(t, began.Add(3*time.Second), h.came[299].at, 50*time.Millisecond)
	})
}
