package systems

import (
	"io"
	"log/slog"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
)

// Call is the input of every loop.
type Call struct {
	ID string
	// Due is sent to the receiver.
	Due time.Time
}

// The registered names of the loops and their activity.
const (
	sleeping  = "sleeping"
	calling   = "calling"
	local     = "local"
	scheduled = "scheduled"
	ringing   = "ring"
)

var quiet = slog.New(slog.NewTextHandler(io.Discard, nil))

// sleepThenActivity is the timer of a first tutorial.
func sleepThenActivity(Timer) (client.StartWorkflowOptions, any) {
	return client.StartWorkflowOptions{}, sleeping
}

// delayThenActivity lets the server wait.
func delayThenActivity(t Timer) (client.StartWorkflowOptions, any) {
	return client.StartWorkflowOptions{StartDelay: max(0, time.Until(t.Due))}, calling
}

// delayThenLocal calls within the first workflow task: the least cost of one workflow for
// each timer.
func delayThenLocal(t Timer) (client.StartWorkflowOptions, any) {
	return client.StartWorkflowOptions{StartDelay: max(0, time.Until(t.Due))}, local
}

func sleepingLoop(ctx workflow.Context, call Call) error {
	if err := workflow.Sleep(ctx, call.Due.Sub(workflow.Now(ctx))); err != nil {
		return err
	}
	return callingLoop(ctx, call)
}

func callingLoop(ctx workflow.Context, call Call) error {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{StartToCloseTimeout: callTimeout})
	return workflow.ExecuteActivity(ctx, ringing, call).Get(ctx, nil)
}

func localLoop(ctx workflow.Context, call Call) error {
	ctx = workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{StartToCloseTimeout: callTimeout})
	return workflow.ExecuteLocalActivity(ctx, ringing, call).Get(ctx, nil)
}

var nominal = temporal.NewSearchAttributeKeyTime("TemporalScheduledStartTime")

// scheduledLoop is the workflow that a schedule starts.
func scheduledLoop(ctx workflow.Context, id string) error {
	due, _ := workflow.GetTypedSearchAttributes(ctx).GetTime(nominal)
	return localLoop(ctx, Call{ID: id, Due: due})
}
