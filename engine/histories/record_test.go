package histories

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/serviceerror"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/bookings"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/workflows"
)

// The attempts of a timer are those of all of its runs: in the history of each, and in what an
// activity that is tried again keeps.
func TestTheRecordOfAttempts(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.book()
	require.Empty(t, s.made())
	s.attempted(1)
	require.Equal(t, []int{1}, s.made())
	s.retries(3)
	require.Equal(t, []int{3, 2, 1}, s.made())

	s.worker.Fail(order1ID)
	again, err := s.booked.Redeliver(t.Context(), order1, "")
	require.NoError(t, err)
	s.attempted(2)
	require.Equal(t, []int{2, 1, 1}, s.made(), "those of the redelivery are shown before")
	first, err := s.OfRun(t.Context(), order1, again.RunID)
	require.NoError(t, err)
	require.Len(t, first, 2)
	none, err := s.OfRun(t.Context(), order1, "forgotten")
	require.NoError(t, err, "Temporal has forgotten it")
	require.Empty(t, none)
}

// An attempt that was accepted is resolved by what the receiver said later.
func TestAnAcceptedAttemptIsResolved(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.book()
	field, err := kernel.Payloads.ToPayload(delivery.Acceptance{Attempt: 1, Result: delivery.ResultRetry, Until: 1800000000000, SettledAt: 1800000000000, Failure: &delivery.Failure{Class: delivery.Nacked}})
	require.NoError(t, err)
	s.attempted(1)
	s.worker.Record(order1ID, enumspb.EVENT_TYPE_WORKFLOW_PROPERTIES_MODIFIED, &historypb.HistoryEvent{
		Attributes: &historypb.HistoryEvent_WorkflowPropertiesModifiedEventAttributes{
			WorkflowPropertiesModifiedEventAttributes: &historypb.WorkflowPropertiesModifiedEventAttributes{
				UpsertedMemo: &commonpb.Memo{Fields: map[string]*commonpb.Payload{workflows.MemoAcceptance: field}},
			},
		},
	})
	shown, err := s.OfRun(t.Context(), order1, "")
	require.NoError(t, err)
	require.Len(t, shown, 1)
	require.Equal(t, delivery.Nacked, shown[0].Class)
}

// A page has the attempts of so many runs, and the next one those before.
func TestPagesOfAttempts(t *testing.T) {
	t.Parallel()
	s := open(t)
	for range 3 {
		s.book()
		s.attempted(1)
		s.worker.Fail(order1ID)
	}
	var numbers []int
	var token []byte
	for more := true; more; more = len(token) > 0 {
		page, err := s.Attempts.List(t.Context(), order1, 1, token)
		require.NoError(t, err)
		for _, attempt := range page.Attempts {
			numbers = append(numbers, attempt.Number)
		}
		token = page.Next
	}
	require.Len(t, numbers, 3, "each once")
}

// A story goes over all runs of a timer, and over the bookings of its id before.
func TestTheStoryOfATimer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := open(t)
		s.book()
		later()
		two := wire.Duration(2 * time.Hour)
		_, _, err := s.booked.Amend(t.Context(), bookings.Request{Key: order1, Terms: timer.Terms{Delay: &two}}, time.Minute)
		require.NoError(t, err)
		_, _, err = s.booked.Cancel(t.Context(), bookings.Target{Key: order1, Wait: time.Minute})
		require.NoError(t, err)
		later()
		s.book()
		s.retries(1)
		all, next := s.events(10, "")
		require.Empty(t, next)
		require.Equal(t, []timer.HistoryEvent{
			timer.HistoryBooked, timer.HistoryChanged, timer.HistoryCancelRequested, timer.HistoryCancelled, timer.HistoryBooked, timer.HistoryAttempt,
		}, all)

		last, next := s.events(1, "")
		require.Equal(t, all[4:], last)
		before, next := s.events(1, next)
		require.Equal(t, all[2:4], before)
		first, next := s.events(1, next)
		require.Equal(t, all[:2], first)
		require.Empty(t, next)
	})
}

// A redelivery goes on from the run that failed.
func TestTheStoryOfARedelivery(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := open(t)
		failed := s.book()
		s.worker.Fail(order1ID)
		later()
		_, err := s.booked.Redeliver(t.Context(), order1, "")
		require.NoError(t, err)
		events, next := s.events(1, "")
		require.Equal(t, []timer.HistoryEvent{timer.HistoryRedelivered}, events)
		require.Equal(t, failed.RunID, next)
		events, _ = s.events(10, next)
		require.Equal(t, []timer.HistoryEvent{timer.HistoryBooked, timer.HistoryFailed}, events)
	})
}

// What Temporal has forgotten ends a story, and what it does not answer is no end.
func TestTheErrorsOfStories(t *testing.T) {
	t.Parallel()
	s := open(t)
	_, err := s.Histories.List(t.Context(), order1, 10, "")
	require.Equal(t, wire.NotFound, wire.CodeOf(err))
	_, err = s.Attempts.List(t.Context(), order1, 10, nil)
	require.Equal(t, wire.NotFound, wire.CodeOf(err))
	_, err = s.Histories.List(t.Context(), wire.Key{BusinessType: "order", BusinessID: "a b"}, 10, "")
	require.Equal(t, wire.InvalidRequest, wire.CodeOf(err))
	s.book()
	events, next := s.events(10, "forgotten")
	require.Empty(t, events)
	require.Empty(t, next)
	for _, call := range []string{"DescribeWorkflowExecution", "GetWorkflowHistory", "ListWorkflow"} {
		for _, down := range []error{serviceerror.NewUnavailable("busy"), errors.New("down")} {
			s.on.Refuse(call, "", down)
			_, err := s.Histories.List(t.Context(), order1, 10, "")
			require.Equal(t, wire.Unavailable, wire.CodeOf(err), call)
			_, err = s.Attempts.List(t.Context(), order1, 10, nil)
			require.Equal(t, wire.Unavailable, wire.CodeOf(err), call)
		}
	}
}

// A token whose run Temporal cannot read is the caller's mistake. Without a token it is not.
func TestAStoryFromWhatIsNoRun(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.book()
	_, err := s.Histories.List(t.Context(), order1, 10, "\xff")
	require.Equal(t, wire.InvalidRequest, wire.CodeOf(err))
	s.on.Refuse("GetWorkflowHistory", "", serviceerror.NewInvalidArgument("Invalid RunId."))
	_, err = s.Histories.List(t.Context(), order1, 10, "forged")
	require.Equal(t, wire.InvalidRequest, wire.CodeOf(err))
	require.ErrorContains(t, err, "page_token")
	_, err = s.Histories.List(t.Context(), order1, 10, "")
	require.Equal(t, wire.Unavailable, wire.CodeOf(err), "the control")
}
