package holds

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	activitypb "go.temporal.io/api/activity/v1"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/wakecall/wakecall/engine/enginetest"
	"github.com/wakecall/wakecall/engine/kernel"
)

// A history tells who has the task of a run, since when, and for how long.
func TestHeldTasks(t *testing.T) {
	t.Parallel()
	began := time.Date(2026, 11, 25, 8, 0, 0, 0, time.UTC)
	scheduled := func(id int64) *historypb.HistoryEvent {
		return &historypb.HistoryEvent{
			EventId: id, Version: 7, EventType: enumspb.EVENT_TYPE_WORKFLOW_TASK_SCHEDULED,
			Attributes: &historypb.HistoryEvent_WorkflowTaskScheduledEventAttributes{
				WorkflowTaskScheduledEventAttributes: &historypb.WorkflowTaskScheduledEventAttributes{Attempt: 1, StartToCloseTimeout: durationpb.New(time.Minute)},
			},
		}
	}
	started := &historypb.HistoryEvent{
		EventTime: timestamppb.New(began), EventType: enumspb.EVENT_TYPE_WORKFLOW_TASK_STARTED,
		Attributes: &historypb.HistoryEvent_WorkflowTaskStartedEventAttributes{
			WorkflowTaskStartedEventAttributes: &historypb.WorkflowTaskStartedEventAttributes{Identity: "dead"},
		},
	}
	ended := func(how enumspb.EventType) *historypb.HistoryEvent { return &historypb.HistoryEvent{EventType: how} }
	for name, c := range map[string]struct {
		history   []*historypb.HistoryEvent
		held      bool
		scheduled int64
	}{
		"waits":               {[]*historypb.HistoryEvent{scheduled(2)}, false, 2},
		"held":                {[]*historypb.HistoryEvent{scheduled(2), started}, true, 2},
		"completed":           {[]*historypb.HistoryEvent{scheduled(2), started, ended(enumspb.EVENT_TYPE_WORKFLOW_TASK_COMPLETED)}, false, 2},
		"freed, and waits":    {[]*historypb.HistoryEvent{scheduled(2), started, ended(enumspb.EVENT_TYPE_WORKFLOW_TASK_FAILED), scheduled(5)}, false, 5},
		"freed, and held":     {[]*historypb.HistoryEvent{scheduled(2), started, ended(enumspb.EVENT_TYPE_WORKFLOW_TASK_FAILED), scheduled(5), started}, true, 5},
		"timed out":           {[]*historypb.HistoryEvent{scheduled(2), started, ended(enumspb.EVENT_TYPE_WORKFLOW_TASK_TIMED_OUT)}, false, 2},
		"signalled, and held": {[]*historypb.HistoryEvent{scheduled(2), ended(enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED), started}, true, 2},
	} {
		on := &enginetest.Temporal{}
		on.Put(t, &workflowservice.DescribeWorkflowExecutionResponse{
			WorkflowExecutionInfo: &workflowpb.WorkflowExecutionInfo{Execution: &commonpb.WorkflowExecution{WorkflowId: "order/1", RunId: "run"}},
		}, c.history...)
		holds := &Holds{kernel: &kernel.Kernel{Client: on}}
		task, held, err := holds.Find(context.Background(), "order/1", "run")
		require.NoError(t, err, name)
		require.Equal(t, c.held, held, name)
		require.Equal(t, []int64{c.scheduled, 1, 7}, []int64{task.scheduled, task.attempt, task.version}, name)
		if held {
			require.Equal(t, "dead", task.holder, name)
			require.True(t, task.TimedOut(began.Add(time.Minute+1)), name)
			require.False(t, task.TimedOut(began.Add(time.Minute)), name)
		}
	}
}

// An activity is lost when Temporal should have taken it back, and not before.
func TestLostActivities(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 25, 8, 0, 0, 0, time.UTC)
	const waits, runs = enumspb.PENDING_ACTIVITY_STATE_SCHEDULED, enumspb.PENDING_ACTIVITY_STATE_STARTED
	for name, c := range map[string]struct {
		state       enumspb.PendingActivityState
		began, beat time.Duration // ago
		lost        bool
	}{
		"waits":                               {waits, time.Hour, time.Hour, false},
		"silent":                              {runs, 26 * time.Second, 26 * time.Second, true},
		"silent, and called off":              {enumspb.PENDING_ACTIVITY_STATE_CANCEL_REQUESTED, 26 * time.Second, 26 * time.Second, true},
		"silent for no longer than it may be": {runs, time.Minute, 25 * time.Second, false},
		"alive for longer than it may be":     {runs, 11 * time.Minute, time.Second, true},
	} {
		require.Equal(t, c.lost, LostActivity(&workflowpb.PendingActivityInfo{
			State: c.state, LastStartedTime: timestamppb.New(now.Add(-c.began)), LastHeartbeatTime: timestamppb.New(now.Add(-c.beat)),
			ActivityOptions: &activitypb.ActivityOptions{
				HeartbeatTimeout: durationpb.New(25 * time.Second), StartToCloseTimeout: durationpb.New(10 * time.Minute),
			},
		}, now), name)
	}
	require.False(t, LostActivity(&workflowpb.PendingActivityInfo{State: runs, LastStartedTime: timestamppb.New(now.Add(-time.Hour))}, now), "its timeouts are not known")
}
