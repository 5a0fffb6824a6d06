package kernel

import (
	"context"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/wakecall/wakecall/internal/tuning"
)

// BoundEndPolls bounds each long poll for the end of a run. Server 1.32.1 keeps one notice for
// a long poll at most: where it is busy, it drops that of the end when the one before has not
// been read (service/history/events/notifier.go). The long poll then waits for its whole 20
// seconds, though the run has ended. The SDK makes another one after each, and that sees the end.
func BoundEndPolls() grpc.DialOption { return grpc.WithChainUnaryInterceptor(boundEndPoll) }

//nolint:revive // gRPC's signature
func boundEndPoll(
	ctx context.Context, method string, request, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, options ...grpc.CallOption,
) error {
	asked, ok := request.(*workflowservice.GetWorkflowExecutionHistoryRequest)
	if !ok || !asked.GetWaitNewEvent() || asked.GetHistoryEventFilterType() != enumspb.HISTORY_EVENT_FILTER_TYPE_CLOSE_EVENT {
		return invoke(ctx, method, request, reply, conn, options...)
	}
	for {
		short, cancel := context.WithTimeout(ctx, tuning.EndPoll)
		err := invoke(short, method, request, reply, conn, options...)
		cancel()
		if status.Code(err) != codes.DeadlineExceeded {
			return err
		}
		select {
		case <-time.After(tuning.UnstoredPause): // a server that is slow has not answered in time
		case <-ctx.Done():
			return err
		}
	}
}
