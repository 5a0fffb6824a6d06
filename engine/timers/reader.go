package timers

import (
	"context"
	"errors"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/engine/policies"
	"github.com/wakecall/wakecall/engine/waits"
	"github.com/wakecall/wakecall/internal/errtype"
	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/workflows"
)

// Reader reads timers. It needs no worker.
type Reader struct {
	kernel   *kernel.Kernel
	policies *policies.Policies
	waits    *waits.Waits
	// taken is told of each open timer that is read while a worker has its task; nil for none.
	taken func(view timer.View, since time.Time)
}

// NewReader returns a Reader.
func NewReader(k *kernel.Kernel, policies *policies.Policies, waits *waits.Waits) *Reader {
	return &Reader{kernel: k, policies: policies, waits: waits}
}

// OnTaken has taken called with each open timer that is read by itself while a worker has its workflow
// task, and with the time when the worker got it. It must precede the first read.
func (r *Reader) OnTaken(taken func(view timer.View, since time.Time)) { r.taken = taken }

// Get returns the state of a timer. It needs no worker. The errors are [wire.NotFound] and
// [wire.Unavailable].
func (r *Reader) Get(ctx context.Context, key wire.Key) (timer.View, error) {
	if err := key.Check().Err(); err != nil {
		return timer.View{}, err
	}
	ctx, cancel := kernel.Bounded(ctx)
	defer cancel()
	view, err := r.Run(ctx, key, "")
	if err != nil {
		return timer.View{}, err
	}
	err = r.ShowCall(ctx, &view)
	return view, err
}

// ShowCall adds where, how and with what the receiver is called, from the run's input and the present
// policy.
func (r *Reader) ShowCall(ctx context.Context, view *timer.View) error {
	spec, payload, err := r.Input(ctx, view.Key, view.RunID)
	if err != nil {
		return err
	}
	policy, err := r.policies.Cached(ctx, view.BusinessType)
	if err != nil && wire.CodeOf(err) != wire.NotFound {
		return err
	}
	view.ShowCall(spec, payload.Payload().GetData(), policy)
	return nil
}

// Run returns a timer as one of its runs shows it; "" is the latest.
func (r *Reader) Run(ctx context.Context, key wire.Key, runID string) (timer.View, error) {
	ctx, cancel := kernel.Bounded(ctx)
	defer cancel()
	described, err := r.kernel.Describe(ctx, key.String(), runID)
	if err != nil {
		return timer.View{}, err
	}
	return r.Show(ctx, described)
}

// Show is the view of a run that was described.
func (r *Reader) Show(ctx context.Context, described *workflowservice.DescribeWorkflowExecutionResponse) (timer.View, error) {
	info := described.GetWorkflowExecutionInfo()
	view, err := r.View(ctx, info)
	if err != nil {
		return timer.View{}, err
	}
	view.FirstRunID = info.GetFirstRunId()
	switch info.GetStatus() {
	case enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING:
		view.CancelRequested = described.GetWorkflowExtendedInfo().GetCancelRequested()
		r.showOpen(ctx, &view, described)
		if r.taken != nil && kernel.WithWorker(described) {
			r.taken(view, described.GetPendingWorkflowTask().GetStartedTime().AsTime())
		}
		return view, nil
	case enumspb.WORKFLOW_EXECUTION_STATUS_CONTINUED_AS_NEW: // the timer goes on in another run
		return view, nil
	default:
		err = r.showClosed(ctx, &view)
		return view, err
	}
}

// showOpen adds what an open timer's pending work shows.
func (r *Reader) showOpen(ctx context.Context, view *timer.View, described *workflowservice.DescribeWorkflowExecutionResponse) {
	ongoing := view.Status == timer.Delivering
	if late := -view.Memo.RingsAt().Until(time.Now()); view.Status == timer.Scheduled && late >= 0 {
		switch {
		case kernel.WithWorker(described):
			view.Status = timer.Delivering
		case late > tuning.TakenWithin && len(described.GetPendingActivities()) == 0:
			r.waits.ShowUntaken(ctx, view, described.GetPendingWorkflowTask() != nil)
		}
	}
	accepted := AcceptanceIn(described.GetWorkflowExecutionInfo())
	showAcceptance(view, accepted)
	if ongoing && accepted.Attempt == 0 && len(described.GetPendingActivities()) == 0 {
		r.showOngoing(ctx, view)
	}
	for _, pending := range described.GetPendingActivities() {
		view.Status, view.Attempts = timer.Delivering, accepted.Attempt+1
		r.showPending(ctx, view, pending)
	}
}

// showOngoing adds the attempts of a delivery whose run no worker has taken yet: a change has begun the
// run. Without an answer it adds nothing.
func (r *Reader) showOngoing(ctx context.Context, view *timer.View) {
	spec, _, err := r.Input(ctx, view.Key, view.RunID)
	if err != nil || spec.Ongoing == nil {
		return
	}
	last := *spec.Ongoing
	view.Attempts, view.LastFailure, view.LatenessMS, view.Link = last.Attempt, last.Failure, last.LatenessMS, last.Link
	r.waits.ShowNext(ctx, view, policy.Standby{}.After(last))
}

// showPending adds the last report of a delivery, and what its next attempt waits for. view has the
// number of that attempt as far as the memo knows it.
func (r *Reader) showPending(ctx context.Context, view *timer.View, pending *workflowpb.PendingActivityInfo) {
	standby, waits := kernel.StandbyOf(pending)
	report, told := kernel.LastReport(pending)
	if !told {
		if report, told = r.priorOf(ctx, view, pending); told {
			standby = standby.After(report)
		}
	}
	if told {
		view.LastFailure, view.LatenessMS, view.Attempts = report.Failure, report.LatenessMS, report.Attempt+1
		view.Link = report.Link
	}
	if !waits {
		if made := kernel.UnderWay(pending); made.Worker != "" {
			view.Circumstances = made
		}
		return
	}
	view.Attempts--
	r.waits.ShowNext(ctx, view, standby)
}

// showAcceptance adds what is known of an accepted attempt.
func showAcceptance(view *timer.View, a delivery.Acceptance) {
	if a.Attempt == 0 {
		return
	}
	view.Attempts, view.LatenessMS, view.Link, view.LastFailure = a.Attempt, a.LatenessMS, a.Link, a.LastFailure()
	if a.Awaited() {
		view.AckUntil, view.Wait = a.Until, a.Wait()
	}
}

// AcceptanceIn is the memo's record of an accepted attempt.
func AcceptanceIn(info *workflowpb.WorkflowExecutionInfo) (a delivery.Acceptance) {
	if field, ok := info.GetMemo().GetFields()[workflows.MemoAcceptance]; ok && kernel.Payloads.FromPayload(field, &a) != nil {
		return delivery.Acceptance{}
	}
	return a
}

// showClosed adds how a timer ended, from the last event of its history.
func (r *Reader) showClosed(ctx context.Context, view *timer.View) error {
	var outcome timer.Outcome
	run := r.kernel.Client.GetWorkflow(ctx, view.String(), view.RunID)
	err := run.GetWithOptions(ctx, &outcome, client.WorkflowRunGetOptions{DisableFollowingRuns: true})
	if ended, ok := outcomeIn(err); ok {
		outcome, err = ended, nil
	}
	if errtype.Is[*temporal.WorkflowExecutionError](err) && view.Status == timer.Cancelled {
		err = nil // by a cancel before any attempt, or by a termination
	}
	if errtype.Is[*temporal.WorkflowExecutionError](err) && view.Status == timer.Failed {
		// The engine itself ended or failed the run, without an outcome of ours.
		failure := &delivery.Failure{Message: "ended by the engine"}
		outcome, err = timer.Outcome{Status: timer.Failed, LastFailure: failure}, nil
	}
	if err != nil {
		return kernel.Translate(err)
	}
	view.ShowEnd(outcome)
	return nil
}

// outcomeIn is the outcome that a failed or cancelled run tells, if it tells one.
func outcomeIn(err error) (outcome timer.Outcome, ok bool) {
	if app, failed := errors.AsType[*temporal.ApplicationError](err); failed && app.HasDetails() {
		ok = app.Details(&outcome) == nil
	} else if cancel, cancelled := errors.AsType[*temporal.CanceledError](err); cancelled && cancel.HasDetails() {
		ok = cancel.Details(&outcome) == nil
	}
	return outcome, ok && outcome.Status != ""
}

// Input reads a run's input, from the first event of its history.
func (r *Reader) Input(ctx context.Context, key wire.Key, runID string) (spec timer.Spec, payload converter.RawValue, err error) {
	history, err := r.kernel.Client.WorkflowService().GetWorkflowExecutionHistory(ctx, &workflowservice.GetWorkflowExecutionHistoryRequest{
		Namespace: r.kernel.Namespace, Execution: &commonpb.WorkflowExecution{WorkflowId: key.String(), RunId: runID}, MaximumPageSize: 1,
	})
	if err != nil {
		return spec, payload, kernel.Translate(err)
	}
	events := history.GetHistory().GetEvents()
	if len(events) == 0 {
		return spec, payload, &wire.Error{Code: wire.Internal, Message: "The timer's history is empty."}
	}
	return spec, payload, DecodeInput(events[0].GetWorkflowExecutionStartedEventAttributes().GetInput(), &spec, &payload)
}

// DecodeInput decodes a run's input. The error is [wire.Internal].
func DecodeInput(input *commonpb.Payloads, spec *timer.Spec, payload *converter.RawValue) error {
	if err := kernel.Payloads.FromPayloads(input, spec, payload); err != nil {
		return &wire.Error{Code: wire.Internal, Message: "The timer's input cannot be read.", Cause: err}
	}
	return nil
}
