package engine

import (
	"context"
	"sync"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"golang.org/x/sync/errgroup"

	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/timer"
	"github.com/wakecall/wakecall/workflows"
)

// Get returns a dispatch as it stands. It needs no worker. Its errors are [timer.NotFound]
// and [timer.Unavailable].
func (d *Dispatches) Get(ctx context.Context, key timer.Key) (timer.DispatchView, error) {
	view, _, err := d.latest(ctx, key)
	return view, err
}

// latest returns a dispatch as it stands, and its run.
func (d *Dispatches) latest(ctx context.Context, key timer.Key) (view timer.DispatchView, runID string, err error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	if len(key.Check()) > 0 {
		return view, "", noDispatch()
	}
	described, err := d.describe(ctx, workflows.DispatchWorkflowID(key), "")
	if timer.CodeOf(err) == timer.NotFound {
		return view, "", noDispatch()
	}
	if err != nil {
		return view, "", err
	}
	info := described.GetWorkflowExecutionInfo()
	view, err = d.viewOf(ctx, info)
	view.CancelRequested = !view.Status.Finished() && described.GetWorkflowExtendedInfo().GetCancelRequested()
	if err == nil {
		d.capacity.learn(view)
		d.expect(&view)
	}
	return view, info.GetExecution().GetRunId(), err
}

// open is the info of a dispatch that has not ended.
func (d *Dispatches) open(ctx context.Context, key timer.Key) (*workflowpb.WorkflowExecutionInfo, error) {
	described, err := d.describe(ctx, workflows.DispatchWorkflowID(key), "")
	if err != nil {
		return nil, err
	}
	if info := described.GetWorkflowExecutionInfo(); running(info) {
		return info, nil
	}
	return nil, noDispatch()
}

// view is what can be told of a dispatch from its memo.
func (d *Dispatches) view(memo timer.DispatchMemo, runID string) timer.DispatchView {
	view := memo.View()
	view.Links.WebUI = d.link(workflows.DispatchWorkflowID(memo.Order.Key), runID)
	return view
}

// viewOf is a dispatch as it stands.
func (d *Dispatches) viewOf(ctx context.Context, info *workflowpb.WorkflowExecutionInfo) (timer.DispatchView, error) {
	memo, err := dispatchMemo(info)
	if err != nil {
		return timer.DispatchView{}, err
	}
	view := d.view(memo, info.GetExecution().GetRunId())
	view.Events = info.GetHistoryLength()
	switch {
	case view.Status.Finished():
		return view, nil
	case view.Status == timer.DispatchUploading:
		view.Uploaded, err = d.uploaded(ctx, memo)
		return view, err
	case memo.StartedAt == 0:
		return view, nil
	}
	shards, err := d.shards(ctx, memo)
	if err != nil {
		return timer.DispatchView{}, err
	}
	holds := d.waits.of(ctx, memo.Order.BusinessType)
	return view.Count(memo, shards, holds, time.Now()), nil
}

// dispatchMemo is what a dispatch says of itself. One that was terminated could not say so.
func dispatchMemo(info *workflowpb.WorkflowExecutionInfo) (memo timer.DispatchMemo, err error) {
	if info.GetType().GetName() != workflows.TypeDispatch {
		return memo, noDispatch()
	}
	err = readMemo(info, workflows.MemoDispatch, "dispatch", &memo)
	if !running(info) && !memo.Status.Finished() {
		memo.Status = timer.DispatchCancelled
		if memo.Round > 0 {
			untried := memo.Untried()
			memo.Total = &untried
		}
		if closed := info.GetCloseTime(); closed != nil {
			memo.FinishedAt = timer.At(closed.AsTime())
		}
	}
	return memo, err
}

// shards are the shards of a dispatch that runs, as they stand.
func (d *Dispatches) shards(ctx context.Context, memo timer.DispatchMemo) ([]timer.DispatchShardState, error) {
	states := make([]timer.DispatchShardState, memo.Shards)
	var group errgroup.Group
	group.SetLimit(tuning.ShardReads)
	var mu sync.Mutex
	for shard := range states {
		group.Go(func() error {
			state, err := d.shard(ctx, memo, shard)
			mu.Lock()
			defer mu.Unlock()
			states[shard] = state
			return err
		})
	}
	return states, group.Wait()
}

// shard is how far a shard is: what its executor last said, or what its workflow has
// recorded.
func (d *Dispatches) shard(ctx context.Context, memo timer.DispatchMemo, number int) (timer.DispatchShardState, error) {
	state := timer.DispatchShardState{Shard: number}
	described, err := d.describe(ctx, workflows.DispatchShardID(memo.ID(), memo.Round, number), "")
	if timer.CodeOf(err) == timer.NotFound {
		return state, nil // it has not begun
	}
	if err != nil {
		return state, err
	}
	info := described.GetWorkflowExecutionInfo()
	state.Begun, state.Ended = true, !running(info)
	if info.GetMemo().GetFields()[workflows.MemoShard] != nil {
		if err := readMemo(info, workflows.MemoShard, "shard", &state.State); err != nil {
			return state, err
		}
	}
	for _, pending := range described.GetPendingActivities() {
		state.Unclaimed = unclaimed(pending, time.Now())
		var last timer.DispatchState
		if pending.GetHeartbeatDetails() != nil && payloads.FromPayloads(pending.GetHeartbeatDetails(), &last) == nil {
			state.State = last
		}
	}
	return state, nil
}

// unclaimed is since when no worker has taken an activity; zero where it is not for long.
func unclaimed(pending *workflowpb.PendingActivityInfo, now time.Time) timer.Instant {
	since := pending.GetScheduledTime().AsTime()
	if pending.GetState() != enumspb.PENDING_ACTIVITY_STATE_SCHEDULED || now.Sub(since) <= tuning.TakenWithin {
		return 0
	}
	return timer.At(since)
}
