package embedded

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
)

// attach attaches a request id to the run with a workflow id.
func (l *lab) attach(workflowID, requestID string) error {
	_, err := l.WorkflowService().StartWorkflowExecution(l.context(), &workflowservice.StartWorkflowExecutionRequest{
		Namespace: client.DefaultNamespace, WorkflowId: workflowID, RequestId: requestID,
		WorkflowType: &commonpb.WorkflowType{Name: "wake"}, TaskQueue: &taskqueuepb.TaskQueue{Name: l.queue},
		WorkflowIdConflictPolicy: enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
		WorkflowIdReusePolicy:    enumspb.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE,
		OnConflictOptions:        &workflowpb.OnConflictOptions{AttachRequestId: true},
	})
	return err
}

func (l *lab) describe(run client.WorkflowRun) *workflowservice.DescribeWorkflowExecutionResponse {
	l.t.Helper()
	described, err := l.DescribeWorkflowExecution(l.context(), run.GetID(), run.GetRunID())
	require.NoError(l.t, err)
	return described
}

// A request id that is attached to a run shows at once, also while a worker has its task; a
// signal does not. It neither wakes nor ends a start delay (0002).
func TestTemporalAttachedRequestIDs(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	begun, goOn := make(chan struct{}), make(chan struct{})
	var once sync.Once                                                                                         // it is called again when its task's end collides with a buffered event
	wait := func(context.Context) (string, error) { once.Do(func() { close(begun) }); <-goOn; return "", nil } //nolint:unparam // an activity's signature
	busy := func(ctx workflow.Context) error {
		ctx = workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{StartToCloseTimeout: longTask})
		return workflow.ExecuteLocalActivity(ctx, wait).Get(ctx, nil)
	}
	l.work(func(w worker.Registry) { w.RegisterWorkflowWithOptions(busy, workflow.RegisterOptions{Name: "busy"}) })
	options := l.after("busy", 0)
	run, err := l.ExecuteWorkflow(t.Context(), options, "busy")
	require.NoError(t, err)
	<-begun
	before := len(l.describe(run).GetWorkflowExtendedInfo().GetRequestIdInfos())
	require.NoError(t, l.SignalWorkflow(t.Context(), run.GetID(), "", poke, nil))
	require.Len(t, l.describe(run).GetWorkflowExtendedInfo().GetRequestIdInfos(), before, "a signal is buffered out of sight")
	require.NoError(t, l.attach(run.GetID(), "mark"))
	require.NoError(t, l.attach(run.GetID(), "mark"), "it may be repeated")
	mark := l.describe(run).GetWorkflowExtendedInfo().GetRequestIdInfos()["mark"]
	require.NotNil(t, mark)
	require.True(t, mark.GetBuffered())
	close(goOn)
	require.NoError(t, run.Get(l.context(), nil))
	require.ErrorAs(t, l.attach(run.GetID(), "late"), new(*serviceerror.WorkflowExecutionAlreadyStarted), "a closed run takes none")

	cold := l.startCold("cold")
	require.NoError(t, l.attach(cold.GetID(), "mark"))
	described := l.describe(cold)
	require.Nil(t, described.GetPendingWorkflowTask())
	require.Contains(t, described.GetWorkflowExtendedInfo().GetRequestIdInfos(), "mark")
	require.NoError(t, l.TerminateWorkflow(t.Context(), cold.GetID(), "", "test"))
}

// longTask is below the task timeout of the lab.
const longTask = 30 * time.Second

// A cancel that names the first run of a chain reaches no other chain under the same id, and
// a run remembers only one cancel.
func TestTemporalCancelOfAChain(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	first := l.startCold("chain")
	require.NoError(t, l.TerminateWorkflow(t.Context(), first.GetID(), "", "test"))
	second := l.startCold("chain")
	request := func(firstRun, reason string) error {
		_, err := l.WorkflowService().RequestCancelWorkflowExecution(l.context(), &workflowservice.RequestCancelWorkflowExecutionRequest{
			Namespace: client.DefaultNamespace, WorkflowExecution: &commonpb.WorkflowExecution{WorkflowId: second.GetID()},
			FirstExecutionRunId: firstRun, Reason: reason,
		})
		return err
	}
	require.ErrorAs(t, request(first.GetRunID(), "late"), new(*serviceerror.NotFound))
	require.False(t, l.describe(second).GetWorkflowExtendedInfo().GetCancelRequested())
	require.NoError(t, request(second.GetRunID(), "one"))
	length := l.describe(second).GetWorkflowExecutionInfo().GetHistoryLength()
	require.NoError(t, request(second.GetRunID(), "two"))
	require.Equal(t, length, l.describe(second).GetWorkflowExecutionInfo().GetHistoryLength(), "the second one is dropped in silence")
	require.NoError(t, l.TerminateWorkflow(t.Context(), second.GetID(), "", "test"))
}
