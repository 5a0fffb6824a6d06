package stats

import (
	"context"
	"slices"

	workflowpb "go.temporal.io/api/workflow/v1"

	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/engine/query"
	"github.com/wakecall/wakecall/engine/visibility"
	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/workflows"
)

// eachRedelivered visits each failed run whose timer was tried again. Temporal deletes such a run before
// its redelivery, so the redeliveries say only where to look.
func (c *groupCounter) eachRedelivered(ctx context.Context, visit func(*workflowpb.WorkflowExecutionInfo)) error {
	latest := map[string]int{} // the last round of a booking
	var workflowIDs []string
	err := c.eachRun(ctx, groups[redelivered], func(info *workflowpb.WorkflowExecutionInfo) {
		workflowIDs = append(workflowIDs, info.GetExecution().GetWorkflowId())
		memo := memoOf(info)
		latest[memo.Booking] = max(latest[memo.Booking], memo.Round)
	})
	if err != nil {
		return err
	}
	slices.Sort(workflowIDs)
	for ids := range slices.Chunk(slices.Compact(workflowIDs), tuning.IDsPerQuery) {
		failed := query.All(visibility.Timers(), query.WorkflowID.In(ids), query.Status(visibility.Failed, visibility.TimedOut))
		err := c.eachRun(ctx, failed, func(info *workflowpb.WorkflowExecutionInfo) {
			if memo := memoOf(info); memo.Round < latest[memo.Booking] {
				visit(info)
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// eachRun visits the runs that a query selects.
func (c *groupCounter) eachRun(ctx context.Context, q query.Query, visit func(*workflowpb.WorkflowExecutionInfo)) error {
	return c.kernel.EachPage(ctx, q, func(page []*workflowpb.WorkflowExecutionInfo) error {
		for _, info := range page {
			visit(info)
		}
		return nil
	})
}

// memoOf is the memo of a timer's run, the zero one if it cannot be read.
func memoOf(info *workflowpb.WorkflowExecutionInfo) (memo timer.Memo) {
	if kernel.ReadMemo(info, workflows.MemoTimer, "timer", &memo) != nil {
		return timer.Memo{}
	}
	return memo
}
