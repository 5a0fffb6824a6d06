package enginetest

import (
	"context"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// startable returns the error of a start if the latest run of the workflow forbids it. The caller
// holds the lock.
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

// start adds the requested run. The caller holds the lock.
func (s *store) start(options client.StartWorkflowOptions, workflowType any, args []any) (*run, error) {
	input, err := Payloads.ToPayloads(args...)
	if err != nil {
		return nil, err
	}
	attributes := map[string]any{}
	for key, value := range options.TypedSearchAttributes.GetUntypedValues() {
		attributes[key.GetName()] = value
	}
	if err := s.registered(attributes); err != nil {
		return nil, err
	}
	name, _ := workflowType.(string)
	r := s.begin(options.ID, name, "", input)
	r.queue, r.fairness = options.TaskQueue, options.Priority.FairnessKey
	r.delay(options.StartDelay)
	if err := r.memo(options.Memo); err != nil {
		return nil, err
	}
	return r, r.attribute(attributes)
}

// delay postpones the first task of a new run. The caller holds the lock.
func (r *run) delay(by time.Duration) {
	r.info().ExecutionTime = timestamppb.New(r.info().GetStartTime().AsTime().Add(by))
	if by == 0 {
		r.schedule()
	}
}

// joined applies the conflict policy of a start, and returns the open run that satisfies it. It
// returns nil if a new run must be started. The caller holds the lock.
func (s *store) joined(id string, conflict enumspb.WorkflowIdConflictPolicy) *run {
	last := s.latest(id, "")
	if last == nil || !last.open() {
		return nil
	}
	switch conflict {
	case enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING:
		return last
	case enumspb.WORKFLOW_ID_CONFLICT_POLICY_TERMINATE_EXISTING:
		last.terminate("replaced")
	default:
	}
	return nil
}

// ExecuteWorkflow implements [client.Client].
func (t *Temporal) ExecuteWorkflow(_ context.Context, options client.StartWorkflowOptions, workflowType any,
	args ...any) (client.WorkflowRun, error) {
	return called(t, Call{Name: "ExecuteWorkflow", Of: options.ID}, func() (client.WorkflowRun, error) {
		if r := t.joined(options.ID, options.WorkflowIDConflictPolicy); r != nil {
			return Started{of: t, run: r}, nil
		}
		last := t.latest(options.ID, "")
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
	})
}

// SignalWithStartWorkflow implements [client.Client].
//
//nolint:revive // the client's own arguments
func (t *Temporal) SignalWithStartWorkflow(
	_ context.Context, id, name string, value any, options client.StartWorkflowOptions, workflowType any, args ...any,
) (client.WorkflowRun, error) {
	options.ID = id
	return called(t, Call{"SignalWithStartWorkflow", id, name}, func() (client.WorkflowRun, error) {
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
		} else {
			r.schedule() // it ends a delay
		}
		return Started{of: t, run: r}, t.signal(r, name, value)
	})
}

// StartWorkflowExecution starts a workflow, or attaches the id of a request to the existing run.
func (s service) StartWorkflowExecution(
	_ context.Context, r *workflowservice.StartWorkflowExecutionRequest, _ ...grpc.CallOption,
) (*workflowservice.StartWorkflowExecutionResponse, error) {
	return called(s.t, Call{Name: "StartWorkflowExecution", Of: r.GetWorkflowId()},
		func() (*workflowservice.StartWorkflowExecutionResponse, error) {
			if there := s.t.joined(r.GetWorkflowId(), r.GetWorkflowIdConflictPolicy()); there != nil {
				if r.GetOnConflictOptions().GetAttachRequestId() {
					there.described.WorkflowExtendedInfo.RequestIdInfos[r.GetRequestId()] = &workflowpb.RequestIdInfo{}
				}
				return &workflowservice.StartWorkflowExecutionResponse{RunId: there.runID()}, nil
			}
			if err := startable(s.t.latest(r.GetWorkflowId(), ""), r.GetWorkflowIdReusePolicy()); err != nil {
				return nil, err
			}
			begun := s.t.begin(r.GetWorkflowId(), r.GetWorkflowType().GetName(), "", r.GetInput())
			begun.queue, begun.fairness = r.GetTaskQueue().GetName(), r.GetPriority().GetFairnessKey()
			begun.delay(r.GetWorkflowStartDelay().AsDuration())
			return &workflowservice.StartWorkflowExecutionResponse{RunId: begun.runID(), Started: true}, nil
		})
}

// execution returns the run that a request names. The caller holds the lock.
func (s *store) execution(of *commonpb.WorkflowExecution) *run {
	return s.latest(of.GetWorkflowId(), of.GetRunId())
}
