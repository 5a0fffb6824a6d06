package histories

import (
	"context"

	commonpb "go.temporal.io/api/common/v1"
	historypb "go.temporal.io/api/history/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/sdk/converter"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/engine/query"
	"github.com/wakecall/wakecall/engine/timers"
	"github.com/wakecall/wakecall/engine/visibility"
	"github.com/wakecall/wakecall/workflows"
)

// Attempts reads the attempts made for a timer from its runs: from their histories, and from
// the details of a pending activity.
type Attempts struct {
	kernel *kernel.Kernel
	reader *timers.Reader
}

// NewAttempts returns the Attempts of a namespace.
func NewAttempts(k *kernel.Kernel, reader *timers.Reader) *Attempts {
	return &Attempts{kernel: k, reader: reader}
}

// AttemptsPage is one page of attempts, those of the latest run first.
type AttemptsPage struct {
	Attempts []delivery.ShownAttempt
	Next     []byte // empty on the last page
}

// List reads the attempts of a page of runs, including redeliveries and past occurrences, as
// far as Temporal retains them. It needs no worker. The latest run is exact. Temporal's
// visibility finds the earlier ones and lags behind by a moment. The errors are
// [wire.NotFound] and [wire.Unavailable].
func (a *Attempts) List(ctx context.Context, key wire.Key, size int, token []byte) (AttemptsPage, error) {
	view, err := a.reader.Get(ctx, key)
	if err != nil {
		return AttemptsPage{}, err
	}
	response, err := a.kernel.List(ctx, query.All(visibility.Timers(), query.WorkflowID.Is(key.String())), size, token)
	if err != nil {
		return AttemptsPage{}, err
	}
	page := AttemptsPage{Attempts: []delivery.ShownAttempt{}, Next: response.GetNextPageToken()}
	if len(token) == 0 {
		if err := a.add(ctx, &page, key, view.RunID); err != nil {
			return AttemptsPage{}, err
		}
	}
	for _, info := range response.GetExecutions() {
		if run := info.GetExecution().GetRunId(); run != view.RunID {
			if err := a.add(ctx, &page, key, run); err != nil {
				return AttemptsPage{}, err
			}
		}
	}
	return page, nil
}

func (a *Attempts) add(ctx context.Context, page *AttemptsPage, key wire.Key, runID string) error {
	attempts, err := a.OfRun(ctx, key, runID)
	page.Attempts = append(page.Attempts, attempts...)
	return err
}

// OfRun are the attempts of one run. A run that Temporal has deleted has none.
func (a *Attempts) OfRun(ctx context.Context, key wire.Key, runID string) ([]delivery.ShownAttempt, error) {
	var run attemptsOfRun
	err := a.kernel.EachEvent(ctx, key.String(), runID, run.read)
	if err == nil && !run.closed {
		described, failed := a.kernel.Describe(ctx, key.String(), runID)
		err = failed
		for _, pending := range described.GetPendingActivities() {
			run.pending(pending)
		}
	}
	if wire.CodeOf(err) == wire.NotFound {
		return nil, nil
	}
	return run.spec.Shown(run.own(), run.payload.Payload().GetData(), runID), err
}

// attemptsOfRun are the known attempts of one run. Each report records those before it, so
// the longest record is complete.
type attemptsOfRun struct {
	spec    timer.Spec
	payload converter.RawValue
	known   []delivery.Attempt
	closed  bool
}

// own are the attempts that the run itself made. Those it passed on from the run before are
// shown there.
func (r *attemptsOfRun) own() []delivery.Attempt {
	if r.spec.Ongoing == nil {
		return r.known
	}
	return delivery.Report{Attempts: r.known}.WithoutRecords(r.spec.Ongoing.Attempt).Attempts
}

func (r *attemptsOfRun) read(event *historypb.HistoryEvent) {
	switch attributes := event.GetAttributes().(type) {
	case *historypb.HistoryEvent_WorkflowExecutionStartedEventAttributes:
		r.payload = converter.NewRawValue(nil)
		_ = timers.DecodeInput(attributes.WorkflowExecutionStartedEventAttributes.GetInput(), &r.spec, &r.payload)
	case *historypb.HistoryEvent_MarkerRecordedEventAttributes:
		r.addResult(attributes.MarkerRecordedEventAttributes.GetDetails()["result"])
	case *historypb.HistoryEvent_ActivityTaskCompletedEventAttributes:
		r.addResult(attributes.ActivityTaskCompletedEventAttributes.GetResult())
	case *historypb.HistoryEvent_ActivityTaskFailedEventAttributes:
		r.addResult(attributes.ActivityTaskFailedEventAttributes.GetFailure().GetApplicationFailureInfo().GetDetails())
	case *historypb.HistoryEvent_WorkflowPropertiesModifiedEventAttributes:
		r.resolve(attributes.WorkflowPropertiesModifiedEventAttributes.GetUpsertedMemo())
	case *historypb.HistoryEvent_WorkflowExecutionCompletedEventAttributes, *historypb.HistoryEvent_WorkflowExecutionFailedEventAttributes,
		*historypb.HistoryEvent_WorkflowExecutionCanceledEventAttributes, *historypb.HistoryEvent_WorkflowExecutionContinuedAsNewEventAttributes,
		*historypb.HistoryEvent_WorkflowExecutionTerminatedEventAttributes, *historypb.HistoryEvent_WorkflowExecutionTimedOutEventAttributes:
		r.closed = true
	}
}

// resolve sets the outcome of an accepted attempt. Later reports contain it too.
func (r *attemptsOfRun) resolve(memo *commonpb.Memo) {
	var a delivery.Acceptance
	if field, ok := memo.GetFields()[workflows.MemoAcceptance]; ok && kernel.Payloads.FromPayload(field, &a) == nil {
		r.known = delivery.Resolve(r.known, a)
	}
}

func (r *attemptsOfRun) pending(activity *workflowpb.PendingActivityInfo) {
	if report, ok := kernel.LastReport(activity); ok {
		r.record(report)
	}
}

func (r *attemptsOfRun) addResult(result *commonpb.Payloads) {
	if report, ok := kernel.DecodeReport(result); ok {
		r.record(report)
	}
	var state timer.RunState
	if len(result.GetPayloads()) > 0 && kernel.Payloads.FromPayload(result.GetPayloads()[0], &state) == nil && state.Last != nil {
		r.record(*state.Last)
	}
}

func (r *attemptsOfRun) record(report delivery.Report) {
	if len(report.Attempts) > len(r.known) {
		r.known = report.Attempts
	}
}
