package engine

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/workflows"
)

// fake is a Temporal that knows some runs, by their workflow ids, and notes what is
// asked of it. A call that it is not made for panics.
type fake struct {
	client.Client

	runs    map[string]*workflowservice.DescribeWorkflowExecutionResponse
	history []*historypb.HistoryEvent
	// err is what every call fails with, unless it is nil.
	err error

	started []string // workflow ids
	signals []string // the signals' names
	cancels int
}

// ListWorkflow finds nothing.
func (f *fake) ListWorkflow(context.Context, *workflowservice.ListWorkflowExecutionsRequest) (*workflowservice.ListWorkflowExecutionsResponse, error) {
	return &workflowservice.ListWorkflowExecutionsResponse{}, f.err
}

func (f *fake) CancelWorkflow(context.Context, string, string) error {
	f.cancels++
	return f.err
}

func (f *fake) DescribeWorkflowExecution(_ context.Context, id, _ string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
	if f.err != nil {
		return nil, f.err
	}
	if described := f.runs[id]; described != nil {
		return described, nil
	}
	return nil, serviceerror.NewNotFound("none")
}

func (f *fake) ExecuteWorkflow(_ context.Context, options client.StartWorkflowOptions, _ any, _ ...any) (client.WorkflowRun, error) {
	f.started = append(f.started, options.ID)
	return wokenRun{}, f.err
}

//nolint:revive // the client's own arguments
func (f *fake) SignalWorkflow(_ context.Context, _, _, signal string, _ any) error {
	f.signals = append(f.signals, signal)
	return f.err
}

func (f *fake) GetWorkflowHistory(context.Context, string, string, bool, enumspb.HistoryEventFilterType) client.HistoryEventIterator {
	return &events{left: f.history, err: f.err}
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

// policyOf makes the business type's policy known.
func (f *fake) policyOf(t *testing.T, policy policy.Policy) {
	t.Helper()
	memo, err := payloads.ToPayload(workflows.PolicyRecord{Policy: policy, ChangedAt: wire.At(time.Now())})
	require.NoError(t, err)
	if f.runs == nil {
		f.runs = map[string]*workflowservice.DescribeWorkflowExecutionResponse{}
	}
	f.runs[workflows.PolicyID(policy.BusinessType)] = &workflowservice.DescribeWorkflowExecutionResponse{
		WorkflowExecutionInfo: &workflowpb.WorkflowExecutionInfo{
			Status: statusRunning, Memo: &commonpb.Memo{Fields: map[string]*commonpb.Payload{workflows.MemoPolicy: memo}},
		},
	}
}
