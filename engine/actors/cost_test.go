//go:build !race

package actors

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"

	"github.com/wakecall/wakecall/engine/enginetest"
	"github.com/wakecall/wakecall/internal/audit"
)

// What it costs a booking to say who makes it: the identity, and nothing else. The race
// detector empties pools at random.
func TestWhoMakesAChangeCostsOneAllocation(t *testing.T) {
	ctx := audit.With(context.Background(), enginetest.Caller{})
	start := &workflowservice.StartWorkflowExecutionRequest{WorkflowId: "order-close/order-4711"}
	invoke := func(context.Context, string, any, any, *grpc.ClientConn, ...grpc.CallOption) error { return nil }
	require.LessOrEqual(t, testing.AllocsPerRun(100, func() {
		start.Identity = "wakecall-f0c5aae2"
		_ = identifyActor(ctx, "", start, nil, nil, invoke)
	}), 1.0)
}
