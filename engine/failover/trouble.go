package failover

import (
	"context"

	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Trouble notices that Temporal fails. Tasks may be lost then on their way to a worker.
type Trouble struct{ seen chan struct{} }

// NewTrouble returns a Trouble for one connection.
func NewTrouble() *Trouble { return &Trouble{seen: make(chan struct{}, 1)} }

// DialOption returns the option that watches a connection.
func (t *Trouble) DialOption() grpc.DialOption { return grpc.WithChainUnaryInterceptor(t.intercept) }

//nolint:revive // gRPC's signature
func (t *Trouble) intercept(
	ctx context.Context, method string, request, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, options ...grpc.CallOption,
) error {
	err := invoke(ctx, method, request, reply, conn, options...)
	if failed(request, err) {
		select {
		case t.seen <- struct{}{}:
		default: // it is known
		}
	}
	return err
}

// failed reports whether Temporal has failed. Many calls end by a deadline of their own; those
// that write do not.
func failed(request any, err error) bool {
	switch status.Code(err) {
	case codes.Unavailable:
		return true
	case codes.DeadlineExceeded:
	default:
		return false
	}
	switch request.(type) {
	case *workflowservice.StartWorkflowExecutionRequest, *workflowservice.RespondWorkflowTaskCompletedRequest,
		*workflowservice.RespondActivityTaskCompletedRequest, *workflowservice.RespondActivityTaskFailedRequest:
		return true
	default:
		return false
	}
}

// watch calls a function after each failure, until ctx is done.
func (t *Trouble) watch(ctx context.Context, call func()) {
	for {
		select {
		case <-t.seen:
			call()
		case <-ctx.Done():
			return
		}
	}
}
