package kernel

import (
	"context"
	"time"

	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/wakecall/wakecall/internal/tuning"
)

// RepeatUnstored sends a call again that Temporal's store took too long to write, for as
// long as the call may take. Temporal answers DeadlineExceeded then. The SDK repeats a call
// after every other answer of a server in trouble. It takes this one for the end of its own
// time and gives up (docs/decisions/0015-who-began-an-attempt.md).
func RepeatUnstored() grpc.DialOption { return grpc.WithChainUnaryInterceptor(repeatUnstored) }

//nolint:revive // gRPC's signature
func repeatUnstored(
	ctx context.Context, method string, request, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, options ...grpc.CallOption,
) error {
	for {
		shortenDelays(ctx, request)
		err := invoke(ctx, method, request, reply, conn, options...)
		if status.Code(err) != codes.DeadlineExceeded || !repeatable(request) {
			return err
		}
		select {
		case <-time.After(tuning.UnstoredPause):
		case <-ctx.Done():
			return err
		}
	}
}

// repeatable reports whether a call that may have been stored can be made again.
//   - A start identifies itself: Temporal answers it with the run that it has made, and with
//     its first task after an eager start.
//   - The end of a recorded task is refused as not found.
//   - A signal identifies itself for one run only, and may meet the next one.
func repeatable(request any) bool {
	switch r := request.(type) {
	case *workflowservice.StartWorkflowExecutionRequest:
		return r.GetRequestId() != ""
	case *workflowservice.RespondWorkflowTaskCompletedRequest, *workflowservice.RespondActivityTaskCompletedRequest,
		*workflowservice.RespondActivityTaskFailedRequest, *workflowservice.RespondActivityTaskCanceledRequest:
		return true
	default:
		return false
	}
}
