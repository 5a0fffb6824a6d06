package kernel

import (
	"strings"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/identity"
	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/workflows"
)

// NextAttempt is when a backoff ends, or since when an attempt waits for a worker.
func NextAttempt(pending *workflowpb.PendingActivityInfo) wire.Instant {
	if next := pending.GetNextAttemptScheduleTime(); next != nil {
		return wire.At(next.AsTime())
	}
	return wire.At(pending.GetScheduledTime().AsTime())
}

// StandbyOf returns the attempt of a pending activity. ok is false if the attempt has begun.
func StandbyOf(pending *workflowpb.PendingActivityInfo) (standby policy.Standby, ok bool) {
	if pending.GetState() != enumspb.PENDING_ACTIVITY_STATE_SCHEDULED {
		return standby, false
	}
	standby.NotBefore = NextAttempt(pending)
	if report, told := LastReport(pending); told {
		standby.Cause = report.Waits
	}
	return standby, true
}

// UnderWay is since when a worker makes an attempt, and which one.
func UnderWay(pending *workflowpb.PendingActivityInfo) (c timer.Circumstances) {
	if started := pending.GetLastStartedTime(); started != nil && !Watches(pending) {
		c.AttemptSince, c.Worker = wire.At(started.AsTime()), identity.Process(pending.GetLastWorkerIdentity())
	}
	return c
}

// Unclaimed is since when no worker has taken an activity; zero if that is not for long.
func Unclaimed(pending *workflowpb.PendingActivityInfo, now time.Time) wire.Instant {
	since := pending.GetScheduledTime().AsTime()
	if pending.GetState() != enumspb.PENDING_ACTIVITY_STATE_SCHEDULED || now.Sub(since) <= tuning.TakenWithin {
		return 0
	}
	return wire.At(since)
}

// Watches reports whether an activity watches over an attempt.
func Watches(pending *workflowpb.PendingActivityInfo) bool {
	return pending.GetActivityType().GetName() == workflows.ActivityWatchStream
}

// WithWorker reports whether a worker has the task of an open run.
func WithWorker(described *workflowservice.DescribeWorkflowExecutionResponse) bool {
	return Running(described.GetWorkflowExecutionInfo()) &&
		described.GetPendingWorkflowTask().GetState() == enumspb.PENDING_WORKFLOW_TASK_STATE_STARTED
}

// ChangeMarked reports whether a change was marked to wait for the run.
func ChangeMarked(described *workflowservice.DescribeWorkflowExecutionResponse) bool {
	mark := workflows.ChangeMark(described.GetWorkflowExecutionInfo().GetExecution().GetRunId())
	for attached := range described.GetWorkflowExtendedInfo().GetRequestIdInfos() {
		if strings.HasPrefix(attached, mark) {
			return true
		}
	}
	return false
}
