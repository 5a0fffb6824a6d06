package workflows

import (
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/tuning"
)

// ShardNews is a shard's message to its dispatch.
type ShardNews struct {
	Shard int `json:"shard"`
	// Active reports whether it has something to send now.
	Active bool            `json:"active,omitzero"`
	Counts dispatch.Counts `json:"counts"`
}

// DispatchShard has the items of one shard sent, run by run, by any free worker. Its result
// is the shard's progress, also after a cancel.
func DispatchShard(ctx workflow.Context, shard dispatch.Shard) (dispatch.State, error) {
	s := &shardRun{Shard: shard, plans: workflow.GetSignalChannel(ctx, SignalPlan)}
	for {
		end, err := s.runShard(ctx)
		switch {
		case err != nil:
			return s.State, err
		case end.End == dispatch.RunPaused:
			s.awaitResume(ctx)
		case end.End == dispatch.RunWaits:
			s.awaitRetry(ctx, end.WakeAt)
		case end.End != dispatch.RunYielded:
			return s.State, nil
		}
		if ctx.Err() != nil {
			return s.State, nil
		}
		if workflow.GetInfo(ctx).GetContinueAsNewSuggested() {
			s.drainPlans() // the next run would not get them
			return s.State, workflow.NewContinueAsNewError(ctx, TypeDispatchShard, s.Shard)
		}
	}
}

type shardRun struct {
	dispatch.Shard
	plans workflow.ReceiveChannel
}

// runShard sends until the executor reports an end. If its worker dies, another continues
// from the last heartbeat.
func (s *shardRun) runShard(ctx workflow.Context) (end dispatch.ShardRunResult, err error) {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue: DispatchQueue, StartToCloseTimeout: tuning.ShardRunLimit, HeartbeatTimeout: DispatchHeartbeatTimeout(s.Plan),
		WaitForCancellation: true, Priority: temporal.Priority{FairnessKey: s.BusinessType},
		RetryPolicy: &temporal.RetryPolicy{
			InitialInterval: tuning.DispatchRetryFirst, BackoffCoefficient: 2, MaximumInterval: tuning.DispatchRetryLongest,
		},
	})
	last, err := executeWithProgress[dispatch.State](ctx, ActivityDispatch, s.Shard, &end)
	if temporal.IsCanceledError(err) || (err != nil && ctx.Err() != nil) { // no other worker continues it
		if last != nil {
			s.State = *last
		}
		return dispatch.ShardRunResult{End: dispatch.RunCancelled}, nil
	}
	if err == nil {
		s.State = end.State
		if end.Plan.Changes >= s.Plan.Changes { // a plan from the memo may be older than one from a signal
			s.Plan = end.Plan
		}
		err = workflow.UpsertMemo(ctx, map[string]any{MemoShard: s.State})
	}
	return end, err
}

// DispatchHeartbeatTimeout is how long the executor of a shard may be silent before another
// worker continues in its place. It is short at a high rate, so that no gap in the items
// shows. It is long at a low rate, so that heartbeats cost little.
func DispatchHeartbeatTimeout(plan dispatch.Plan) time.Duration {
	return max(3*DispatchHeartbeat(plan), tuning.DispatchSilence)
}

// DispatchHeartbeat is the time between two heartbeats of the executor of a shard.
func DispatchHeartbeat(plan dispatch.Plan) time.Duration {
	each := plan.PerSecond / float64(max(len(plan.Active), 1))
	items := time.Duration(tuning.DispatchBeatItems / each * float64(time.Second))
	return min(max(items, tuning.DispatchBeat), tuning.DispatchLongestBeat)
}

// drainPlans takes the plans that have arrived.
func (s *shardRun) drainPlans() {
	var next dispatch.Plan
	for s.plans.ReceiveAsync(&next) {
		if next.Changes > s.Plan.Changes {
			s.Plan = next
		}
		next = dispatch.Plan{}
	}
}

// awaitResume waits for a plan newer than the one that stopped the shard.
func (s *shardRun) awaitResume(ctx workflow.Context) {
	s.notifyDispatch(ctx, true)
	for s.Plan.Paused && ctx.Err() == nil {
		var next dispatch.Plan
		workflow.NewSelector(ctx).
			AddReceive(s.plans, func(plans workflow.ReceiveChannel, _ bool) { plans.Receive(ctx, &next) }).
			AddReceive(ctx.Done(), func(workflow.ReceiveChannel, bool) {}).
			Select(ctx)
		if next.Changes > s.Plan.Changes {
			s.Plan = next
		}
	}
}

// awaitRetry waits until the next item is due again. Meanwhile the other shards have its
// share of the rate, if the dispatch can be notified.
func (s *shardRun) awaitRetry(ctx workflow.Context, until wire.Instant) {
	quiet := s.Plan.Quiet
	if !quiet {
		s.notifyDispatch(ctx, false)
	}
	wait := workflow.NewTimerWithOptions(ctx, max(until.Until(workflow.Now(ctx)), 0), workflow.TimerOptions{Summary: "the next attempt"})
	_ = wait.Get(ctx, nil) // ends early after a cancel
	if !quiet {
		s.notifyDispatch(ctx, true)
	}
}

// notifyDispatch sends the shard's progress to the dispatch. A dispatch that has ended does
// not receive it.
func (s *shardRun) notifyDispatch(ctx workflow.Context, active bool) {
	parent := workflow.GetInfo(ctx).ParentWorkflowExecution
	if parent == nil {
		return
	}
	news := ShardNews{Shard: s.Number, Active: active, Counts: s.State.Counts}
	_ = workflow.SignalExternalWorkflow(ctx, parent.ID, parent.RunID, SignalShard, news).Get(ctx, nil)
}
