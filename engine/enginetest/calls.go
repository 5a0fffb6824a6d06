package enginetest

import (
	"context"
	"errors"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// Started is a run as a caller has it.
type Started struct {
	client.WorkflowRun
	of  *Temporal
	run *run
}

// GetID implements [client.WorkflowRun].
func (s Started) GetID() string { return s.run.id() }

// GetRunID implements [client.WorkflowRun].
func (s Started) GetRunID() string { return s.run.runID() }

// Get implements [client.WorkflowRun].
func (s Started) Get(ctx context.Context, into any) error {
	return s.GetWithOptions(ctx, into, client.WorkflowRunGetOptions{})
}

// GetWithOptions implements [client.WorkflowRun]. It follows no runs.
func (s Started) GetWithOptions(ctx context.Context, into any, _ client.WorkflowRunGetOptions) error {
	select {
	case <-s.run.closed:
	case <-ctx.Done():
		return ctx.Err()
	}
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	if err, failed := s.run.result.(error); failed {
		return err
	}
	encoded, err := Payloads.ToPayload(s.run.result)
	if err != nil || into == nil {
		return err
	}
	return Payloads.FromPayload(encoded, into)
}

// GetWorkflow implements [client.Client].
func (t *Temporal) GetWorkflow(_ context.Context, id, runID string) client.WorkflowRun {
	t.mu.Lock()
	defer t.mu.Unlock()
	if r := t.latest(id, runID); r != nil {
		return Started{of: t, run: r}
	}
	gone := &run{closed: make(chan struct{}), result: notFound()}
	close(gone.closed)
	return Started{of: t, run: gone}
}

// startable is the error of a start that the latest run of its workflow forbids. The caller holds
// the lock.
func startable(last *run, reuse enumspb.WorkflowIdReusePolicy) error {
	if last == nil {
		return nil
	}
	refused := serviceerror.NewWorkflowExecutionAlreadyStarted("Workflow execution already started", "", last.runID())
	switch {
	case last.open(), reuse == enumspb.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE:
		return refused
	case reuse == enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE_FAILED_ONLY &&
		last.info().GetStatus() == enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED:
		return refused
	}
	return nil
}

// start adds the run that a caller asks for. The caller holds the lock.
func (t *Temporal) start(options client.StartWorkflowOptions, workflowType any, args []any) (*run, error) {
	input, err := Payloads.ToPayloads(args...)
	if err != nil {
		return nil, err
	}
	name, _ := workflowType.(string)
	r := t.begin(options.ID, name, "", input)
	r.info().ExecutionTime = timestamppb.New(time.Now().Add(options.StartDelay))
	if err := r.memo(options.Memo); err != nil {
		return nil, err
	}
	attributes := map[string]any{}
	for key, value := range options.TypedSearchAttributes.GetUntypedValues() {
		attributes[key.GetName()] = value
	}
	return r, r.attribute(attributes)
}

// ExecuteWorkflow implements [client.Client].
func (t *Temporal) ExecuteWorkflow(_ context.Context, options client.StartWorkflowOptions, workflowType any, args ...any) (client.WorkflowRun, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.Err != nil {
		return nil, t.Err
	}
	last := t.latest(options.ID, "")
	if last != nil && last.open() {
		switch options.WorkflowIDConflictPolicy {
		case enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING:
			return Started{of: t, run: last}, nil
		case enumspb.WORKFLOW_ID_CONFLICT_POLICY_TERMINATE_EXISTING:
			last.terminate("replaced")
		default:
		}
	}
	if err := startable(last, options.WorkflowIDReusePolicy); err != nil {
		if options.WorkflowExecutionErrorWhenAlreadyStarted {
			return nil, err
		}
		return Started{of: t, run: last}, nil
	}
	r, err := t.start(options, workflowType, args)
	if err != nil {
		return nil, err
	}
	return Started{of: t, run: r}, nil
}

// openRun returns the latest run of a workflow, or the named one, where it is open.
func (t *Temporal) openRun(id, runID string) (*run, error) {
	if t.Err != nil {
		return nil, t.Err
	}
	r := t.latest(id, runID)
	if r == nil || !r.open() {
		return nil, notFound()
	}
	return r, nil
}

// SignalWorkflow implements [client.Client].
//
//nolint:revive // the client's own arguments
func (t *Temporal) SignalWorkflow(_ context.Context, id, runID, name string, value any) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	r, err := t.openRun(id, runID)
	if err != nil {
		return err
	}
	return t.signal(r, name, value)
}

// SignalWithStartWorkflow implements [client.Client].
//
//nolint:revive // the client's own arguments
func (t *Temporal) SignalWithStartWorkflow(
	_ context.Context, id, name string, value any, options client.StartWorkflowOptions, workflowType any, args ...any,
) (client.WorkflowRun, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.Err != nil {
		return nil, t.Err
	}
	options.ID = id
	r := t.latest(id, "")
	if r == nil || !r.open() {
		if err := startable(r, options.WorkflowIDReusePolicy); err != nil {
			return nil, err
		}
		var err error
		if r, err = t.start(options, workflowType, args); err != nil {
			return nil, err
		}
		if options.StartDelay > 0 { // its first task comes after the delay
			return Started{of: t, run: r}, r.signalled(name, value)
		}
	}
	return Started{of: t, run: r}, t.signal(r, name, value)
}

// signal stores a signal. The caller holds the lock, which is given up while it is told of.
func (t *Temporal) signal(r *run, name string, value any) error {
	if err := r.signalled(name, value); err != nil {
		return err
	}
	t.announce(r)
	return nil
}

// signalled records a signal. The caller holds the lock.
func (r *run) signalled(name string, value any) error {
	input, err := Payloads.ToPayloads(value)
	if err != nil {
		return err
	}
	r.record(enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED, &historypb.HistoryEvent{
		Attributes: &historypb.HistoryEvent_WorkflowExecutionSignaledEventAttributes{
			WorkflowExecutionSignaledEventAttributes: &historypb.WorkflowExecutionSignaledEventAttributes{SignalName: name, Input: input},
		},
	})
	return nil
}

// announce tells of the last event of a run. The caller holds the lock, which is given up meanwhile.
func (t *Temporal) announce(r *run) {
	if t.OnEvent == nil {
		return
	}
	id, event := r.id(), r.events[len(r.events)-1]
	t.mu.Unlock()
	defer t.mu.Lock()
	t.OnEvent(id, event)
}

// CancelWorkflow implements [client.Client].
func (t *Temporal) CancelWorkflow(_ context.Context, id, runID string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	r, err := t.openRun(id, runID)
	if err != nil {
		return err
	}
	t.requestCancel(r, "")
	return nil
}

// requestCancel stores a request for cancellation. The caller holds the lock.
func (t *Temporal) requestCancel(r *run, cause string) {
	r.described.WorkflowExtendedInfo.CancelRequested = true
	r.record(enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_CANCEL_REQUESTED, &historypb.HistoryEvent{
		Attributes: &historypb.HistoryEvent_WorkflowExecutionCancelRequestedEventAttributes{
			WorkflowExecutionCancelRequestedEventAttributes: &historypb.WorkflowExecutionCancelRequestedEventAttributes{Cause: cause},
		},
	})
	t.announce(r)
}

// TerminateWorkflow implements [client.Client].
//
//nolint:revive // the client's own arguments
func (t *Temporal) TerminateWorkflow(_ context.Context, id, runID, reason string, _ ...any) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	r, err := t.openRun(id, runID)
	if err != nil {
		return err
	}
	r.terminate(reason)
	return nil
}

var errTerminated = errors.New("terminated")

// terminate ends a run from outside. The caller holds the lock.
func (r *run) terminate(reason string) {
	r.result = errTerminated
	r.end(enumspb.WORKFLOW_EXECUTION_STATUS_TERMINATED, enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_TERMINATED, &historypb.HistoryEvent{
		Attributes: &historypb.HistoryEvent_WorkflowExecutionTerminatedEventAttributes{
			WorkflowExecutionTerminatedEventAttributes: &historypb.WorkflowExecutionTerminatedEventAttributes{Reason: reason},
		},
	})
}

// execution is the run that a request names. The caller holds the lock.
func (t *Temporal) execution(of *commonpb.WorkflowExecution) *run {
	return t.latest(of.GetWorkflowId(), of.GetRunId())
}
