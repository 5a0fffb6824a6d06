package workflows

import (
	"go.temporal.io/sdk/workflow"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/timer"
)

// outcomeOf is the outcome of a timer whose last report is final.
func outcomeOf(report delivery.Report) timer.Outcome {
	outcome := timer.Outcome{
		Status: timer.Failed, Attempts: report.Attempt, LatenessMS: report.LatenessMS, LastFailure: report.Failure,
		PolicyVersion: report.PolicyVersion, Link: report.Link,
	}
	switch report.Result {
	case delivery.ResultDelivered:
		outcome.Status, outcome.DeliveredAt = timer.Delivered, report.EndedAt
	case delivery.ResultExpired:
		outcome.Status = timer.Expired
	default:
	}
	return outcome
}

// announcement publishes the end of a delivery: an alert if it ended badly, and the outcome
// if one was requested.
type announcement struct {
	*timerRun
	report  delivery.Report
	outcome timer.Outcome
}

func (a *announcement) send() {
	kind := a.kind()
	if a.report.Alert && kind != timer.EventDelivered {
		startAlert(a.ctx, a.event(kind), a.runID())
	}
	a.sendOutcome(kind)
}

func (a *announcement) kind() timer.EventType {
	switch a.outcome.Status {
	case timer.Delivered:
		return timer.EventDelivered
	case timer.Expired:
		return timer.EventExpired
	default:
		return timer.EventFailed
	}
}

func (a *announcement) sendOutcome(kind timer.EventType) {
	asked, own := a.report.OnFailed, a.spec.OnFailed
	if kind == timer.EventDelivered {
		asked, own = a.report.OnDelivered, a.spec.OnDelivered
	}
	if !asked && own == nil {
		return
	}
	event := a.event(kind)
	event.Outcome, event.Data.DeliveredAt, event.Data.LatenessMS = true, a.outcome.DeliveredAt, a.outcome.LatenessMS
	if own != nil {
		event.Own = &own.Destination
	}
	startAlert(a.ctx, event, outcomeOccasion(a.runID()))
}

func (a *announcement) event(kind timer.EventType) timer.Event {
	return timer.Event{Type: kind, At: a.now(), Data: timer.EventData{
		BusinessType: a.spec.BusinessType, BusinessID: a.spec.BusinessID, DueAt: a.spec.DueAt,
		Attempts: a.report.Attempt, WebhookID: a.spec.WebhookID(), LastFailure: a.report.Failure,
	}}
}

func (a *announcement) runID() string { return workflow.GetInfo(a.ctx).WorkflowExecution.RunID }
