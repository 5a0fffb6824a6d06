package enginetest_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"github.com/wakecall/wakecall/engine/enginetest"
	"github.com/wakecall/wakecall/engine/namespace"
)

// The answers of a server are recorded. A test in e2e makes the same calls to a server again.
func TestAnswersAreThoseOfAServer(t *testing.T) {
	t.Parallel()
	on := &enginetest.Temporal{}
	on.Attributes = namespace.SearchAttributes()
	require.Equal(t, enginetest.Recorded(), enginetest.Answers(t, on, "default", "lab"))
}

// strict is a Temporal that refuses to cancel an ended run. No server does so.
type strict struct{ *enginetest.Temporal }

func (s strict) CancelWorkflow(ctx context.Context, id, runID string) error {
	described, err := s.DescribeWorkflowExecution(ctx, id, runID)
	if err == nil && described.GetWorkflowExecutionInfo().GetStatus() != enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING {
		return serviceerror.NewNotFound("it has ended")
	}
	return s.Temporal.CancelWorkflow(ctx, id, runID)
}

// endless is a Temporal with only one page.
type endless struct{ *enginetest.Temporal }

func (e endless) ListWorkflow(ctx context.Context, r *workflowservice.ListWorkflowExecutionsRequest) (*workflowservice.ListWorkflowExecutionsResponse, error) {
	r.PageSize = 0
	return e.Temporal.ListWorkflow(ctx, r)
}

func TestALieIsFound(t *testing.T) {
	t.Parallel()
	for name, lie := range map[string]func(on *enginetest.Temporal) client.Client{
		"a cancel of a run that has ended is refused": func(on *enginetest.Temporal) client.Client { return strict{on} },
		"a list has one page":                         func(on *enginetest.Temporal) client.Client { return endless{on} },
	} {
		on := &enginetest.Temporal{}
		on.Attributes = namespace.SearchAttributes()
		require.NotEqual(t, enginetest.Recorded(), enginetest.Answers(t, lie(on), "default", "lab"), name)
	}
}
