package engine

import (
	enumspb "go.temporal.io/api/enums/v1"

	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/query"
	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/workflows"
)

// The attributes that a timer has besides those of every run.
var (
	attrBusinessType = query.Keyword(workflows.AttrBusinessType.GetName())
	attrBusinessID   = query.Keyword(workflows.AttrBusinessID.GetName())
	attrState        = query.Keyword(workflows.AttrState.GetName())
	attrWebhookID    = query.Keyword(workflows.AttrWebhookID.GetName())
	attrDueAt        = query.Time(workflows.AttrDueAt.GetName())
	// A condition on a list of keywords holds if one of them meets it.
	attrLabels = query.Keyword(workflows.AttrLabels.GetName())
)

const (
	statusRunning    = enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING
	statusCompleted  = enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED
	statusFailed     = enumspb.WORKFLOW_EXECUTION_STATUS_FAILED
	statusTimedOut   = enumspb.WORKFLOW_EXECUTION_STATUS_TIMED_OUT
	statusCanceled   = enumspb.WORKFLOW_EXECUTION_STATUS_CANCELED
	statusTerminated = enumspb.WORKFLOW_EXECUTION_STATUS_TERMINATED
	statusContinued  = enumspb.WORKFLOW_EXECUTION_STATUS_CONTINUED_AS_NEW
)

// ofTimers selects the runs of all timers.
func ofTimers() query.Query { return query.WorkflowType.Is(workflows.TypeTimer) }

// openOf selects the open timers of a business type.
func openOf(businessType string) query.Query {
	return query.All(ofTimers(), attrBusinessType.Is(businessType), query.Status(statusRunning))
}

// movedOf selects the runs of a business type's timers that went on in another run since then.
// Lists lag behind: for a moment they may show neither of the two as open.
func movedOf(businessType string, since wire.Instant) query.Query {
	ofType := query.Query{}
	if businessType != "" {
		ofType = attrBusinessType.Is(businessType)
	}
	return query.All(ofTimers(), ofType, query.Status(statusContinued), query.CloseTime.From(since.Add(-tuning.VisibilityLag)))
}

// overdueIn selects the open timers in one state that should have gone on before.
func overdueIn(state query.Query, before wire.Instant) query.Query {
	return query.All(ofTimers(), query.Status(statusRunning), query.ExecutionTime.Before(before), state)
}

// The states of timers that wait for their first attempt, and for a retry.
func untried() query.Query  { return attrState.Missing() }
func retrying() query.Query { return attrState.Is(string(timer.Delivering)) }

// entities selects the entities of policies, of each the last run.
func entities() query.Query {
	return query.All(query.WorkflowType.Is(workflows.TypePolicy), query.NotStatus(statusContinued))
}

// openEntity selects the entity of a policy while it runs.
func openEntity(businessType string) query.Query {
	return query.All(query.WorkflowID.Is(workflows.PolicyID(businessType)), query.Status(statusRunning))
}
