package kernel

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"
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
