package actors

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	updatepb "go.temporal.io/api/update/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"

	"github.com/wakecall/wakecall/engine/enginetest"
	"github.com/wakecall/wakecall/internal/identity"
	"github.com/wakecall/wakecall/workflows"
)

// Whose workflow it is says for which type the role is.
func TestWhoseWorkflow(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]string{
		"order/1": "order", workflows.PolicyID("order"): "order", "bulk:7": "", workflows.RegistryID: "", workflows.EmergencyID("order"): "",
	} {
		require.Equal(t, want, typeIn(id), id)
	}
}

// identified is a request as it leaves the process.
func identified[R any](ctx context.Context, t *testing.T, request R) R {
	t.Helper()
	calls := 0
	err := identifyActor(ctx, "", request, nil, nil, func(context.Context, string, any, any, *grpc.ClientConn, ...grpc.CallOption) error {
		calls++
		return nil
	})
	require.NoError(t, err)
	require.Equal(t, 1, calls)
	return request
}

// Every way to change a workflow says who does it, once, however often it is sent.
func TestEveryChangeSaysWhoMakesIt(t *testing.T) {
	t.Parallel()
	order := &commonpb.WorkflowExecution{WorkflowId: "order/1"}
	for _, request := range []any{
		&workflowservice.StartWorkflowExecutionRequest{WorkflowId: "order/1", Identity: "p"},
		&workflowservice.SignalWorkflowExecutionRequest{WorkflowExecution: order, Identity: "p"},
		&workflowservice.SignalWithStartWorkflowExecutionRequest{WorkflowId: "order/1", Identity: "p"},
		&workflowservice.UpdateWorkflowExecutionRequest{WorkflowExecution: order, Request: &updatepb.Request{Meta: &updatepb.Meta{Identity: "p"}}},
		&workflowservice.RequestCancelWorkflowExecutionRequest{WorkflowExecution: order, Identity: "p"},
		&workflowservice.TerminateWorkflowExecutionRequest{WorkflowExecution: order, Identity: "p"},
	} {
		of, _ := identityOf(identified(t.Context(), t, request))
		require.Equal(t, "p", *of, "nobody calls")
		for range 2 {
			of, _ = identityOf(identified(enginetest.WithCaller(t), t, request))
			process, actor := identity.Parse(*of)
			require.Equal(t, "p", process)
			want, _ := enginetest.Caller{}.Actor("order")
			require.Equal(t, &want, actor)
		}
	}
	poll := &workflowservice.PollWorkflowTaskQueueRequest{Identity: "p"}
	require.Equal(t, "p", identified(enginetest.WithCaller(t), t, poll).GetIdentity(), "a worker polls for nobody")
	identified(enginetest.WithCaller(t), t, &workflowservice.UpdateWorkflowExecutionRequest{}) // nobody's, and nothing breaks
}

// A timer that is tried again names the run before, beside what stands in the header already.
func TestAStartNamesTheRunBefore(t *testing.T) {
	t.Parallel()
	start := identified(WithRunBefore(t.Context(), `run-"0"`), t, &workflowservice.StartWorkflowExecutionRequest{
		Header: &commonpb.Header{Fields: map[string]*commonpb.Payload{"trace": {Data: []byte("x")}}},
	})
	require.Equal(t, `run-"0"`, RunBefore(start.GetHeader()))
	require.Len(t, start.GetHeader().GetFields(), 2)
	require.Nil(t, identified(t.Context(), t, &workflowservice.StartWorkflowExecutionRequest{}).GetHeader())
}
