package timers

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/wakecall/wakecall/core/recurrence"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/enginetest"
	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/workflows"
)

// rack has timers of type order.
type rack struct {
	*Lister
	t      *testing.T
	on     *enginetest.Temporal
	worker enginetest.Worker
}

func racked(t *testing.T) rack {
	t.Helper()
	on := &enginetest.Temporal{}
	return rack{Lister: listerOn(on), t: t, on: on, worker: enginetest.Worker{On: on}}
}

// put books a timer that is due at an instant.
func (r rack) put(id string, due wire.Instant, change ...func(*timer.Memo)) {
	r.t.Helper()
	memo := timer.Memo{Revision: 1, DueAt: due, CreatedAt: wire.At(time.Now()), Booking: id}
	for _, edit := range change {
		edit(&memo)
	}
	attributes := []temporal.SearchAttributeUpdate{
		workflows.AttrBusinessType.ValueSet("order"), workflows.AttrBusinessID.ValueSet(id), workflows.AttrDueAt.ValueSet(due.Time()),
	}
	if keywords := memo.Keywords(); len(keywords) > 0 {
		attributes = append(attributes, workflows.AttrLabels.ValueSet(keywords))
	}
	_, err := r.on.ExecuteWorkflow(r.t.Context(), client.StartWorkflowOptions{
		ID: "order/" + id, Memo: map[string]any{workflows.MemoTimer: memo}, StartDelay: time.Hour, TypedSearchAttributes: temporal.NewSearchAttributes(attributes...),
		WorkflowIDReusePolicy: enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
	}, workflows.TypeTimer, timer.Spec{Key: wire.Key{BusinessType: "order", BusinessID: id}, Memo: memo}, workflows.Encode(nil))
	require.NoError(r.t, err)
}

// all are the ids of all pages of a request, in their order.
func (r rack) all(asked PageRequest) (ids []string) {
	r.t.Helper()
	for more := true; more; more = len(asked.Token) > 0 {
		page, err := r.List(r.t.Context(), asked)
		require.NoError(r.t, err)
		require.LessOrEqual(r.t, len(page.Timers), asked.Size)
		for _, view := range page.Timers {
			ids = append(ids, view.BusinessID)
		}
		asked.Token = page.Next
	}
	return ids
}

// A sorted list goes through all timers once, whether they are far apart or many at one moment.
func TestASortedListHasEachOnce(t *testing.T) {
	t.Parallel()
	now := wire.At(time.Now())
	for name, due := range map[string]func(n int) wire.Instant{
		"far apart":        func(n int) wire.Instant { return now.Add(time.Duration(n*n) * time.Hour) },
		"past and ahead":   func(n int) wire.Instant { return now.Add(time.Duration(n-20) * 24 * time.Hour) },
		"close together":   func(n int) wire.Instant { return now.Add(time.Duration(n) * time.Millisecond) },
		"at three moments": func(n int) wire.Instant { return now.Add(time.Duration(n%3) * time.Second) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := racked(t)
			want := map[string]wire.Instant{}
			for n := range 40 {
				id := strconv.Itoa(n)
				want[id] = due(n)
				r.put(id, want[id])
			}
			for _, size := range []int{1, 7, 100} {
				first := r.all(PageRequest{Sort: timer.DueFirst, Size: size})
				require.Len(t, first, len(want))
				require.True(t, slices.IsSortedFunc(first, func(a, b string) int { return int(want[a] - want[b]) }))
				last := r.all(PageRequest{Sort: timer.DueLast, Size: size})
				require.Len(t, last, len(want))
				require.True(t, slices.IsSortedFunc(last, func(a, b string) int { return int(want[b] - want[a]) }))
				slices.Sort(first)
				require.Len(t, slices.Compact(first), len(want), "each once")
			}
		})
	}
}

// As many at one moment as visibility lists at once are listed as well, unsorted, and to their end.
func TestACrowdedMoment(t *testing.T) {
	t.Parallel()
	r := racked(t)
	at := wire.At(time.Now().Add(time.Hour))
	for n := range tuning.MaxListed {
		r.put(fmt.Sprintf("%04d", n), at)
	}
	r.put("before", at.Add(-time.Second))
	r.put("after", at.Add(time.Second))
	for _, sort := range []timer.Sort{timer.DueFirst, timer.DueLast} {
		ids := r.all(PageRequest{Sort: sort, Size: 400})
		require.Len(t, ids, tuning.MaxListed+2)
		ends := []string{ids[0], ids[len(ids)-1]}
		if sort == timer.DueLast {
			slices.Reverse(ends)
		}
		require.Equal(t, []string{"before", "after"}, ends)
		slices.Sort(ids)
		require.Len(t, slices.Compact(ids), tuning.MaxListed+2)
	}
}

// What falls due outside of the bounds is not listed, whichever the order.
func TestTheBoundsOfASortedList(t *testing.T) {
	t.Parallel()
	r := racked(t)
	at := wire.At(time.Now())
	for n := range 5 {
		r.put(strconv.Itoa(n), at.Add(time.Duration(n)*time.Minute))
	}
	for _, sort := range []timer.Sort{"", timer.DueFirst, timer.DueLast} {
		ids := r.all(PageRequest{Sort: sort, Size: 2, Filter: timer.Filter{DueFrom: at.Add(time.Minute), DueTo: at.Add(3 * time.Minute)}})
		slices.Sort(ids)
		require.Equal(t, []string{"1", "2", "3"}, ids, sort)
	}
}

// A label is held to the letter, whatever visibility makes of it.
func TestTimersAreFoundByTheirLabels(t *testing.T) {
	t.Parallel()
	r := racked(t)
	at := wire.At(time.Now())
	r.put("test", at, func(m *timer.Memo) { m.Labels = timer.Labels{"env": "test", "team": "a"} })
	r.put("live", at, func(m *timer.Memo) { m.Labels = timer.Labels{"env": "live", "team": "a"} })
	for name, c := range map[string]struct {
		labels timer.Labels
		want   []string
	}{
		"one":     {timer.Labels{"env": "test"}, []string{"test"}},
		"both":    {timer.Labels{"team": "a"}, []string{"live", "test"}},
		"all of":  {timer.Labels{"team": "a", "env": "live"}, []string{"live"}},
		"none":    {timer.Labels{"env": "TEST"}, nil},
		"another": {timer.Labels{"env": "a"}, nil},
	} {
		require.ElementsMatch(t, c.want, r.all(PageRequest{Size: 10, Filter: timer.Filter{Labels: c.labels}}), name)
	}
}

// A failed timer that was tried again is listed once, by the run that tries it again.
func TestATimerThatWasTriedAgainIsListedOnce(t *testing.T) {
	t.Parallel()
	r := racked(t)
	at := wire.At(time.Now())
	r.put("1", at)
	r.worker.Fail("order/1")
	r.put("2", at)
	r.worker.Fail("order/2")
	r.put("1", at, func(m *timer.Memo) { m.Round = 1 })
	r.worker.Fail("order/1")
	require.Len(t, r.all(PageRequest{Size: 10}), 3)
	require.ElementsMatch(t, []string{"1", "2"}, r.all(PageRequest{Size: 10, OnePerBooking: true}))
	calls := len(r.on.Calls("ListWorkflow"))
	require.Empty(t, r.all(PageRequest{Size: 10, OnePerBooking: true, Filter: timer.Filter{Status: timer.Delivered}}))
	require.Len(t, r.on.Calls("ListWorkflow"), calls+1, "it is asked for where one has failed")
}

// PostgreSQL counts the timers of a time by an index, and reads all of them to list none.
func TestATimeWithoutTimersIsNotListed(t *testing.T) {
	t.Parallel()
	r := racked(t)
	now := wire.At(time.Now())
	r.put("ahead", now.Add(time.Hour))
	require.Empty(t, r.all(PageRequest{Size: 10, Filter: timer.Filter{DueTo: now}}))
	require.Empty(t, r.on.Calls("ListWorkflow"))
	require.Equal(t, []string{"ahead"}, r.all(PageRequest{Size: 10, Filter: timer.Filter{DueTo: now.Add(2 * time.Hour)}}))
	require.Len(t, r.on.Calls("ListWorkflow"), 1)
}

// A list shows how far each timer is, where that takes a call.
func TestListsShowProgress(t *testing.T) {
	t.Parallel()
	r := racked(t)
	past, ahead := wire.At(time.Now()).Add(-time.Minute), wire.At(time.Now()).Add(time.Hour)
	r.put("ahead", ahead)
	r.put("overdue", past)
	r.put("ringing", past)
	r.put("failed", past)
	r.put("cancelled", past)
	r.worker.State(t, "order/ringing", timer.Delivering)
	r.worker.Pend("order/ringing", &workflowpb.PendingActivityInfo{State: enumspb.PENDING_ACTIVITY_STATE_STARTED})
	r.worker.Fail("order/failed")
	r.worker.Cancel("order/cancelled", timer.Outcome{Status: timer.Cancelled, Attempts: 2})
	page, err := r.List(t.Context(), PageRequest{Size: 10, Progress: true})
	require.NoError(t, err)
	attempts := map[string]int{}
	for _, view := range page.Timers {
		attempts[view.BusinessID] = view.Attempts
	}
	require.Equal(t, map[string]int{"ahead": 0, "overdue": 0, "ringing": 1, "failed": 3, "cancelled": 2}, attempts)
	require.ElementsMatch(t, []string{"order/overdue", "order/ringing"}, timersIn(r.on.Called("DescribeWorkflowExecution")))
	require.ElementsMatch(t, []string{"order/failed", "order/cancelled"}, r.on.Called("GetWorkflow"))

	r.on.Refuse("DescribeWorkflowExecution", "order/ringing", serviceerror.NewNotFound("deleted since"))
	_, err = r.List(t.Context(), PageRequest{Size: 10, Progress: true})
	require.NoError(t, err, "it stays as it was listed")
	for _, call := range []string{"DescribeWorkflowExecution", "GetWorkflow", "ListWorkflow"} {
		r.on.Refuse(call, "", errors.New("down"))
		_, err = r.List(t.Context(), PageRequest{Size: 10, Progress: true})
		require.Equal(t, wire.Unavailable, wire.CodeOf(err), call)
	}
}

// timersIn are the ids of timers among those of workflows.
func timersIn(ids []string) []string {
	return slices.DeleteFunc(slices.Clone(ids), func(id string) bool { _, ok := wire.ParseKey(id); return !ok })
}

// A list without visibility is no list.
func TestTheErrorsOfLists(t *testing.T) {
	t.Parallel()
	for _, call := range []string{"ListWorkflow", "CountWorkflow"} {
		r := racked(t)
		r.put("1", wire.At(time.Now()))
		r.on.Refuse(call, "", serviceerror.NewResourceExhausted(0, "slow down"))
		_, err := r.List(t.Context(), PageRequest{Size: 10, Sort: timer.DueFirst})
		require.Equal(t, wire.Unavailable, wire.CodeOf(err), call)
	}
	r := racked(t)
	for _, token := range []string{"?", `{"at":"yesterday"}`, `{"at":1}`} {
		_, err := r.List(t.Context(), PageRequest{Size: 10, Sort: timer.DueLast, Token: []byte(token)})
		require.Equal(t, wire.InvalidRequest, wire.CodeOf(err), token)
	}
}

// More may be booked than was counted, or than was due when the page before was sorted: a list
// repeats nobody, and misses nobody who was there.
func TestMoreIsBookedThanWasCounted(t *testing.T) {
	t.Parallel()
	for name, spread := range map[string]time.Duration{"at one moment": 0, "within a window": time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := racked(t)
			at := wire.At(time.Now().Add(time.Hour))
			for n := range 5 {
				r.put("first-"+strconv.Itoa(n), at.Add(time.Duration(n)*spread))
			}
			asked := PageRequest{Sort: timer.DueFirst, Size: 2}
			page, err := r.List(t.Context(), asked)
			require.NoError(t, err)
			require.Len(t, page.Timers, 2)
			asked.Token, asked.Size = page.Next, 400
			crowd := func() {
				for n := range tuning.MaxListed {
					r.put("later-"+strconv.Itoa(n), at.Add(time.Duration(n%5)*spread))
				}
			}
			r.on.After = func(call enginetest.Call) error {
				if call.Name == "CountWorkflow" {
					r.on.After = nil
					crowd()
				}
				return nil
			}
			ids := r.all(asked)
			for _, view := range page.Timers {
				require.NotContains(t, ids, view.BusinessID, "it was on the page before")
			}
			for n := 2; n < 5; n++ {
				require.Contains(t, ids, "first-"+strconv.Itoa(n))
			}
			slices.Sort(ids)
			require.Len(t, slices.Compact(slices.Clone(ids)), len(ids), "each once")
		})
	}
}

// A list knows of an end what its attribute says, and holds the bounds to the millisecond.
func TestWhatAListKnows(t *testing.T) {
	t.Parallel()
	r := racked(t)
	at := wire.At(time.Now())
	r.put("expired", at)
	r.put("before", at.Add(-time.Millisecond))
	r.worker.State(t, "order/expired", timer.Expired)
	r.worker.Close("order/expired", timer.Outcome{Status: timer.Expired})
	for _, filter := range []timer.Filter{{DueFrom: at}, {Status: timer.Expired}} {
		page, err := r.List(t.Context(), PageRequest{Size: 10, Filter: filter})
		require.NoError(t, err)
		require.Len(t, page.Timers, 1)
		require.Equal(t, timer.Expired, page.Timers[0].Status)
	}
}

// A timer is found by the id of any of its runs, and a list may have recurring timers only.
func TestOtherWaysToFindATimer(t *testing.T) {
	t.Parallel()
	r := racked(t)
	due := wire.At(time.Now().Add(time.Hour))
	r.put("once", due)
	day := wire.Duration(24 * time.Hour)
	r.put("daily", due, func(memo *timer.Memo) {
		memo.Series = &timer.Series{Rule: recurrence.Rule{Every: &day}, Cursor: recurrence.Cursor{Booked: due}, Number: 1}
	})
	require.Equal(t, []string{"daily"}, r.all(PageRequest{Filter: timer.Filter{Recurring: true}, Size: 10}))

	for _, id := range []string{"once", "daily"} {
		view, err := r.reader.Run(t.Context(), wire.Key{BusinessType: "order", BusinessID: id}, "")
		require.NoError(t, err)
		require.Equal(t, []string{id}, r.all(PageRequest{Named: Named{RunID: view.RunID}, Size: 1}))
	}
	require.Empty(t, r.all(PageRequest{Named: Named{RunID: "unknown"}, Size: 1}))
	require.Empty(t, r.all(PageRequest{Named: Named{WebhookID: "msg_unknown"}, Size: 1}), "the ring has not come, so nothing waits for its acknowledgement")
}
