package workflows

import (
	"go.temporal.io/sdk/workflow"

	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/timer"
)

// untried is whether failed items were to be tried again, and none was: they are listed as
// they were.
func (d *dispatchRun) untried() bool { return d.Memo.Round > 0 && len(d.states) == 0 }

// putBack lists the failed items again that a round did not come to before it ended.
func (d *dispatchRun) putBack(ctx workflow.Context, status timer.DispatchStatus) {
	if d.Memo.Round == 0 || status == timer.DispatchDone {
		return
	}
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue: DispatchQueue, StartToCloseTimeout: tuning.SweepTimeout, HeartbeatTimeout: tuning.SweepSilence,
	})
	var puts []workflow.Future
	for shard, state := range d.states {
		puts = append(puts, workflow.ExecuteActivity(ctx, ActivityPutBack, timer.DispatchShard{
			DispatchID: d.Memo.ID(), Number: shard, Stored: d.shardID(shard), Source: d.sources[shard], Plan: d.Memo.Plan, State: state,
		}))
	}
	for shard, put := range puts {
		var state timer.DispatchState
		if put.Get(ctx, &state) == nil { // tried until it was done
			d.states[shard] = state
		}
	}
}
