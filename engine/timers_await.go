package engine

import (
	"context"
	"time"

	enumspb "go.temporal.io/api/enums/v1"

	"github.com/wakecall/wakecall/timer"
)

// Effect is what became of a change by the time the caller's wait was over.
type Effect string

// The closed list of effects.
const (
	// Created: there was no timer, and now there is.
	Created Effect = "created"
	// Done: the change took effect.
	Done Effect = "done"
	// Pending: the change is durable and will be applied before any callback,
	// but no worker has applied it yet.
	Pending Effect = "pending"
)

const (
	// DefaultWait is how long a caller waits for an effect.
	DefaultWait = 2 * time.Second
	// MaxWait bounds what a caller may ask for.
	MaxWait = 30 * time.Second
)

// ending is how one run of a timer closed.
type ending struct {
	how  outcome
	next string // the run that it continued as
}

type outcome string

const (
	endedOpen      outcome = "" // it did not close in time
	endedContinued outcome = "continued"
	endedCancelled outcome = "cancelled"
	endedFinished  outcome = "finished" // delivered, failed or expired
)

// awaitEnd waits for the run to close. Every change and every cancel ends the
// run it reaches, so the way a run closed tells what became of it.
func (t *Timers) awaitEnd(ctx context.Context, key timer.Key, runID string) (ending, error) {
	history := t.client.GetWorkflowHistory(ctx, key.String(), runID, true,
		enumspb.HISTORY_EVENT_FILTER_TYPE_CLOSE_EVENT)
	event, err := history.Next()
	if err != nil {
		if expired(ctx, err) {
			return ending{}, nil
		}
		return ending{}, translate(err)
	}
	switch event.GetEventType() {
	case enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_CONTINUED_AS_NEW:
		next := event.GetWorkflowExecutionContinuedAsNewEventAttributes().GetNewExecutionRunId()
		return ending{how: endedContinued, next: next}, nil
	case enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_CANCELED, enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_TERMINATED:
		return ending{how: endedCancelled}, nil
	default:
		return ending{how: endedFinished}, nil
	}
}
