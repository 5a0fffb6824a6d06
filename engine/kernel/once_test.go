package kernel

import (
	"context"
	"net"
	"testing"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Only the first try of a call that starts at most once may take the id of a workflow that has ended.
func TestARepeatedStartTakesNoEndedID(t *testing.T) {
	t.Parallel()
	const free, taken = enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE, enumspb.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE
	requests := map[string]func() any{
		"start": func() any { return &workflowservice.StartWorkflowExecutionRequest{WorkflowIdReusePolicy: free} },
		"signal with start": func() any {
			return &workflowservice.SignalWithStartWorkflowExecutionRequest{WorkflowIdReusePolicy: free}
		},
	}
	for name, request := range requests {
		for _, once := range []bool{true, false} {
			ctx, repeated := t.Context(), request()
			if once {
				ctx = StartOnce(ctx)
			}
			var sent []enumspb.WorkflowIdReusePolicy
			invoke := func(_ context.Context, _ string, request, _ any, _ *grpc.ClientConn, _ ...grpc.CallOption) error {
				sent = append(sent, *reuseIn(request))
				return nil
			}
			for range 3 {
				try, cancel := context.WithCancel(ctx) // the SDK gives each try a context of its own
				require.NoError(t, refuseRepeats(try, "", repeated, nil, nil, invoke))
				cancel()
			}
			if once {
				require.Equal(t, []enumspb.WorkflowIdReusePolicy{free, taken, taken}, sent, name)
			} else {
				require.Equal(t, []enumspb.WorkflowIdReusePolicy{free, free, free}, sent, name)
			}
		}
	}
	called := false
	require.NoError(t, refuseRepeats(StartOnce(t.Context()), "", &workflowservice.SignalWorkflowExecutionRequest{}, nil, nil,
		func(context.Context, string, any, any, *grpc.ClientConn, ...grpc.CallOption) error {
			called = true
			return nil
		}))
	require.True(t, called, "any other call is left as it is")
}

// losing is a Temporal whose first answer is lost.
type losing struct {
	workflowservice.UnimplementedWorkflowServiceServer

	reuse []enumspb.WorkflowIdReusePolicy
}

func (l *losing) SignalWithStartWorkflowExecution(
	_ context.Context, r *workflowservice.SignalWithStartWorkflowExecutionRequest,
) (*workflowservice.SignalWithStartWorkflowExecutionResponse, error) {
	if l.reuse = append(l.reuse, r.GetWorkflowIdReusePolicy()); len(l.reuse) == 1 {
		return nil, status.Error(codes.Unavailable, "lost")
	}
	return &workflowservice.SignalWithStartWorkflowExecutionResponse{RunId: "run"}, nil
}

// The SDK repeats a call whose answer was lost in the context of the call. Another call begins anew.
func TestTheSDKRepeatsInTheContextOfItsCall(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	temporal, server := &losing{}, grpc.NewServer()
	workflowservice.RegisterWorkflowServiceServer(server, temporal)
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	defer func() { server.Stop(); require.NoError(t, <-served) }()
	c, err := client.NewLazyClient(client.Options{
		HostPort: listener.Addr().String(), ConnectionOptions: client.ConnectionOptions{DialOptions: []grpc.DialOption{RefuseRepeats()}},
	})
	require.NoError(t, err)
	defer c.Close()
	options := client.StartWorkflowOptions{ID: "id", TaskQueue: "queue", WorkflowIDReusePolicy: enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE}
	for range 2 {
		run, err := c.SignalWithStartWorkflow(StartOnce(t.Context()), "id", "signal", nil, options, "workflow")
		require.NoError(t, err)
		require.Equal(t, "run", run.GetRunID())
	}
	const free, taken = enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE, enumspb.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE
	require.Equal(t, []enumspb.WorkflowIdReusePolicy{free, taken, free}, temporal.reuse)
}
