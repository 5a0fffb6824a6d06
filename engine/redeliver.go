package engine

import (
	"context"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/converter"

	"github.com/wakecall/wakecall/timer"
	"github.com/wakecall/wakecall/workflows"
)

// Redeliver tries a failed timer again, at once, with a fresh ladder and the
// same webhook id. Whoever asks for it wants it called, so a latest time no
// longer holds. Its errors are [timer.NotFound], [timer.AlreadyFinished],
// [timer.Overtaken] when it was booked again meanwhile, and [timer.Unavailable].
func (e *Engine) Redeliver(ctx context.Context, key timer.Key) (timer.View, error) {
	return e.redeliver(ctx, key, "")
}

// RedeliverRun is [Engine.Redeliver] for a timer whose last run is the given
// one: a timer that was tried again since, and failed again, is
// [timer.Overtaken].
func (e *Engine) RedeliverRun(ctx context.Context, key timer.Key, runID string) error {
	_, err := e.redeliver(ctx, key, runID)
	return err
}

func (e *Engine) redeliver(ctx context.Context, key timer.Key, runID string) (timer.View, error) {
	if err := key.Check().Err(); err != nil {
		return timer.View{}, err
	}
	ctx, cancel := bounded(ctx)
	defer cancel()
	view, err := e.get(ctx, key)
	if err != nil {
		return timer.View{}, err
	}
	if runID != "" && view.RunID != runID {
		return timer.View{}, &timer.Error{Code: timer.Overtaken, Timer: &view, Message: "The timer was tried again since."}
	}
	if view.Status != timer.Failed {
		return timer.View{}, notFailed(view)
	}
	policy, err := e.policies.get(ctx, key.BusinessType)
	governed := timer.CodeOf(err) != timer.NotFound
	if err == nil {
		err = refuseClosed(policy)
	}
	if err != nil && governed {
		return timer.View{}, err
	}
	spec, payload, err := e.input(ctx, key, view.RunID)
	if err != nil {
		return timer.View{}, err
	}
	spec.Target = targetOf(spec.Callback, policy)
	// An already passed due time rings at once; far enough ahead that no
	// policy's expiry can hold.
	spec.LatestAt, spec.ExpiresAfter = timer.At(time.Now()).Add(timer.MaxAhead), 0
	spec.Behaviour = workflows.BehaviourNow
	if spec.Series != nil { // its rule has come to its end; this occurrence shall ring
		series := *spec.Series
		series.Resumed = true
		spec.Series = &series
	}
	run, err := e.start(ctx, startOptions(spec), spec, payload)
	if is[*serviceerror.WorkflowExecutionAlreadyStarted](err) {
		if view, err = e.get(ctx, key); err == nil {
			err = notFailed(view)
		}
		return timer.View{}, err
	}
	if err != nil {
		return timer.View{}, translate(err)
	}
	if governed { // a timer without a policy waits for one, and is in the way of none
		err = e.uphold(ctx, spec, run.GetRunID())
	}
	if err != nil {
		return timer.View{}, e.ended(ctx, key, err)
	}
	return e.booked(ctx, spec, run.GetRunID()), nil
}

// ended answers with the timer where that has ended, and else with the error.
func (e *Engine) ended(ctx context.Context, key timer.Key, err error) error {
	if view, got := e.get(ctx, key); got == nil && view.Status.Finished() {
		return finished(view)
	}
	return err
}

func notFailed(view timer.View) error {
	if view.Status.Finished() {
		return finished(view)
	}
	return &timer.Error{Code: timer.Overtaken, Timer: &view, Message: "The timer is not failed."}
}

// input reads what a run began with, from the first event of its history.
func (e *Engine) input(ctx context.Context, key timer.Key, runID string) (spec timer.Spec, payload converter.RawValue, err error) {
	history, err := e.Client.WorkflowService().GetWorkflowExecutionHistory(ctx, &workflowservice.GetWorkflowExecutionHistoryRequest{
		Namespace: e.Namespace, Execution: &commonpb.WorkflowExecution{WorkflowId: key.String(), RunId: runID}, MaximumPageSize: 1,
	})
	if err != nil {
		return spec, payload, translate(err)
	}
	events := history.GetHistory().GetEvents()
	if len(events) == 0 {
		return spec, payload, &timer.Error{Code: timer.Internal, Message: "The timer's history is empty."}
	}
	return spec, payload, decodeInput(events[0].GetWorkflowExecutionStartedEventAttributes().GetInput(), &spec, &payload)
}

func decodeInput(input *commonpb.Payloads, spec *timer.Spec, payload *converter.RawValue) error {
	if err := payloads.FromPayloads(input, spec, payload); err != nil {
		return &timer.Error{Code: timer.Internal, Message: "The timer's input cannot be read.", Cause: err}
	}
	return nil
}
