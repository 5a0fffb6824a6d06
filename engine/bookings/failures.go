package bookings

import (
	"context"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"

	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/actors"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/engine/policies"
	"github.com/wakecall/wakecall/engine/timers"
	"github.com/wakecall/wakecall/internal/errtype"
	"github.com/wakecall/wakecall/workflows"
)

// Failures are the timers that failed for good. They can be tried again.
type Failures struct {
	reader   *timers.Reader
	policies *policies.Policies
	starter  *starter
}

// Redeliver tries a failed timer again, at once, with a fresh ladder and the same webhook
// id. A latest time no longer applies, since the caller wants it delivered. The errors are
// [wire.NotFound], [wire.AlreadyFinished], [wire.Overtaken] if it was booked again
// meanwhile, [wire.PreconditionFailed] for another tag than ifMatch,
// [wire.InvalidRequest] without a receiver, and [wire.Unavailable].
func (f *Failures) Redeliver(ctx context.Context, key wire.Key, ifMatch string) (timer.View, error) {
	return f.Retry(ctx, key, Retrial{IfMatch: ifMatch})
}

// Retrial holds the terms of a retry.
type Retrial struct {
	// IfMatch, when set, is the required [timer.Memo.Tag].
	IfMatch string
	// RunID is the required last run; "" for any.
	RunID string
	// Job is the job that retries it, shown in the timer's memo; "" for none.
	Job string
}

// unfit is the error if the timer does not meet the terms, or nil.
func (r Retrial) unfit(view timer.View) error {
	switch {
	case !view.Memo.MatchesTag(r.IfMatch):
		return timer.Unmet(&view)
	case r.RunID != "" && view.RunID != r.RunID:
		return &wire.Error{Code: wire.Overtaken, State: &view, Message: "The timer has been tried again since."}
	case view.Status != timer.Failed:
		return notFailed(view)
	}
	return nil
}

// Retry is [Failures.Redeliver] on the terms of a retrial.
func (f *Failures) Retry(ctx context.Context, key wire.Key, terms Retrial) (timer.View, error) {
	if err := key.Check().Err(); err != nil {
		return timer.View{}, err
	}
	ctx, cancel := kernel.Bounded(ctx)
	defer cancel()
	failed, err := f.reader.Run(ctx, key, "")
	if err != nil {
		return timer.View{}, err
	}
	if err := terms.unfit(failed); err != nil {
		return timer.View{}, err
	}
	spec, payload, err := f.renew(ctx, failed)
	if err != nil {
		return timer.View{}, err
	}
	run, err := f.starter.start(actors.WithRunBefore(ctx, failed.RunID), redeliveryOptions(spec, terms.Job), spec, payload)
	if errtype.Is[*serviceerror.WorkflowExecutionAlreadyStarted](err) {
		view, err := f.reader.Run(ctx, key, "")
		if err == nil {
			err = notFailed(view)
		}
		return timer.View{}, err
	}
	if err != nil {
		return timer.View{}, kernel.Translate(err)
	}
	if err := f.starter.recheck(ctx, spec, run.GetRunID()); err != nil {
		return timer.View{}, f.finishedOr(ctx, key, err)
	}
	return f.reader.Started(ctx, spec, payload, run.GetRunID()), nil
}

// redeliveryOptions are the options of the run that tries a timer again, for a job or, for "", for a caller.
func redeliveryOptions(spec timer.Spec, job string) client.StartWorkflowOptions {
	options := startOptions(spec)
	if job != "" {
		options.Memo[workflows.MemoJob] = job
	}
	options.TypedSearchAttributes = temporal.NewSearchAttributes(options.TypedSearchAttributes.Copy(),
		workflows.AttrLabels.ValueSet(append([]string{timer.KeywordRedelivery}, spec.Keywords()...)))
	return options
}

// renew returns the input of the run that tries a failed timer again, by its present policy.
func (f *Failures) renew(ctx context.Context, failed timer.View) (spec timer.Spec, payload converter.RawValue, err error) {
	spec, payload, err = f.reader.Input(ctx, failed.Key, failed.RunID)
	if err != nil {
		return spec, payload, err
	}
	policy, err := f.policies.ForBooked(ctx, failed.BusinessType, spec.Callback)
	if err == nil {
		err = policies.RefuseClosed(policy)
	}
	if err != nil {
		return spec, payload, err
	}
	spec.Target = policies.TargetOf(spec.Callback, policy)
	return afresh(spec.BeginRun().TriedAgain(failed.LatenessMS), failed.Stopped), payload, nil
}

// afresh is the spec of a timer that is tried again. Its due time has passed, so it rings at
// once. stopped reports whether its receiver ended its rule. The rule then stays ended,
// however the receiver answers this time.
func afresh(spec timer.Spec, stopped bool) timer.Spec {
	spec.LatestAt, spec.ExpiresAfter, spec.NeverExpires = 0, 0, true
	spec.Behaviour = workflows.BehaviourNow
	spec.Suspended, spec.Note = false, ""
	if spec.Series != nil { // its rule has ended, and this occurrence must ring
		series := *spec.Series
		series.Resumed, series.Stopped = true, series.Stopped || stopped
		spec.Series = &series
	}
	return spec
}

// finishedOr returns the error of a finished timer if the timer has ended, and err otherwise.
func (f *Failures) finishedOr(ctx context.Context, key wire.Key, err error) error {
	if view, got := f.reader.Run(ctx, key, ""); got == nil && view.Status.Finished() {
		return timers.FinishedError(view)
	}
	return err
}

func notFailed(view timer.View) error {
	if view.Status.Finished() {
		return timers.FinishedError(view)
	}
	if view.CancelRequested {
		return timers.CancelPendingError(view)
	}
	return &wire.Error{Code: wire.Overtaken, State: &view, Message: "The timer is not failed."}
}
