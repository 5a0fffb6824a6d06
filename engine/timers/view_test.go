package timers

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/sdk/temporal"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/enginetest"
	"github.com/wakecall/wakecall/workflows"
)

// How a run stands in Temporal, and what it says of itself, is the status of the timer.
func TestTheStatusOfATimer(t *testing.T) {
	t.Parallel()
	state := func(state timer.Status) func(fixture) {
		return func(s fixture) { s.worker.State(t, order1ID, state) }
	}
	for name, c := range map[string]struct {
		before func(fixture)
		want   timer.Status
	}{
		"open":        {func(fixture) {}, timer.Scheduled},
		"being tried": {state(timer.Delivering), timer.Delivering},
		"delivered":   {func(s fixture) { s.worker.Deliver(order1ID) }, timer.Delivered},
		"expired": {func(s fixture) {
			state(timer.Expired)(s)
			s.worker.Close(order1ID, timer.Outcome{Status: timer.Expired})
		}, timer.Expired},
		"cancelled":        {func(s fixture) { s.worker.Cancel(order1ID) }, timer.Cancelled},
		"terminated":       {func(s fixture) { require.NoError(t, s.on.TerminateWorkflow(t.Context(), order1ID, "", "")) }, timer.Cancelled},
		"given up":         {func(s fixture) { s.worker.Fail(order1ID) }, timer.Failed},
		"failed by itself": {func(s fixture) { s.worker.Close(order1ID, temporal.NewApplicationError("a bug", "")) }, timer.Failed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := shelved(t, asItIs)
			c.before(s)
			require.Equal(t, c.want, s.shown(t).Status)
		})
	}
}

// A timer whose workflow failed by itself has an end of the engine's making. One whose end cannot be
// asked for has none: that is unknown.
func TestTheEndOfAFailedTimer(t *testing.T) {
	t.Parallel()
	s := shelved(t, asItIs)
	s.worker.Close(order1ID, temporal.NewApplicationError("a bug", ""))
	require.Equal(t, "ended by the engine", s.shown(t).LastFailure.Message)

	s = shelved(t, asItIs)
	s.worker.Fail(order1ID)
	for _, err := range []error{serviceerror.NewUnavailable("busy"), errors.New("down")} {
		s.on.Refuse("GetWorkflow", order1ID, err)
		_, failed := s.Get(t.Context(), order1)
		require.Equal(t, wire.Unavailable, wire.CodeOf(failed), "three attempts are not forgotten")
	}
}

// A cancel that is pending shows, and is gone with the timer.
func TestAPendingCancelIsShown(t *testing.T) {
	t.Parallel()
	s := shelved(t, asItIs)
	require.NoError(t, s.on.CancelWorkflow(t.Context(), order1ID, ""))
	require.True(t, s.shown(t).CancelRequested)
	s.worker.Cancel(order1ID)
	require.False(t, s.shown(t).CancelRequested)
}

// An attempt that was accepted shows, and what is awaited of its receiver.
func TestAnAcceptedAttemptIsShown(t *testing.T) {
	t.Parallel()
	s := shelved(t, asItIs)
	s.worker.State(t, order1ID, timer.Delivering)
	until, late := wire.At(time.Now()).Add(time.Hour), int64(7)
	s.worker.Say(t, order1ID, workflows.MemoAcceptance, delivery.Acceptance{Attempt: 2, Until: until, LatenessMS: &late})
	view := s.shown(t)
	require.Equal(t, []any{2, until, delivery.WaitsForAck, int64(7)}, []any{view.Attempts, view.AckUntil, view.WaitsFor, *view.LatenessMS})

	failure := &delivery.Failure{Class: delivery.Nacked, Message: "no"}
	s.worker.Say(t, order1ID, workflows.MemoAcceptance, delivery.Acceptance{Attempt: 2, Until: until, Result: delivery.ResultRetry, Failure: failure})
	view = s.shown(t)
	require.Zero(t, view.AckUntil)
	require.Equal(t, failure, view.LastFailure)
	s.worker.Say(t, order1ID, workflows.MemoAcceptance, "?")
	require.Zero(t, s.shown(t).Attempts, "what cannot be read is not shown")
}

// The attempt of an activity that has reported nothing yet shows what came before it.
func TestAnAttemptWithoutAReport(t *testing.T) {
	t.Parallel()
	const waits, begun = enumspb.PENDING_ACTIVITY_STATE_SCHEDULED, enumspb.PENDING_ACTIVITY_STATE_STARTED
	ended := wire.At(time.Now())
	failed := &delivery.Report{
		Result: delivery.ResultRetry, Attempt: 2, EndedAt: ended, RetryIn: wire.Duration(time.Hour), Failure: &delivery.Failure{Status: 503},
	}
	nacked := &delivery.Acceptance{Attempt: 2, Until: wire.At(time.Now()), Result: delivery.ResultRetry}
	for name, c := range map[string]struct {
		state    enumspb.PendingActivityState
		given    *delivery.Report
		accepted *delivery.Acceptance
		refuse   bool
		want     int
	}{
		"it has begun":              {state: begun, given: failed, want: 3},
		"it waits":                  {state: waits, given: failed, want: 2},
		"the one before was nacked": {state: begun, given: failed, accepted: nacked, want: 3},
		"it waits after a nack":     {state: waits, given: failed, accepted: nacked, want: 2},
		"it is the first":           {state: begun, want: 1},
		"the first waits":           {state: waits, want: 0},
		"its input cannot be read":  {state: begun, given: failed, refuse: true, want: 1},
		"only the memo can be read": {state: waits, given: failed, accepted: nacked, refuse: true, want: 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := shelved(t, asItIs)
			if c.accepted != nil {
				s.worker.Say(t, order1ID, workflows.MemoAcceptance, c.accepted)
			}
			s.worker.Record(order1ID, enumspb.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED, &historypb.HistoryEvent{
				Attributes: &historypb.HistoryEvent_ActivityTaskScheduledEventAttributes{
					ActivityTaskScheduledEventAttributes: &historypb.ActivityTaskScheduledEventAttributes{
						ActivityType: &commonpb.ActivityType{Name: workflows.ActivityDeliver}, Input: enginetest.Encoded(t, timer.Delivery{Spec: s.spec, Prior: c.given}),
					},
				},
			})
			s.worker.Pend(order1ID, &workflowpb.PendingActivityInfo{State: c.state, Attempt: 1})
			if c.refuse {
				s.on.Refuse("GetWorkflowExecutionHistoryReverse", "", errors.New("down"))
			}
			view := s.shown(t)
			require.Equal(t, c.want, view.Attempts)
			if c.state == waits && c.given != nil && !c.refuse {
				require.Equal(t, ended.Add(time.Hour), view.NextAttemptAt, "the ladder says when")
			}
		})
	}
}

// What cannot be read of a timer is said so.
func TestATimerThatCannotBeRead(t *testing.T) {
	t.Parallel()
	s := shelved(t, asItIs)
	s.worker.Say(t, order1ID, workflows.MemoTimer, "?")
	_, err := s.Get(t.Context(), order1)
	require.Equal(t, wire.Internal, wire.CodeOf(err))

	s = shelved(t, asItIs)
	for _, call := range []string{"DescribeWorkflowExecution", "GetWorkflowExecutionHistory"} {
		s.on.Refuse(call, order1ID, errors.New("down"))
		_, err := s.Get(t.Context(), order1)
		require.Equal(t, wire.Unavailable, wire.CodeOf(err), call)
	}
	s.on.Before = nil
	_, _, err = s.Input(t.Context(), order1, "forgotten")
	require.Equal(t, wire.NotFound, wire.CodeOf(err))
	require.Equal(t, wire.Internal, wire.CodeOf(DecodeInput(enginetest.Encoded(t, 1, 2), &timer.Spec{}, nil)))
}
