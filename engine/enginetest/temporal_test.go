package enginetest_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/enginetest"
	"github.com/wakecall/wakecall/engine/query"
	"github.com/wakecall/wakecall/engine/visibility"
	"github.com/wakecall/wakecall/internal/errtype"
	"github.com/wakecall/wakecall/workflows"
)

func started(t *testing.T, on *enginetest.Temporal, id, state string) client.WorkflowRun {
	t.Helper()
	run, err := on.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{
		ID: id, WorkflowExecutionErrorWhenAlreadyStarted: true,
		WorkflowIDReusePolicy: enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE_FAILED_ONLY,
		TypedSearchAttributes: temporal.NewSearchAttributes(workflows.AttrState.ValueSet(state), workflows.AttrBusinessType.ValueSet("order")),
	}, workflows.TypeTimer)
	require.NoError(t, err)
	return run
}

// An id is taken while its run is open, and after it was completed.
func TestIDsAreTaken(t *testing.T) {
	t.Parallel()
	on := &enginetest.Temporal{}
	again := func() error {
		_, err := on.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{
			ID: "order/1", WorkflowExecutionErrorWhenAlreadyStarted: true,
			WorkflowIDReusePolicy: enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE_FAILED_ONLY,
		}, workflows.TypeTimer)
		return err
	}
	started(t, on, "order/1", "")
	require.True(t, errtype.Is[*serviceerror.WorkflowExecutionAlreadyStarted](again()))
	enginetest.Worker{On: on}.Fail("order/1")
	require.NoError(t, again())
	enginetest.Worker{On: on}.Deliver("order/1")
	require.True(t, errtype.Is[*serviceerror.WorkflowExecutionAlreadyStarted](again()))
	require.Equal(t, 2, on.RunsOf("order/1"))
}

// Each condition selects the matching runs only.
func TestConditions(t *testing.T) {
	t.Parallel()
	on := &enginetest.Temporal{}
	started(t, on, "order/open", "delivering")
	started(t, on, "order/done", "")
	enginetest.Worker{On: on}.Deliver("order/done")
	now := wire.At(time.Now())
	for _, c := range []struct {
		query query.Query
		found int
	}{
		{query.Query{}, 2},
		{visibility.Timers(), 2},
		{visibility.OpenTimers("order"), 1},
		{visibility.OpenTimers("invoice"), 0},
		{visibility.Retrying(), 1},
		{query.Status(visibility.Completed, visibility.Failed), 1},
		{query.NotStatus(visibility.Completed), 1},
		{query.WorkflowID.Begins("order/d"), 1},
		{query.WorkflowID.In([]string{"order/open", "order/x"}), 1},
		{query.Either(visibility.State.Is("delivering"), visibility.State.Is("paused")), 1},
		{query.Keyword("Unknown").Missing(), 2},
		{query.CloseTime.From(now.Add(-time.Minute)), 1},
		{query.CloseTime.Before(now.Add(-time.Minute)), 0},
		{query.StartTime.To(now.Add(time.Minute)), 2},
	} {
		counted, err := on.CountWorkflow(t.Context(), &workflowservice.CountWorkflowExecutionsRequest{Query: c.query.String()})
		require.NoError(t, err)
		require.Equal(t, int64(c.found), counted.GetCount(), c.query.String())
	}
	require.Panics(t, func() {
		_, _ = on.CountWorkflow(t.Context(), &workflowservice.CountWorkflowExecutionsRequest{Query: "Mood LIKE 'x'"})
	}, "what it does not know it does not guess")
}

func TestAPageFollowsAnother(t *testing.T) {
	t.Parallel()
	on := &enginetest.Temporal{}
	for _, id := range []string{"order/1", "order/2", "order/3"} {
		started(t, on, id, "")
	}
	first, err := on.ListWorkflow(t.Context(), &workflowservice.ListWorkflowExecutionsRequest{PageSize: 2})
	require.NoError(t, err)
	require.Len(t, first.GetExecutions(), 2)
	rest, err := on.ListWorkflow(t.Context(), &workflowservice.ListWorkflowExecutionsRequest{PageSize: 2, NextPageToken: first.GetNextPageToken()})
	require.NoError(t, err)
	require.Len(t, rest.GetExecutions(), 1)
	require.Empty(t, rest.GetNextPageToken())
}

// A caller that waits for a run gets its result.
func TestAnEndIsWaitedFor(t *testing.T) {
	t.Parallel()
	on := &enginetest.Temporal{}
	run := started(t, on, "order/1", "")
	history := on.GetWorkflowHistory(t.Context(), "order/1", "", true, enumspb.HISTORY_EVENT_FILTER_TYPE_CLOSE_EVENT)
	go enginetest.Worker{On: on}.Fail("order/1")
	event, err := history.Next()
	require.NoError(t, err)
	require.Equal(t, enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_FAILED, event.GetEventType())
	require.True(t, errtype.Is[*temporal.ApplicationError](run.Get(t.Context(), nil)))

	require.True(t, errtype.Is[*serviceerror.NotFound](on.SignalWorkflow(t.Context(), "order/1", "", "x", nil)), "it is closed")
	on.Err = errors.New("down")
	require.ErrorIs(t, on.SignalWorkflow(t.Context(), "order/1", "", "x", nil), on.Err)
}
