package kernel

import (
	"context"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"
)

// triesKey is the key of the number of tries of a call in a context.
type triesKey struct{}

// StartOnce returns a context for one call that may start a workflow. The SDK repeats a call whose answer was
// lost. The workflow may have been started and have ended by then, and the call would start another one
// where its reuse policy allows that. In this context only the first try may take the id of a workflow
// that has ended. A further one is refused, and the caller must look whose workflow it was.
func StartOnce(ctx context.Context) context.Context {
	return context.WithValue(ctx, triesKey{}, new(int))
}

// RefuseRepeats returns the option that [StartOnce] needs on a connection. It must come after all options
// that repeat requests.
func RefuseRepeats() grpc.DialOption { return grpc.WithChainUnaryInterceptor(refuseRepeats) }

//nolint:revive // gRPC's signature
func refuseRepeats(
	ctx context.Context, method string, request, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, options ...grpc.CallOption,
) error {
	tries, once := ctx.Value(triesKey{}).(*int)
	if reuse := reuseIn(request); once && reuse != nil {
		if *tries++; *tries > 1 {
			*reuse = enumspb.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE
		}
	}
	return invoke(ctx, method, request, reply, conn, options...)
}

// reuseIn is the reuse policy of a request that may start a workflow, and nil for any other.
func reuseIn(request any) *enumspb.WorkflowIdReusePolicy {
	switch r := request.(type) {
	case *workflowservice.StartWorkflowExecutionRequest:
		return &r.WorkflowIdReusePolicy
	case *workflowservice.SignalWithStartWorkflowExecutionRequest:
		return &r.WorkflowIdReusePolicy
	default:
		return nil
	}
}
