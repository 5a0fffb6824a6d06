package dispatches

import (
	"context"
	"slices"
	"sync"
	"time"

	workflowpb "go.temporal.io/api/workflow/v1"
	"golang.org/x/sync/errgroup"

	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/engine/waits"
	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/workflows"
)

// Reader shows dispatches. It needs no worker.
type Reader struct {
	kernel   *kernel.Kernel
	waits    *waits.Waits
	pages    *Pages
	memos    *memoCache
	capacity *capacity
}

// Get returns the state of a dispatch. It needs no worker. The errors are [wire.NotFound]
// and [wire.Unavailable].
func (r *Reader) Get(ctx context.Context, key wire.Key) (dispatch.View, error) {
	view, _, err := r.latest(ctx, key)
	return view, err
}

// latest returns the state of a dispatch, and its run.
func (r *Reader) latest(ctx context.Context, key wire.Key) (view dispatch.View, runID string, err error) {
	ctx, cancel := kernel.Bounded(ctx)
	defer cancel()
	if len(key.Check()) > 0 {
		return view, "", noDispatch()
	}
	described, err := r.kernel.Describe(ctx, workflows.DispatchWorkflowID(key), "")
	if wire.CodeOf(err) == wire.NotFound {
		return view, "", noDispatch()
	}
	if err != nil {
		return view, "", err
	}
	info := described.GetWorkflowExecutionInfo()
	view, err = r.viewOf(ctx, info)
	view.CancelRequested = !view.Status.Finished() && described.GetWorkflowExtendedInfo().GetCancelRequested()
	if err == nil {
		r.capacity.observe(view)
		r.expect(&view)
	}
	return view, info.GetExecution().GetRunId(), err
}

// Read returns the memo of a dispatch, at most half a second old and not read before since. A
// dispatch that has ended is [wire.NotFound].
func (r *Reader) Read(ctx context.Context, key wire.Key, since time.Time) (dispatch.Memo, error) {
	return r.memos.get(key, since, func() (dispatch.Memo, error) {
		ctx, cancel := kernel.Bounded(context.WithoutCancel(ctx))
		defer cancel()
		info, err := r.open(ctx, key)
		if err != nil {
			return dispatch.Memo{}, err
		}
		var memo dispatch.Memo
		err = kernel.ReadMemo(info, workflows.MemoDispatch, "dispatch", &memo)
		return memo, err
	})
}

// awaitEnd waits for the end of a run of a dispatch. Its end is published before: it may still be
// clearing away what it stored.
func (r *Reader) awaitEnd(ctx context.Context, key wire.Key, runID string) {
	ctx, cancel := kernel.Bounded(ctx)
	defer cancel()
	_ = r.kernel.Client.GetWorkflow(ctx, workflows.DispatchWorkflowID(key), runID).Get(ctx, nil) // if it lasts, a start is refused
}

// awaitShards waits for the end of the shards of a run of a dispatch.
func (r *Reader) awaitShards(ctx context.Context, memo dispatch.Memo, runID string) {
	ctx, cancel := kernel.Bounded(ctx)
	defer cancel()
	for {
		shards, err := r.shards(ctx, memo, runID)
		if err != nil || !slices.ContainsFunc(shards, func(s dispatch.ShardState) bool { return s.Begun && !s.Ended }) {
			return
		}
		select {
		case <-time.After(tuning.TaskPoll):
		case <-ctx.Done():
			return
		}
	}
}

// open is the info of a dispatch that has not ended.
func (r *Reader) open(ctx context.Context, key wire.Key) (*workflowpb.WorkflowExecutionInfo, error) {
	described, err := r.kernel.Describe(ctx, workflows.DispatchWorkflowID(key), "")
	if err != nil {
		return nil, err
	}
	if info := described.GetWorkflowExecutionInfo(); kernel.Running(info) {
		return info, nil
	}
	return nil, noDispatch()
}

// view is the state of a dispatch as far as its memo shows it.
func (r *Reader) view(memo dispatch.Memo, runID string) dispatch.View {
	view := memo.View()
	view.Links.WebUI = r.kernel.Link(workflows.DispatchWorkflowID(memo.Order.Key), runID)
	return view
}

// viewOf is the state of a dispatch.
func (r *Reader) viewOf(ctx context.Context, info *workflowpb.WorkflowExecutionInfo) (dispatch.View, error) {
	memo, err := dispatchMemo(info)
	if err != nil {
		return dispatch.View{}, err
	}
	runID := info.GetExecution().GetRunId()
	if memo.EndedUnrecorded() {
		if memo, err = r.recordEnd(ctx, memo, runID); err != nil {
			return dispatch.View{}, err
		}
	}
	view := r.view(memo, runID)
	view.Events = info.GetHistoryLength()
	switch {
	case view.Status.Finished():
		return view, nil
	case view.Status == dispatch.Uploading:
		view.Uploaded, err = r.uploaded(ctx, memo)
		return view, err
	case memo.StartedAt == 0:
		return view, nil
	}
	shards, err := r.shards(ctx, memo, runID)
	if err != nil {
		return dispatch.View{}, err
	}
	holds := r.waits.Holds(ctx, memo.Order.BusinessType)
	return view.Count(memo, shards, holds, time.Now()), nil
}

// dispatchMemo is the memo of a dispatch. A terminated dispatch could not update it.
func dispatchMemo(info *workflowpb.WorkflowExecutionInfo) (memo dispatch.Memo, err error) {
	if info.GetType().GetName() != workflows.TypeDispatch {
		return memo, noDispatch()
	}
	err = kernel.ReadMemo(info, workflows.MemoDispatch, "dispatch", &memo)
	if !kernel.Running(info) && !memo.Status.Finished() {
		memo.Status = dispatch.Cancelled
		if memo.Round > 0 {
			untried := memo.Untried()
			memo.Total = &untried
		}
		if closed := info.GetCloseTime(); closed != nil {
			memo.FinishedAt = wire.At(closed.AsTime())
		}
	}
	return memo, err
}

// recordEnd returns the memo of a terminated dispatch with what its shards had done. Temporal
// keeps their last heartbeats.
func (r *Reader) recordEnd(ctx context.Context, memo dispatch.Memo, runID string) (dispatch.Memo, error) {
	shards, err := r.shards(ctx, memo, runID)
	memo = memo.WithEnd(shards)
	memo.Failed = givenUp(memo, shards)
	return memo, err
}

// shards are the states of the shards of a dispatch that began. runID is its run.
func (r *Reader) shards(ctx context.Context, memo dispatch.Memo, runID string) ([]dispatch.ShardState, error) {
	states := make([]dispatch.ShardState, memo.Shards)
	var group errgroup.Group
	group.SetLimit(tuning.ShardReads)
	var mu sync.Mutex
	for shard := range states {
		group.Go(func() error {
			state, err := r.shard(ctx, memo, runID, shard)
			mu.Lock()
			defer mu.Unlock()
			states[shard] = state
			return err
		})
	}
	return states, group.Wait()
}

// shard is the progress of a shard: from its executor's last heartbeat, or from its workflow. A
// shard of an earlier dispatch with the same id is none of this one.
func (r *Reader) shard(ctx context.Context, memo dispatch.Memo, runID string, number int) (dispatch.ShardState, error) {
	state := dispatch.ShardState{Shard: number}
	described, err := r.kernel.Describe(ctx, workflows.DispatchShardID(memo.ID(), memo.Round, number), "")
	if wire.CodeOf(err) == wire.NotFound {
		return state, nil // it has not begun
	}
	if err != nil {
		return state, err
	}
	info := described.GetWorkflowExecutionInfo()
	if by := info.GetParentExecution(); by != nil && by.GetRunId() != runID {
		return state, nil
	}
	state.Begun, state.Ended = true, !kernel.Running(info)
	if info.GetMemo().GetFields()[workflows.MemoShard] != nil {
		if err := kernel.ReadMemo(info, workflows.MemoShard, "shard", &state.State); err != nil {
			return state, err
		}
	}
	for _, pending := range described.GetPendingActivities() {
		state.Unclaimed = kernel.Unclaimed(pending, time.Now())
		var last dispatch.State
		if pending.GetHeartbeatDetails() != nil && kernel.Payloads.FromPayloads(pending.GetHeartbeatDetails(), &last) == nil {
			state.State = last
		}
	}
	return state, nil
}

// uploaded is the number of stored items of the latest upload. It stores its pages in order, so
// the last one is found by bisection.
func (r *Reader) uploaded(ctx context.Context, memo dispatch.Memo) (items int, err error) {
	head, err := r.pages.head(ctx, workflows.DispatchUploads(memo))
	if err != nil || head.latest() == "" {
		return 0, err
	}
	last, missing := 0, 0 // missing is the first page that is known to be missing; 0 for none yet
	for missing == 0 || missing-last > 1 {
		number := max(2*last, 1)
		if missing != 0 {
			number = (last + missing) / 2
		}
		switch _, stored, err := r.pages.findMemo(ctx, head.page(number)); {
		case err != nil:
			return 0, err
		case stored:
			last = number
		default:
			missing = number
		}
	}
	page, _, err := r.pages.findMemo(ctx, head.page(last))
	return page.Through, err
}
