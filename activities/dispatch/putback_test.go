package dispatch

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/testsuite"

	"github.com/wakecall/wakecall/activities/send"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/wire"
)

// putsBack is the result of the activity.
func (h *world) putsBack(t *testing.T, shard dispatch.Shard) dispatch.State {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestActivityEnvironment()
	env.RegisterActivityWithOptions(h.executor().PutBack, activity.RegisterOptions{Name: "put-back"})
	value, err := env.ExecuteActivity("put-back", shard)
	require.NoError(t, err)
	var state dispatch.State
	require.NoError(t, value.Get(&state))
	return state
}

// listed are the items listed as failed, in order.
func (h *world) listed(state dispatch.State) (ids []string) {
	for n := range state.GivenUp {
		for _, item := range h.pages[dispatch.GivenUp("shard").Page(n)].Items {
			ids = append(ids, item.ID)
		}
	}
	return ids
}

// However early a round ends, each of its items was taken or is listed, and none is listed
// twice.
func TestARoundThatEndsEarlyLosesNothing(t *testing.T) {
	t.Parallel()
	for name, per := range map[string]dispatch.Per{"item": dispatch.PerItem, "page": dispatch.PerPage} {
		for beats := range 14 {
			t.Run(fmt.Sprint(name, " ", beats), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					h := newWorld(300, 40)
					h.policy.Retry = steps(time.Second, 3*time.Second)
					h.takes = 30 * time.Millisecond
					took := map[string]bool{}
					if h.memo.Order.Per = per; per == dispatch.PerPage {
						h.memo.Order.PageSize = 7
					}
					h.answer = func(m send.Message, n int) send.Outcome {
						switch n % 5 {
						case 1:
							return refused(500)
						case 2:
							return send.Outcome{Answer: delivery.Answer{Class: delivery.Answered, Status: 410, NoRetry: true}, Ended: time.Now()}
						}
						h.mu.Lock()
						defer h.mu.Unlock()
						took[m.Headers[send.HeaderBusinessID]] = true
						return taken()
					}
					h.beat = func(n int) error {
						if n > beats {
							return &wire.Error{Code: wire.Overtaken}
						}
						return nil
					}
					shard := h.shard()
					shard.Source.First, shard.Source.Skip, shard.Source.Items = 1, 3, 225 // one of several
					if beats > 0 {
						end, err := h.runShard(t, shard, nil)
						require.NoError(t, err)
						shard.State = end.State
					}
					done := shard.State.Done
					state := h.putsBack(t, shard)
					ids := h.listed(state)
					require.Len(t, ids, state.Failed)
					require.Equal(t, 225, done+state.Failed)
					require.Equal(t, []int{225, 0, 0}, []int{state.Found, state.Retrying, state.InFlight})
					unique := map[string]bool{}
					for _, id := range ids {
						require.False(t, took[id] && per == dispatch.PerItem, "%s was taken", id)
						unique[id] = true
					}
					require.Len(t, unique, len(ids))
					require.Equal(t, state, h.putsBack(t, shard), "carried out twice it is the same")
				})
			})
		}
	}
}

// Items put back fit on pages that Temporal accepts, and keep their attempts and their reason.
func TestWhatIsPutBackStaysAsItWas(t *testing.T) {
	t.Parallel()
	h := newWorld(2500, 1000)
	for _, page := range h.pages {
		for i := range page.Items {
			page.Items[i].Attempts, page.Items[i].Failure = 3, &delivery.Failure{Message: "busy"}
		}
	}
	state := h.putsBack(t, h.shard())
	require.Equal(t, []int{2500, 3}, []int{state.Failed, state.GivenUp})
	first := h.pages[dispatch.GivenUp("shard").Page(0)].Items[7]
	require.Equal(t, []any{"n-7", 3, "busy"}, []any{first.ID, first.Attempts, first.Failure.Message})
}

// A store that is down holds it up: it is tried again.
func TestNothingIsPutBackHalf(t *testing.T) {
	t.Parallel()
	h := newWorld(10, 10)
	h.broken = &wire.Error{Code: wire.Unavailable, Message: "down"}
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestActivityEnvironment()
	env.RegisterActivityWithOptions(func(ctx context.Context) error {
		_, err := h.executor().PutBack(ctx, h.shard())
		return err
	}, activity.RegisterOptions{Name: "put-back"})
	_, err := env.ExecuteActivity("put-back")
	require.ErrorContains(t, err, "down")
}
