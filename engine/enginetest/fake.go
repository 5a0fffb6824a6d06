package enginetest

import (
	"context"
	"testing"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	failurepb "go.temporal.io/api/failure/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"

	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/audit"
	"github.com/wakecall/wakecall/workflows"
)

// Fake is a Temporal that knows some runs, by their workflow ids, and notes what is
// asked of it. A call that it is not made for panics.
type Fake struct {
	client.Client

	Runs    map[string]*workflowservice.DescribeWorkflowExecutionResponse
	History []*historypb.HistoryEvent
	// Err is what every call fails with, unless it is nil.
	Err error

	Started []string // workflow ids
	Signals []string // the signals' names
	Cancels int
}

// ListWorkflow finds nothing.
func (f *Fake) ListWorkflow(context.Context, *workflowservice.ListWorkflowExecutionsRequest) (*workflowservice.ListWorkflowExecutionsResponse, error) {
	return &workflowservice.ListWorkflowExecutionsResponse{}, f.Err
}

// CancelWorkflow implements [client.Client].
func (f *Fake) CancelWorkflow(context.Context, string, string) error {
	f.Cancels++
	return f.Err
}

// DescribeWorkflowExecution implements [client.Client].
func (f *Fake) DescribeWorkflowExecution(_ context.Context, id, _ string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
	if f.Err != nil {
		return nil, f.Err
	}
	if described := f.Runs[id]; described != nil {
		return described, nil
	}
	return nil, serviceerror.NewNotFound("none")
}

// ExecuteWorkflow implements [client.Client].
func (f *Fake) ExecuteWorkflow(_ context.Context, options client.StartWorkflowOptions, _ any, _ ...any) (client.WorkflowRun, error) {
	f.Started = append(f.Started, options.ID)
	return StartedRun{}, f.Err
}

//nolint:revive // the client's own arguments
func (f *Fake) SignalWorkflow(_ context.Context, _, _, signal string, _ any) error {
	f.Signals = append(f.Signals, signal)
	return f.Err
}

// GetWorkflowHistory implements [client.Client].
func (f *Fake) GetWorkflowHistory(context.Context, string, string, bool, enumspb.HistoryEventFilterType) client.HistoryEventIterator {
	return &events{left: f.History, err: f.Err}
}

// events is a history, which may end in an error.
type events struct {
	client.HistoryEventIterator
	left []*historypb.HistoryEvent
	err  error
}

func (e *events) HasNext() bool { return len(e.left) > 0 || e.err != nil }

func (e *events) Next() (*historypb.HistoryEvent, error) {
	if len(e.left) == 0 {
		return nil, e.err
	}
	next := e.left[0]
	e.left = e.left[1:]
	return next, nil
}

// PolicyOf makes the business type's policy known.
func (f *Fake) PolicyOf(t *testing.T, policy policy.Policy) {
	t.Helper()
	memo, err := Payloads.ToPayload(workflows.PolicyRecord{Policy: policy, ChangedAt: wire.At(time.Now())})
	if err != nil {
		t.Fatal(err)
	}
	if f.Runs == nil {
		f.Runs = map[string]*workflowservice.DescribeWorkflowExecutionResponse{}
	}
	f.Runs[workflows.PolicyID(policy.BusinessType)] = &workflowservice.DescribeWorkflowExecutionResponse{
		WorkflowExecutionInfo: &workflowpb.WorkflowExecutionInfo{
			Status: enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING, Memo: &commonpb.Memo{Fields: map[string]*commonpb.Payload{workflows.MemoPolicy: memo}},
		},
	}
}

// Payloads encodes as Temporal's client does.
var Payloads = converter.GetDefaultDataConverter()

// StartedRun is a run that was just started.
type StartedRun struct{ client.WorkflowRun }

// GetRunID implements [client.WorkflowRun].
func (StartedRun) GetRunID() string { return "next" }

// Failure is that of an activity that leaves details.
func Failure(details *commonpb.Payloads) *failurepb.Failure {
	return &failurepb.Failure{FailureInfo: &failurepb.Failure_ApplicationFailureInfo{
		ApplicationFailureInfo: &failurepb.ApplicationFailureInfo{Details: details},
	}}
}

// Encoded are the payloads of some values.
func Encoded(t *testing.T, values ...any) *commonpb.Payloads {
	t.Helper()
	encoded, err := Payloads.ToPayloads(values...)
	if err != nil {
		t.Fatal(err)
	}
	return encoded
}

// Caller is somebody whose role is named like the business type.
type Caller struct{}

// Actor implements [audit.Caller].
func (Caller) Actor(businessType string) (wire.Actor, bool) {
	return wire.Actor{Name: "shop", Role: businessType, By: "key", From: "192.0.2.1", RequestID: "aJmDBYAXpugjgGGRCeBfUDqMUTXzsbbo"}, true
}

// WithCaller is the context of a call by [Caller].
func WithCaller(t *testing.T) context.Context {
	t.Helper()
	return audit.With(t.Context(), Caller{})
}
