package holds

import (
	"context"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	failurepb "go.temporal.io/api/failure/v1"
	historypb "go.temporal.io/api/history/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/internal/tuning"
)

// LostActivity reports whether Temporal should have timed an activity out, before a moment,
// at the worker that has it.
func LostActivity(pending *workflowpb.PendingActivityInfo, before time.Time) (lost bool) {
	if pending.GetState() == enumspb.PENDING_ACTIVITY_STATE_SCHEDULED {
		return false
	}
	began, beat := pending.GetLastStartedTime().AsTime(), pending.GetLastStartedTime().AsTime()
	if last := pending.GetLastHeartbeatTime(); last != nil && last.AsTime().After(beat) {
		beat = last.AsTime()
	}
	over := func(since time.Time, timeout *durationpb.Duration) bool {
		return timeout.AsDuration() > 0 && since.Add(timeout.AsDuration()).Before(before)
	}
	options := pending.GetActivityOptions()
	return over(beat, options.GetHeartbeatTimeout()) || over(began, options.GetStartToCloseTimeout())
}

// FreeActivity ends a worker's try of an activity. The next one comes a moment later, however many there
// were: after a timeout Temporal would wait for up to a minute. freed is false if it was too late: the
// try has ended, and another worker may have the next one. The error is [wire.Unavailable].
func (h *Holds) FreeActivity(
	ctx context.Context, run *commonpb.WorkflowExecution, pending *workflowpb.PendingActivityInfo,
) (freed bool, err error) {
	ctx, cancel := kernel.Bounded(ctx)
	defer cancel()
	namespaceID, err := h.id(ctx)
	if err != nil {
		return false, err
	}
	try := Task{workflowID: run.GetWorkflowId(), runID: run.GetRunId(), attempt: int64(pending.GetAttempt())}
	try.scheduled, err = h.scheduledBy(ctx, run, pending.GetActivityId())
	if err != nil || try.scheduled == 0 { // a token without it would name any try
		return false, err
	}
	_, err = h.kernel.Client.WorkflowService().RespondActivityTaskFailed(ctx, &workflowservice.RespondActivityTaskFailedRequest{
		Namespace: h.kernel.Namespace, TaskToken: try.token(namespaceID), Failure: silent(),
	})
	if refused(err) {
		return false, nil
	}
	return err == nil, kernel.Translate(err)
}

// silent is the failure of a try whose worker gives no sign of life.
func silent() *failurepb.Failure {
	return &failurepb.Failure{
		Message: "the worker is silent",
		FailureInfo: &failurepb.Failure_ApplicationFailureInfo{ApplicationFailureInfo: &failurepb.ApplicationFailureInfo{
			Type: "silent", NextRetryDelay: durationpb.New(tuning.LostTryFirst),
		}},
	}
}

// scheduledBy is the id of the event that scheduled an activity; 0 for none.
func (h *Holds) scheduledBy(ctx context.Context, run *commonpb.WorkflowExecution, activityID string) (eventID int64, err error) {
	err = h.kernel.EachEvent(ctx, run.GetWorkflowId(), run.GetRunId(), func(event *historypb.HistoryEvent) {
		scheduled := event.GetActivityTaskScheduledEventAttributes()
		if scheduled != nil && scheduled.GetActivityId() == activityID {
			eventID = event.GetEventId()
		}
	})
	return eventID, err
}
