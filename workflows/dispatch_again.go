package workflows

import (
	"go.temporal.io/sdk/workflow"

	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/internal/tuning"
)

// noneRetried reports whether failed items were to be tried again and none was. They stay
// listed.
func (d *dispatchRun) noneRetried() bool { return d.Memo.Round > 0 && len(d.states) == 0 }

// putBackItems lists the failed items again that a round did not reach before it ended.
func (d *dispatchRun) putBackItems(ctx workflow.Context, status dispatch.Status) {
	if d.Memo.Round == 0 || status == dispatch.Done {
		return
	}
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue: DispatchQueue, StartToCloseTimeout: tuning.SweepTimeout, HeartbeatTimeout: tuning.SweepSilence,
	})
	var puts []workflow.Future
	for shard, state := range d.states {
		puts = append(puts, workflow.ExecuteActivity(ctx, ActivityPutBack, dispatch.Shard{
			ID: d.Memo.ID(), Number: shard, Stored: d.pagesOf(shard), Source: d.sources[shard], Plan: d.Memo.Plan, State: state,
		}))
	}
	for shard, put := range puts {
		var state dispatch.State
		if put.Get(ctx, &state) == nil { // retried until done
			d.states[shard] = state
		}
	}
}
