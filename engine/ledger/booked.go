package ledger

import (
	"context"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"

	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/workflows"
)

// DialOption has the counter see the bookings of a connection.
func (c *Counter) DialOption() grpc.DialOption { return grpc.WithChainUnaryInterceptor(c.intercept) }

//nolint:revive // gRPC's signature
func (c *Counter) intercept(
	ctx context.Context, method string, request, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, options ...grpc.CallOption,
) error {
	err := invoke(ctx, method, request, reply, conn, options...)
	if err != nil {
		return err
	}
	switch answer := reply.(type) {
	case *workflowservice.StartWorkflowExecutionResponse:
		if start, ok := request.(*workflowservice.StartWorkflowExecutionRequest); ok && answer.GetStarted() {
			c.started(start)
		}
	case *workflowservice.SignalWithStartWorkflowExecutionResponse:
		if start, ok := request.(*workflowservice.SignalWithStartWorkflowExecutionRequest); ok && answer.GetStarted() {
			c.started(start)
		}
	}
	return nil
}

// start is what both ways to start a workflow say.
type start interface {
	GetWorkflowId() string
	GetWorkflowType() *commonpb.WorkflowType
	GetHeader() *commonpb.Header
	GetInput() *commonpb.Payloads
}

// started counts the start of a timer, unless that tries a failed one again.
func (c *Counter) started(s start) {
	key, ok := wire.ParseKey(s.GetWorkflowId())
	if _, again := s.GetHeader().GetFields()[workflows.HeaderAfter]; !ok || again || s.GetWorkflowType().GetName() != workflows.TypeTimer {
		return
	}
	bytes := 0
	if input := s.GetInput().GetPayloads(); len(input) > 1 {
		bytes = len(input[1].GetData())
	}
	c.booked(key.BusinessType, bytes)
}

func (c *Counter) booked(businessType string, bytes int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.countsFor(businessType).Book(bytes)
}
