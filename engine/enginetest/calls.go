package enginetest

import (
	"context"

	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"
	"google.golang.org/grpc"
)

// Started is a run for its caller.
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

// GetWithOptions implements [client.WorkflowRun]. It does not follow runs that continue as new.
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
	found, err := called(t, Call{Name: "GetWorkflow", Of: id}, func() (client.WorkflowRun, error) {
		if r := t.latest(id, runID); r != nil {
			return Started{of: t, run: r}, nil
		}
		return nil, notFound()
	})
	if err != nil { // which is told by its Get
		gone := &run{closed: make(chan struct{}), result: err}
		close(gone.closed)
		return Started{of: t, run: gone}
	}
	return found
}

// openRun returns the latest run of a workflow, or the named one, if it is open.
func (s *store) openRun(id, runID string) (*run, error) {
	r := s.latest(id, runID)
	if r == nil || !r.open() {
		return nil, notFound()
	}
	return r, nil
}

// SignalWorkflow implements [client.Client].
//
//nolint:revive // the client's own arguments
func (t *Temporal) SignalWorkflow(_ context.Context, id, runID, name string, value any) error {
	_, err := called(t, Call{"SignalWorkflow", id, name}, func() (any, error) {
		r, err := t.openRun(id, runID)
		if err != nil {
			return nil, err
		}
		if !r.delayed() {
			r.schedule()
		}
		return nil, t.signal(r, name, value)
	})
	return err
}

// signal stores a signal. The caller holds the lock. It is released during the announcement.
func (s *store) signal(r *run, name string, value any) error {
	if err := r.signalled(name, value); err != nil {
		return err
	}
	s.announce(r)
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

// announce reports the last event of a run to OnEvent. The caller holds the lock. It is released
// during the call.
func (s *store) announce(r *run) {
	if s.OnEvent == nil {
		return
	}
	id, event := r.id(), r.events[len(r.events)-1]
	s.mu.Unlock()
	defer s.mu.Lock()
	s.OnEvent(id, event)
}

// CancelWorkflow implements [client.Client].
func (t *Temporal) CancelWorkflow(_ context.Context, id, runID string) error {
	_, err := called(t, Call{Name: "CancelWorkflow", Of: id}, func() (any, error) {
		r := t.latest(id, runID)
		if r == nil {
			return nil, notFound()
		}
		t.requestCancel(r, "")
		return nil, nil
	})
	return err
}

// requestCancel stores a request for cancellation, once. For an ended run it does nothing, and
// reports no error. The caller holds the lock.
func (s *store) requestCancel(r *run, cause string) {
	if !r.open() || r.described.GetWorkflowExtendedInfo().GetCancelRequested() {
		return
	}
	r.described.WorkflowExtendedInfo.CancelRequested = true
	r.schedule()
	r.record(enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_CANCEL_REQUESTED, &historypb.HistoryEvent{
		Attributes: &historypb.HistoryEvent_WorkflowExecutionCancelRequestedEventAttributes{
			WorkflowExecutionCancelRequestedEventAttributes: &historypb.WorkflowExecutionCancelRequestedEventAttributes{Cause: cause},
		},
	})
	s.announce(r)
}

// TerminateWorkflow implements [client.Client].
//
//nolint:revive // the client's own arguments
func (t *Temporal) TerminateWorkflow(_ context.Context, id, runID, reason string, _ ...any) error {
	_, err := called(t, Call{Name: "TerminateWorkflow", Of: id}, func() (any, error) {
		r, err := t.openRun(id, runID)
		if err != nil {
			return nil, err
		}
		r.terminate(reason)
		return nil, nil
	})
	return err
}

// terminate ends a run from outside. The caller holds the lock.
func (r *run) terminate(reason string) {
	r.result = executionError(&temporal.TerminatedError{})
	r.end(enumspb.WORKFLOW_EXECUTION_STATUS_TERMINATED, enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_TERMINATED, &historypb.HistoryEvent{
		Attributes: &historypb.HistoryEvent_WorkflowExecutionTerminatedEventAttributes{
			WorkflowExecutionTerminatedEventAttributes: &historypb.WorkflowExecutionTerminatedEventAttributes{Reason: reason},
		},
	})
}

// executionError returns the SDK's error for a run that did not complete.
func executionError(cause error) error {
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestWorkflowEnvironment()
	env.ExecuteWorkflow(func(workflow.Context) error { return cause })
	return env.GetWorkflowError()
}

// RequestCancelWorkflowExecution ignores the first run if a request names another run as well, as a
// server does.
func (s service) RequestCancelWorkflowExecution(
	_ context.Context, r *workflowservice.RequestCancelWorkflowExecutionRequest, _ ...grpc.CallOption,
) (*workflowservice.RequestCancelWorkflowExecutionResponse, error) {
	call := Call{Name: "RequestCancelWorkflowExecution", Of: r.GetWorkflowExecution().GetWorkflowId()}
	return called(s.t, call, func() (*workflowservice.RequestCancelWorkflowExecutionResponse, error) {
		found := s.t.execution(r.GetWorkflowExecution())
		if found == nil || r.GetFirstExecutionRunId() != "" && found.info().GetFirstRunId() != r.GetFirstExecutionRunId() {
			return nil, notFound()
		}
		s.t.requestCancel(found, r.GetReason())
		return &workflowservice.RequestCancelWorkflowExecutionResponse{}, nil
	})
}

func (s service) TerminateWorkflowExecution(
	_ context.Context, r *workflowservice.TerminateWorkflowExecutionRequest, _ ...grpc.CallOption,
) (*workflowservice.TerminateWorkflowExecutionResponse, error) {
	call := Call{Name: "TerminateWorkflowExecution", Of: r.GetWorkflowExecution().GetWorkflowId()}
	return called(s.t, call, func() (*workflowservice.TerminateWorkflowExecutionResponse, error) {
		found := s.t.execution(r.GetWorkflowExecution())
		if found == nil || !found.open() || r.GetFirstExecutionRunId() != "" && found.info().GetFirstRunId() != r.GetFirstExecutionRunId() {
			return nil, notFound()
		}
		found.terminate(r.GetReason())
		return &workflowservice.TerminateWorkflowExecutionResponse{}, nil
	})
}
