package engine

import (
	"context"

	"go.temporal.io/api/serviceerror"

	"github.com/wakecall/wakecall/core/job"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/errtype"
	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/workflows"
)

// Failures are the timers that failed for good. They are open to be tried again.
type Failures struct{ timers *Timers }

// Redeliver tries a failed timer again, at once, with a fresh ladder and the
// same webhook id. Whoever asks for it wants it called, so a latest time no
// longer holds. Its errors are [wire.NotFound], [wire.AlreadyFinished],
// [wire.Overtaken] when it was booked again meanwhile, [wire.InvalidRequest] where
// nobody would be called, and [wire.Unavailable].
func (f *Failures) Redeliver(ctx context.Context, key wire.Key) (timer.View, error) {
	return f.redeliver(ctx, key, retrial{})
}

// RedeliverRun is [Failures.Redeliver] for a timer whose last run is the given
// one: a timer that was tried again since, and failed again, is
// [wire.Overtaken].
func (f *Failures) RedeliverRun(ctx context.Context, key wire.Key, runID string) error {
	_, err := f.redeliver(ctx, key, retrial{runID: runID})
	return err
}

// retrial says more of how a timer is tried again.
type retrial struct {
	// runID is the run that must be its last one; "" for any.
	runID string
	// job, which the timer shows in its memo, is what tries it again; "" for nothing.
	job string
}

func (f *Failures) redeliver(ctx context.Context, key wire.Key, again retrial) (timer.View, error) {
	if err := key.Check().Err(); err != nil {
		return timer.View{}, err
	}
	ctx, cancel := bounded(ctx)
	defer cancel()
	view, err := f.timers.get(ctx, key)
	if err != nil {
		return timer.View{}, err
	}
	if again.runID != "" && view.RunID != again.runID {
		return timer.View{}, &wire.Error{Code: wire.Overtaken, State: &view, Message: "The timer was tried again since."}
	}
	if view.Status != timer.Failed {
		return timer.View{}, notFailed(view)
	}
	spec, payload, err := f.timers.input(ctx, key, view.RunID)
	if err != nil {
		return timer.View{}, err
	}
	policy, err := f.timers.policyOf(ctx, key.BusinessType, spec.Callback)
	if err == nil {
		err = refuseClosed(policy)
	}
	if err != nil {
		return timer.View{}, err
	}
	spec.Target = targetOf(spec.Callback, policy)
	spec = afresh(spec, view.Stopped)
	options := startOptions(spec)
	if again.job != "" {
		options.Memo[workflows.MemoJob] = again.job
	}
	run, err := f.timers.start(after(ctx, view.RunID), options, spec, payload)
	if errtype.Is[*serviceerror.WorkflowExecutionAlreadyStarted](err) {
		if view, err = f.timers.get(ctx, key); err == nil {
			err = notFailed(view)
		}
		return timer.View{}, err
	}
	if err != nil {
		return timer.View{}, translate(err)
	}
	if err := f.timers.recheck(ctx, spec, run.GetRunID()); err != nil {
		return timer.View{}, f.ended(ctx, key, err)
	}
	return f.timers.booked(ctx, spec, run.GetRunID()), nil
}

// afresh is what a timer begins with that is tried again: its due time has passed, so
// it rings at once. stopped is whether its receiver ended its rule, which is over then,
// however the receiver answers this time.
func afresh(spec timer.Spec, stopped bool) timer.Spec {
	spec.LatestAt, spec.ExpiresAfter, spec.NeverExpires = 0, 0, true
	spec.Behaviour = workflows.BehaviourNow
	spec.Standing = nil
	spec.Suspended, spec.Note = false, ""
	spec.Round++
	if spec.Series != nil { // its rule has come to its end; this occurrence shall ring
		series := *spec.Series
		series.Resumed, series.Stopped = true, series.Stopped || stopped
		spec.Series = &series
	}
	return spec
}

// ended answers with the timer where that has ended, and else with the error.
func (f *Failures) ended(ctx context.Context, key wire.Key, err error) error {
	if view, got := f.timers.get(ctx, key); got == nil && view.Status.Finished() {
		return finished(view)
	}
	return err
}

func notFailed(view timer.View) error {
	if view.Status.Finished() {
		return finished(view)
	}
	if view.CancelRequested {
		return cancelPending(view)
	}
	return &wire.Error{Code: wire.Overtaken, State: &view, Message: "The timer is not failed."}
}

func failedOnly(filter job.FailedFilter) Filter {
	return Filter{
		BusinessType: filter.BusinessType, Status: timer.Failed, EndedFrom: filter.EndedFrom, EndedTo: filter.EndedTo,
	}
}

// CountFailed counts the failed runs that a filter selects. Its error is
// [wire.Unavailable].
func (f *Failures) CountFailed(ctx context.Context, filter job.FailedFilter) (int, error) {
	return f.timers.count(ctx, queryOf(failedOnly(filter)))
}

// ListFailed reads one page of the failed runs that a filter selects, the
// latest first, and the token of the next page. Its error is [wire.Unavailable].
func (f *Failures) ListFailed(ctx context.Context, filter job.FailedFilter, token []byte) ([]timer.View, []byte, error) {
	page, err := f.timers.List(ctx, PageRequest{Filter: failedOnly(filter), Size: tuning.FailedPage, Token: token})
	return page.Timers, page.Next, err
}
