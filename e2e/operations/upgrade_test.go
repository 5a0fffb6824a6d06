package operations

import (
	"context"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	grpcstatus "google.golang.org/grpc/status"

	wakecall "github.com/wakecall/wakecall/client"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/e2e/receiver"
	"github.com/wakecall/wakecall/e2e/sample"
	"github.com/wakecall/wakecall/e2e/testenv"
	"github.com/wakecall/wakecall/internal/errtype"
	"github.com/wakecall/wakecall/workflows"
)

// An installation that lacks a search attribute gets it by the first start of a build that has
// it, and one that may not register it says what is missing.
func TestAnInstallationGetsItsNewSearchAttribute(t *testing.T) {
	t.Parallel()
	addr := testenv.Alone(t)
	before, err := client.DialContext(t.Context(), client.Options{HostPort: addr})
	require.NoError(t, err)
	defer before.Close()
	_, err = before.OperatorService().RemoveSearchAttributes(t.Context(), &operatorservice.RemoveSearchAttributesRequest{
		Namespace: client.DefaultNamespace, SearchAttributes: []string{workflows.AttrLabels.GetName()},
	})
	require.NoError(t, err)
	awaitForgotten(t, before, workflows.AttrLabels)
	require.ErrorContains(t, testenv.Try(t.Context(), addr, func(ctx context.Context, method string, request, reply any, c *grpc.ClientConn, invoke grpc.UnaryInvoker, options ...grpc.CallOption) error {
		if method == operatorservice.OperatorService_AddSearchAttributes_FullMethodName {
			return grpcstatus.Error(codes.PermissionDenied, "you may not")
		}
		return invoke(ctx, method, request, reply, c, options...)
	}, io.Discard), "the search attributes [TimerLabels] are missing and could not be registered")

	env, r := testenv.Open(t, addr), receiver.New(t)
	body := sample.Booking("kind", "labelled", "3h", r.URL)
	body["labels"] = timer.Labels{"customer": "42"}
	env.Add(body)
	awaitFound(t, env, wakecall.Filter{Labels: timer.Labels{"customer": "42"}}, "labelled")
}

// awaitForgotten waits until Temporal refuses a removed attribute. It gives a free column to a new one. A part
// that still knew the old column would write the label there, where no list looks for it.
func awaitForgotten(t *testing.T, on client.Client, removed temporal.SearchAttributeKeyKeywordList) {
	t.Helper()
	require.Eventually(t, func() bool {
		run, err := on.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{
			ID: "forgotten", TaskQueue: "no worker",
			TypedSearchAttributes: temporal.NewSearchAttributes(removed.ValueSet([]string{"customer=42"})),
		}, "Forgotten")
		if err == nil {
			require.NoError(t, on.TerminateWorkflow(t.Context(), run.GetID(), run.GetRunID(), "it was accepted"))
		}
		return errtype.Is[*serviceerror.InvalidArgument](err)
	}, testenv.Patience, 50*time.Millisecond, "Temporal's parts learn of a removed attribute one after another")
}
