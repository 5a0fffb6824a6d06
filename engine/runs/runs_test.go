package runs

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/temporal"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/enginetest"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/engine/visibility"
	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/workflows"
)

var order = wire.Key{BusinessType: "order", BusinessID: "1"}

// described is a run in a status.
func described(status enumspb.WorkflowExecutionStatus) *workflowservice.DescribeWorkflowExecutionResponse {
	return &workflowservice.DescribeWorkflowExecutionResponse{
		WorkflowExecutionInfo: &workflowpb.WorkflowExecutionInfo{
			Execution: &commonpb.WorkflowExecution{WorkflowId: order.String(), RunId: "run"}, Status: status,
		},
		WorkflowExtendedInfo: &workflowpb.WorkflowExecutionExtendedInfo{},
	}
}

// runsOf are runs of which one is known.
func runsOf(t *testing.T, run *workflowservice.DescribeWorkflowExecutionResponse) *Runs {
	on := &enginetest.Temporal{}
	if run != nil {
		on.Put(t, run)
	}
	return New(kernel.New(on, "default", ""))
}

func TestARunIsWanted(t *testing.T) {
	t.Parallel()
	cancelled, changed, foreign := described(visibility.Running), described(visibility.Running), described(visibility.Running)
	cancelled.WorkflowExtendedInfo.CancelRequested = true
	mark := func(run string) map[string]*workflowpb.RequestIdInfo {
		return map[string]*workflowpb.RequestIdInfo{workflows.ChangeMark(run) + "change": {}}
	}
	changed.WorkflowExtendedInfo.RequestIdInfos, foreign.WorkflowExtendedInfo.RequestIdInfos = mark("run"), mark("before")
	hold := timer.Hold{RunID: "run", Attempt: 1, StartedAt: time.Unix(1, 0)}
	held := func(attempt int32, started time.Time) *workflowservice.DescribeWorkflowExecutionResponse {
		run := described(visibility.Running)
		run.PendingWorkflowTask = &workflowpb.PendingWorkflowTaskInfo{
			State: enumspb.PENDING_WORKFLOW_TASK_STATE_STARTED, Attempt: attempt, StartedTime: timestamppb.New(started),
		}
		return run
	}
	of := timer.Hold{RunID: "run"} // a task of which nothing is known
	for name, c := range map[string]struct {
		run  *workflowservice.DescribeWorkflowExecutionResponse
		hold timer.Hold
		want delivery.Result
	}{
		"open":                             {described(visibility.Running), of, ""},
		"a change of the run before it":    {foreign, of, ""},
		"asked to cancel":                  {cancelled, of, delivery.ResultInterrupted},
		"a change waits":                   {changed, of, delivery.ResultInterrupted},
		"it has given way to the next run": {described(visibility.Continued), of, delivery.ResultInterrupted},
		"terminated":                       {described(visibility.Terminated), of, delivery.ResultInterrupted},
		"deleted":                          {nil, of, delivery.ResultInterrupted},
		"held":                             {held(1, hold.StartedAt), hold, ""},
		"freed, and waits":                 {held(1, time.Unix(0, 0)), hold, delivery.ResultWorkerStopping},
		"freed, and with another worker":   {held(1, hold.StartedAt.Add(time.Second)), hold, delivery.ResultWorkerStopping},
		"timed out":                        {held(2, hold.StartedAt), hold, delivery.ResultWorkerStopping},
		"ended by another worker":          {described(visibility.Running), hold, delivery.ResultWorkerStopping},
	} {
		why, err := runsOf(t, c.run).Revoked(t.Context(), order, c.hold)
		require.NoError(t, err, name)
		require.Equal(t, c.want, why, name)
	}
	_, err := New(kernel.New(&enginetest.Temporal{Err: errors.New("down")}, "default", "")).Revoked(t.Context(), order, of)
	require.Equal(t, wire.Unavailable, wire.CodeOf(err))
}

// busy is a Temporal whose run has a task until it is free.
type busy struct {
	enginetest.Temporal
	free time.Time
}

func (b *busy) DescribeWorkflowExecution(context.Context, string, string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
	run := described(visibility.Running)
	if time.Now().Before(b.free) {
		run.PendingWorkflowTask = &workflowpb.PendingWorkflowTaskInfo{}
	}
	return run, nil
}

// What no worker has taken yet may call the attempt off, so it is waited for.
func TestTheStateOfARunWaitsForItsTask(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &busy{free: time.Now().Add(time.Hour)}
		runs, began := New(kernel.New(f, "default", "")), time.Now()
		_, err := runs.AwaitState(t.Context(), order, "run")
		require.ErrorIs(t, err, errTaskPending)
		require.Equal(t, tuning.TaskWait, time.Since(began))

		now, err := runs.State(t.Context(), order, "run")
		require.NoError(t, err)
		require.True(t, now.Wanted, "the workflow that asks has the task itself")

		began = time.Now()
		f.free = began.Add(time.Second)
		state, err := runs.AwaitState(t.Context(), order, "run")
		require.NoError(t, err)
		require.True(t, state.Wanted)
		require.InDelta(t, time.Second, time.Since(began), float64(tuning.TaskPoll))
	})
}

func TestTheStateOfAnAttempt(t *testing.T) {
	t.Parallel()
	run := described(visibility.Running)
	run.PendingActivities = []*workflowpb.PendingActivityInfo{{
		State: enumspb.PENDING_ACTIVITY_STATE_CANCEL_REQUESTED, Attempt: 4, ActivityType: &commonpb.ActivityType{Name: workflows.ActivityDeliver},
		LastFailure: enginetest.Failure(enginetest.Encoded(t, delivery.Report{Result: delivery.ResultRetry, Attempt: 3})),
	}}
	state, err := runsOf(t, run).State(t.Context(), order, "run")
	require.NoError(t, err)
	require.False(t, state.Wanted, "it is called off")
	require.Equal(t, 3, state.Last.Attempt)
	require.Equal(t, 4, state.Try)
}

func TestTheLastHeartbeat(t *testing.T) {
	t.Parallel()
	reported := &workflowpb.PendingActivityInfo{HeartbeatDetails: enginetest.Encoded(t, map[string]int64{"done": 1 << 60})}
	for name, c := range map[string]struct {
		pending []*workflowpb.PendingActivityInfo
		want    string
	}{
		"reported":         {[]*workflowpb.PendingActivityInfo{reported}, `{"done":1152921504606846976}`},
		"reported nothing": {[]*workflowpb.PendingActivityInfo{{}}, "null"},
		"no activity":      {nil, "null"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run := described(visibility.Running)
			run.PendingActivities = c.pending
			last, err := runsOf(t, run).LastHeartbeat(t.Context(), order.String(), "run")
			require.NoError(t, err)
			require.Equal(t, c.want, string(last))
		})
	}
}

func TestWhatTheHistoryOfARunTells(t *testing.T) {
	t.Parallel()
	started := func(worker string) *historypb.HistoryEvent {
		return &historypb.HistoryEvent{EventType: enumspb.EVENT_TYPE_WORKFLOW_TASK_STARTED,
			Attributes: &historypb.HistoryEvent_WorkflowTaskStartedEventAttributes{
				WorkflowTaskStartedEventAttributes: &historypb.WorkflowTaskStartedEventAttributes{Identity: worker},
			}}
	}
	timedOut := &historypb.HistoryEvent{EventType: enumspb.EVENT_TYPE_WORKFLOW_TASK_TIMED_OUT}
	cancelled := &historypb.HistoryEvent{EventType: enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_CANCEL_REQUESTED,
		Attributes: &historypb.HistoryEvent_WorkflowExecutionCancelRequestedEventAttributes{
			WorkflowExecutionCancelRequestedEventAttributes: &historypb.WorkflowExecutionCancelRequestedEventAttributes{Cause: "by hand"},
		}}
	for name, c := range map[string]struct {
		history       []*historypb.HistoryEvent
		holder, cause string
	}{
		"nothing":                   {},
		"the first worker has it":   {[]*historypb.HistoryEvent{started("a")}, "", ""},
		"another had it before":     {[]*historypb.HistoryEvent{started("a"), timedOut, started("b")}, "a", ""},
		"asked to cancel meanwhile": {[]*historypb.HistoryEvent{started("a"), timedOut, cancelled, started("b")}, "a", "by hand"},
	} {
		on := &enginetest.Temporal{}
		on.Put(t, described(visibility.Running), c.history...)
		runs := New(kernel.New(on, "default", ""))
		holder, err := runs.Holder(t.Context(), order, "run")
		require.NoError(t, err, name)
		require.Equal(t, c.holder, holder, name)
		cause, err := runs.Cause(t.Context(), order, "run")
		require.NoError(t, err, name)
		require.Equal(t, c.cause, cause, name)
	}
	broken := New(kernel.New(&enginetest.Temporal{Err: errors.New("down")}, "default", ""))
	_, err := broken.Cause(t.Context(), order, "run")
	require.Equal(t, wire.Unavailable, wire.CodeOf(err))
}

// The progress of an attempt is stored, unless another one has its place. One that is to stop has it
// stored as well.
func TestRecord(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer error
		code   wire.Code
	}{
		"it is taken":              {nil, ""},
		"it is to stop":            {temporal.NewCanceledError(), ""},
		"another has its place":    {serviceerror.NewNotFound("activity not found"), wire.NotFound},
		"Temporal does not answer": {context.DeadlineExceeded, wire.Unavailable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			on := &enginetest.Temporal{Err: c.answer}
			err := New(kernel.New(on, "default", "")).Record(t.Context(), []byte("token"), 7)
			require.Len(t, on.Calls("RecordActivityHeartbeat"), 1)
			require.Equal(t, c.code == "", err == nil)
			if err != nil {
				require.Equal(t, c.code, wire.CodeOf(err))
			}
		})
	}
}
