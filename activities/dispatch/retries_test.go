package dispatch

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/activities/send"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/tuning"
)

func steps(all ...time.Duration) delivery.Retry {
	r := delivery.Retry{Steps: []wire.Duration{}}
	for _, step := range all {
		r.Steps = append(r.Steps, wire.Duration(step))
	}
	return r
}

// live runs runs until the shard is done, and waits between them as its workflow does.
func (h *world) live(t *testing.T, shard dispatch.Shard) dispatch.ShardRunResult {
	for {
		end, err := h.runShard(t, shard, nil)
		require.NoError(t, err)
		if end.End == dispatch.RunDone || end.End == dispatch.RunCancelled {
			return end
		}
		if end.End == dispatch.RunWaits {
			<-time.After(time.Until(end.WakeAt.Time()))
		}
		shard.State, shard.Plan = end.State, end.Plan
	}
}

// Failing items climb their ladder beside the others, which leave undisturbed.
func TestFailingItemsClimbTheLadder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newWorld(3000, 100)
		h.policy.Retry = steps(8*time.Second, 10*time.Second)
		h.answer = func(m send.Message, _ int) send.Outcome {
			var n int
			_ = json.Unmarshal(m.Body, &n)
			switch attempt := m.Headers[send.HeaderAttempt]; {
			case n%100 == 7: // never
				return refused(500)
			case n%100 == 8 && attempt == "1", n%100 == 9 && attempt != "3":
				return refused(404)
			case n%100 == 10:
				stop := refused(410)
				stop.NoRetry = true
				return stop
			}
			return taken()
		}
		began := time.Now()
		end := h.live(t, h.shard())
		require.Equal(t, dispatch.Counts{Found: 3000, Done: 2940, Failed: 60, Callbacks: 3000 + 30*2 + 30 + 30*2}, end.State.Counts)
		counts, ids := map[int]int{}, map[string]string{}
		for _, m := range h.came {
			counts[int(m.at.Sub(began)/time.Second)]++
			item := m.Headers[send.HeaderBusinessID]
			if earlier, known := ids[item]; known {
				require.Equal(t, earlier, m.ID, "one id for all attempts")
			}
			ids[item] = m.ID
		}
		for second := range 30 {
			require.InDelta(t, 100, counts[second], 2, "second %d: the rate is not changed", second)
		}
		again := slices.IndexFunc(h.came, func(m message) bool { return m.Headers[send.HeaderAttempt] == "2" })
		require.InDelta(t, 10, h.came[again].at.Sub(began).Seconds(), 3, "a second attempt does not wait for the items that are left")
		var givenUp []dispatch.Item
		for n := range end.State.GivenUp {
			givenUp = append(givenUp, h.pages[dispatch.GivenUp("shard").Page(n)].Items...)
		}
		require.Len(t, givenUp, 60)
		for _, item := range givenUp {
			require.NotNil(t, item.Failure)
			require.Contains(t, []int{1, 3}, item.Attempts)
		}
	})
}

// A receiver that requests patience gets it, and the dispatch resumes gently.
func TestTheReceiverAsksForPatience(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		refusal send.Outcome
		rest    time.Duration
		told    bool
		prepare func(h *world)
	}{
		"for a while":           {func() send.Outcome { o := refused(503); o.RetryAfter = 4 * time.Second; return o }(), 4 * time.Second, true, nil},
		"without saying how":    {refused(429), 2 * time.Second, true, nil},
		"which it is not given": {refused(429), 0, false, func(h *world) { none := wire.Duration(0); h.policy.MaxBackPressure = &none }},
		"and is not the type's": {refused(429), 2 * time.Second, false, func(h *world) {
			h.memo.Order.Callback = &delivery.Callback{Destination: delivery.HTTP("http://127.0.0.1:2")}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				h := newWorld(1500, 100)
				h.policy.Retry = steps(time.Second)
				if c.prepare != nil {
					c.prepare(h)
				}
				began := time.Now()
				h.answer = func(_ send.Message, n int) send.Outcome {
					if n == 301 { // after three seconds
						o := c.refusal
						o.Ended = time.Now()
						return o
					}
					return taken()
				}
				end := h.live(t, h.shard())
				require.Equal(t, 1500, end.State.Done)
				require.Equal(t, c.told, len(h.wishes) > 0)
				counts := map[int]int{}
				for _, m := range h.came {
					counts[int(m.at.Sub(began)/time.Second)]++
				}
				rested := int(c.rest / time.Second)
				for second := 3; second < 3+rested; second++ {
					require.LessOrEqual(t, counts[second], 3, "second %d", second)
				}
				if c.told {
					require.InDelta(t, 10, counts[3+rested], 5, "a tenth")
					require.InDelta(t, 40, counts[3+rested+5], 10)
					require.InDelta(t, 100, counts[3+rested+9], 5, "the whole again")
				}
			})
		})
	}
}

// The policy's own limit applies too, and its bound on the callbacks under way.
func TestThePolicyHoldsAsWell(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newWorld(300, 100)
		limit := 25.0
		h.policy.Limits = policy.Limits{CallbacksPerSecond: &limit, InFlight: 4}
		h.takes = 100 * time.Millisecond
		began := time.Now()
		h.live(t, h.shard())
		require.InDelta(t, 13.7, time.Since(began).Seconds(), 0.6)
	})
	synctest.Test(t, func(t *testing.T) {
		h := newWorld(100, 100)
		h.policy.Limits.InFlight, h.takes = 4, time.Second
		began := time.Now()
		h.live(t, h.shard())
		require.InDelta(t, 25, time.Since(began).Seconds(), 1.5)
	})
}

// One callback for each page has a verdict for each of its items.
func TestACallbackForEachPage(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		body         string
		done, failed int
		calls        int
	}{
		"no verdicts":       {"", 100, 0, 10},
		"all taken":         {`{"results":[]}`, 100, 0, 10},
		"one of them not":   {`{"results":[{"id":"n-13","ok":false,"reason":"no number"},{"id":"n-1","ok":true}]}`, 99, 1, 11},
		"not again":         {`{"results":[{"id":"n-13","ok":false,"retry":false}]}`, 99, 1, 10},
		"no verdict at all": {`<html>`, 0, 100, 20},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				h := newWorld(100, 40)
				h.memo.Order.Per, h.memo.Order.PageSize = dispatch.PerPage, 10
				h.policy.Retry = steps(time.Second)
				h.answer = func(m send.Message, _ int) send.Outcome {
					var sent struct {
						Items []struct {
							ID        string          `json:"id"`
							WebhookID string          `json:"webhook_id"`
							Payload   json.RawMessage `json:"payload"`
						} `json:"items"`
					}
					if json.Unmarshal(m.Body, &sent) != nil || sent.Items[0].WebhookID != (dispatch.ID{Key: key}).ItemID(dispatch.Item{ID: sent.Items[0].ID, Payload: sent.Items[0].Payload}) {
						return refused(400)
					}
					o := taken()
					o.Body = []byte(c.body)
					return o
				}
				end := h.live(t, h.shard())
				require.Equal(t, c.done, end.State.Done)
				require.Equal(t, c.failed, end.State.Failed)
				require.Len(t, h.came, c.calls)
			})
		})
	}
}

// Items that cannot be stored for a while are stored later, and none is lost.
func TestAStoreThatIsDown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newWorld(1000, 100)
		h.policy.Retry = steps()
		h.answer = func(_ send.Message, n int) send.Outcome {
			if n%10 == 0 {
				return refused(500)
			}
			return taken()
		}
		time.AfterFunc(2*time.Second, func() { h.with(func() { h.broken = &wire.Error{Code: wire.Unavailable, Message: "down"} }) })
		time.AfterFunc(6*time.Second, func() { h.with(func() { h.broken = nil }) })
		end := h.live(t, h.shard())
		require.Equal(t, 1000, end.State.Done+end.State.Failed)
		require.Nil(t, end.State.Problem)
		stored := 0
		for n := range end.State.GivenUp {
			stored += len(h.pages[dispatch.GivenUp("shard").Page(n)].Items)
		}
		require.Equal(t, end.State.Failed, stored)
	})
}

// However many items fail while a page of them is stored, no page is larger than Temporal
// accepts, and a refused page is stored again unchanged.
func TestAPageOfTheLadderIsBounded(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		payload int
		reason  string
		retry   delivery.Retry
		down    time.Duration
	}{
		"large payloads":              {payload: 4 << 10, retry: steps(time.Hour)},
		"large payloads, given up":    {payload: 4 << 10, retry: steps()},
		"many items":                  {payload: 10, retry: steps(time.Hour)},
		"long reasons":                {payload: 10, reason: strings.Repeat("<", wire.MaxFailureMessage), retry: steps()},
		"the store is down meanwhile": {payload: 4 << 10, retry: steps(time.Hour), down: 5 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				const items = 2500
				h := newWorld(items, 1000)
				for _, page := range h.pages {
					for i := range page.Items {
						page.Items[i].Payload = []byte(`"` + strings.Repeat("x", c.payload) + `"`)
					}
				}
				h.memo.Plan.PerSecond, h.policy.Retry = 5000, c.retry
				h.takes, h.stores = 150*time.Millisecond, time.Second
				h.answer = func(send.Message, int) send.Outcome {
					o := refused(500)
					if c.reason != "" {
						o.Detail = c.reason
					}
					return o
				}
				if c.down > 0 {
					h.broken = &wire.Error{Code: wire.Unavailable, Message: "down"}
					time.AfterFunc(c.down, func() { h.with(func() { h.broken = nil }) })
				}
				time.AfterFunc(2*time.Minute, func() { h.with(func() { h.silent(0) }) }) // it is stuck
				end, err := h.runShard(t, h.shard(), nil)
				require.NoError(t, err)
				require.Equal(t, items, end.State.Retrying+end.State.Failed)
				stored, first := map[string]bool{}, map[string]dispatch.Page{}
				for _, w := range h.wrote {
					require.LessOrEqual(t, len(w.page.Items), 1000)
					require.LessOrEqual(t, len(w.page.Encode()), 600<<10)
					if _, again := first[w.id]; !again {
						first[w.id] = w.page
					}
					require.Equal(t, first[w.id], w.page, "%s is what it was", w.id)
					for _, item := range w.page.Items {
						stored[item.ID] = true
					}
				}
				require.Len(t, stored, items)
			})
		})
	}
}

// A missing page is a problem of its shard, which sends the rest.
func TestAPageThatIsGone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newWorld(300, 100)
		shard := h.shard()
		delete(h.pages, "page/1")
		end := h.live(t, shard)
		require.Equal(t, 100, end.State.Done)
		require.NotNil(t, end.State.Problem)
	})
	synctest.Test(t, func(t *testing.T) {
		h := newWorld(10, 10)
		h.policy.Retry = steps(time.Minute)
		h.answer = func(send.Message, int) send.Outcome { return refused(500) }
		end, err := h.runShard(t, h.shard(), nil)
		require.NoError(t, err)
		require.Equal(t, dispatch.RunWaits, end.End)
		require.Equal(t, 10, end.State.Retrying)
		delete(h.pages, dispatch.Ladder("shard", 1).Page(0))
		shard := h.shard()
		shard.State = end.State
		end = h.live(t, shard)
		require.Contains(t, end.State.Problem.Message, "retry-1/0")
	})
}

// A shard that has been long with one worker gives others a chance, even if a callback hangs.
func TestARunIsOver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newWorld(20_000, 1000)
		h.memo.Plan.Active, h.memo.Plan.PerSecond = []int{0, 1}, 200
		began := time.Now()
		h.answer = func(_ send.Message, n int) send.Outcome {
			if n > 2950 && n < 3050 { // about 30 s
				<-time.After(7 * time.Second)
			}
			return taken()
		}
		end, err := h.runShard(t, h.shard(), nil)
		require.NoError(t, err)
		require.Equal(t, dispatch.RunYielded, end.End)
		require.InDelta(t, 40, time.Since(began).Seconds(), 6)
		shard := h.shard()
		shard.State = end.State
		last := len(h.came)
		_, err = h.runShard(t, shard, nil)
		require.NoError(t, err)
		require.Less(t, h.came[last].at.Sub(h.came[last-1].at), 500*time.Millisecond)
		ids := map[string]bool{}
		for _, id := range h.ids() {
			require.False(t, ids[id], "a hand-over repeats nothing: %s", fmt.Sprint(id))
			ids[id] = true
		}
	})
}

// A stored policy has its defaults: without a number, 200 callbacks of its type may be under
// way at once. A type without a policy has the larger bound.
func TestCallbacksUnderWayAtOnce(t *testing.T) {
	t.Parallel()
	h := newWorld(1, 1)
	h.memo.Order.Callback = &delivery.Callback{Destination: delivery.HTTP("http://127.0.0.1:1")}
	h.policy = h.policy.WithDefaults()
	s, err := h.executor().readSettings(t.Context(), key, time.Now())
	require.NoError(t, err)
	require.Equal(t, policy.DefaultInFlight, s.inFlight)

	h.policy, h.noPolicy = policy.Policy{}, &wire.Error{Code: wire.NotFound}
	s, err = h.executor().readSettings(t.Context(), key, time.Now())
	require.NoError(t, err)
	require.Equal(t, tuning.DispatchInFlight, s.inFlight)
	require.Greater(t, tuning.DispatchInFlight, policy.DefaultInFlight)
}
