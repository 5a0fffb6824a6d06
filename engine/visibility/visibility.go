package visibility

import (
	"time"

	enumspb "go.temporal.io/api/enums/v1"

	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/query"
	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/workflows"
)

// The attributes that a timer has besides those of every run.
var (
	BusinessType = query.Keyword(workflows.AttrBusinessType.GetName())
	BusinessID   = query.Keyword(workflows.AttrBusinessID.GetName())
	State        = query.Keyword(workflows.AttrState.GetName())
	WebhookID    = query.Keyword(workflows.AttrWebhookID.GetName())
	DueAt        = query.Time(workflows.AttrDueAt.GetName())
	// A condition on a list of keywords holds if one of them meets it.
	Labels = query.Keyword(workflows.AttrLabels.GetName())
)

// The statuses that Temporal gives a run.
const (
	Running    = enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING
	Completed  = enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED
	Failed     = enumspb.WORKFLOW_EXECUTION_STATUS_FAILED
	TimedOut   = enumspb.WORKFLOW_EXECUTION_STATUS_TIMED_OUT
	Canceled   = enumspb.WORKFLOW_EXECUTION_STATUS_CANCELED
	Terminated = enumspb.WORKFLOW_EXECUTION_STATUS_TERMINATED
	Continued  = enumspb.WORKFLOW_EXECUTION_STATUS_CONTINUED_AS_NEW
	// Suspended is what Temporal's own command to pause a run leaves.
	Suspended = enumspb.WORKFLOW_EXECUTION_STATUS_PAUSED
)

// NotRunning are the statuses of the latest runs but Running.
var NotRunning = []enumspb.WorkflowExecutionStatus{Completed, Failed, TimedOut, Canceled, Terminated, Suspended}

// Timers selects the runs of all timers.
func Timers() query.Query { return query.WorkflowType.Is(workflows.TypeTimer) }

// Redeliveries selects a run for each failed timer that was tried again.
func Redeliveries() query.Query { return query.All(Timers(), Labels.Is(timer.KeywordRedelivery)) }

// OpenTimers selects the open timers of a business type.
func OpenTimers(businessType string) query.Query {
	return query.All(Timers(), BusinessType.Is(businessType), query.Status(Running))
}

// ContinuedTimers selects the runs of timers that went on in another run since then, of a
// business type or, for "", of all. Lists lag behind: for a moment they may show neither run
// as open.
func ContinuedTimers(businessType string, since wire.Instant) query.Query {
	ofType := query.Query{}
	if businessType != "" {
		ofType = BusinessType.Is(businessType)
	}
	return query.All(Timers(), ofType, query.Status(Continued), query.CloseTime.From(since.Add(-tuning.VisibilityLag)))
}

// Overdue selects the open timers in one state that should have gone on before then.
func Overdue(state query.Query, before wire.Instant) query.Query {
	return query.All(Timers(), query.Status(Running), query.ExecutionTime.Before(before), state)
}

// Untried selects the timers that wait for their first attempt.
func Untried() query.Query { return State.Missing() }

// Retrying selects the timers that wait for a retry.
func Retrying() query.Query { return State.Is(string(timer.Delivering)) }

// Policies selects the last run of each policy's entity.
func Policies() query.Query {
	return query.All(query.WorkflowType.Is(workflows.TypePolicy), query.NotStatus(Continued))
}

// OpenPolicy selects the entity of a policy while it runs.
func OpenPolicy(businessType string) query.Query {
	return query.All(query.WorkflowID.Is(workflows.PolicyID(businessType)), query.Status(Running))
}

// Dispatches selects the last run of each dispatch of a business type, or, for "", of all types.
func Dispatches(businessType string) query.Query {
	ofType := query.Query{}
	if businessType != "" {
		ofType = query.WorkflowID.Begins(workflows.DispatchTypePrefix(businessType))
	}
	return query.All(query.WorkflowType.Is(workflows.TypeDispatch), query.NotStatus(Continued), ofType)
}

// OpenDispatches selects the dispatches of a business type that have not ended.
func OpenDispatches(businessType string) query.Query {
	return query.All(Dispatches(businessType), query.Status(Running))
}

// EarliestDue is before the first timer ever booked.
var EarliestDue = wire.At(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))

// LatestDue is later than any timer can be due.
var LatestDue = wire.At(time.Date(9000, 1, 1, 0, 0, 0, 0, time.UTC))
