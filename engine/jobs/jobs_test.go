package jobs

import (
	"testing"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/wakecall/wakecall/core/job"
	"github.com/wakecall/wakecall/engine/enginetest"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/engine/visibility"
	"github.com/wakecall/wakecall/workflows"
)

// A job that was told to stop says so while it runs.
func TestAJobShowsItsPendingStop(t *testing.T) {
	t.Parallel()
	memo, err := kernel.Payloads.ToPayload(job.Bulk{ID: "j", Operation: job.Cancel})
	require.NoError(t, err)
	for _, requested := range []bool{false, true} {
		on := &enginetest.Temporal{}
		on.Put(t, &workflowservice.DescribeWorkflowExecutionResponse{
			WorkflowExecutionInfo: &workflowpb.WorkflowExecutionInfo{
				Execution: &commonpb.WorkflowExecution{WorkflowId: workflows.BulkJob.WorkflowID("j"), RunId: "run"},
				Status:    visibility.Running, Type: &commonpb.WorkflowType{Name: workflows.BulkJob.Workflow},
				Memo: &commonpb.Memo{Fields: map[string]*commonpb.Payload{workflows.BulkJob.Memo: memo}},
			},
			WorkflowExtendedInfo: &workflowpb.WorkflowExecutionExtendedInfo{CancelRequested: requested},
		})
		j, err := New[job.Bulk, job.BulkProgress](&kernel.Kernel{Client: on}, Kind[job.Bulk]{JobKind: workflows.BulkJob, Noun: BulkNoun, Named: func(string) bool { return true }}).Get(t.Context(), "j")
		require.NoError(t, err)
		require.Equal(t, job.Running, j.Status)
		require.Equal(t, requested, j.CancelRequested)
	}
}
