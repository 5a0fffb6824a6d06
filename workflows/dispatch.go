package workflows

import (
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/tuning"
)

// DispatchInput is the input of the workflow of a dispatch.
type DispatchInput struct {
	Memo dispatch.Memo `json:"memo"`
	DispatchCommit
}

// DispatchCommit reports that all items of a dispatch are stored, and where.
type DispatchCommit struct {
	Parts []dispatch.Part `json:"parts,omitempty"`
	// Sizes are the numbers of items per page.
	Sizes []int `json:"sizes,omitempty"`
	// Upload names the upload to commit. The first commit wins.
	Upload string `json:"upload,omitzero"`
}

// size is the number of stored items.
func (in DispatchInput) size() (items int) {
	for _, size := range in.Sizes {
		items += size
	}
	return items
}

// Dispatch is the life of a dispatch. It waits until its items are stored and it is due. It
// splits them into shards, each a workflow, and shows their common plan in its memo. It ends
// Canceled when cancelled and fails when incomplete, so that its id is free again.
func Dispatch(ctx workflow.Context, in DispatchInput) error {
	d := &dispatchRun{DispatchInput: in, running: map[int]workflow.ChildWorkflowFuture{}, incomplete: len(in.Memo.Stopped) > 0}
	workflow.Go(ctx, d.receiveChanges)
	workflow.Go(ctx, d.receiveShardNews)
	workflow.Go(ctx, d.receiveProgress)
	status := d.awaitItems(ctx)
	if status == "" {
		status = d.awaitDue(ctx)
	}
	if status == "" {
		status = d.runShards(ctx)
	}
	return d.finish(ctx, status)
}

// dispatchRun is the state of a run of a dispatch.
type dispatchRun struct {
	DispatchInput
	// sources are those of all shards. The first next of them have begun.
	sources []dispatch.Source
	next    int
	running map[int]workflow.ChildWorkflowFuture
	states  []dispatch.State
	// idle are running shards with nothing to send.
	idle map[int]bool
	// progress is the progress as last reported.
	progress dispatch.Counts
	// incomplete reports whether a shard was stopped.
	incomplete, stopping bool
	// pausedAt is when it was paused last.
	pausedAt time.Time
	// ruleEnded reports whether the rule ended during the pause.
	ruleEnded bool
	shards    workflow.Context
}

// upsertMemo publishes the state of the dispatch in its memo.
func (d *dispatchRun) upsertMemo(ctx workflow.Context) {
	_ = workflow.UpsertMemo(ctx, map[string]any{MemoDispatch: d.Memo}) // fails only for a value that cannot be encoded
	workflow.SetCurrentDetails(ctx, d.details())
}

// receiveChanges takes changes while the dispatch lives.
func (d *dispatchRun) receiveChanges(ctx workflow.Context) {
	changes := workflow.GetSignalChannel(ctx, SignalChange)
	for {
		var change dispatch.Change
		changes.Receive(ctx, &change)
		d.applyChange(ctx, change)
	}
}

// applyChange applies a change that a gateway has checked. A signal sent by hand may say anything:
// at a rate of 0 a dispatch would end without an item.
func (d *dispatchRun) applyChange(ctx workflow.Context, change dispatch.Change) {
	if err := change.Check().Err(); err != nil {
		workflow.GetLogger(ctx).Warn("A change is refused", "error", err)
		return
	}
	plan := &d.Memo.Plan
	plan.Changes++
	if change.PerSecond != nil {
		plan.PerSecond = *change.PerSecond
	}
	if change.Paused != nil && *change.Paused != plan.Paused {
		plan.Paused = *change.Paused
		d.applyPause(ctx)
	}
	d.upsertMemo(ctx)
}

// applyPause stops or resumes. The shards see a pause by themselves, but the dispatch must
// signal its end.
func (d *dispatchRun) applyPause(ctx workflow.Context) {
	if d.Memo.Status == dispatch.Uploading || d.Memo.Status.Finished() {
		return
	}
	if d.Memo.Plan.Paused {
		d.Memo.Status, d.pausedAt = dispatch.Paused, workflow.Now(ctx)
		if d.Memo.StartedAt != 0 {
			d.Memo.RecordPause(wire.At(d.pausedAt))
		}
		return
	}
	if d.Memo.StartedAt == 0 {
		next, ok := d.Memo.Resumed(wire.At(workflow.Now(ctx)))
		d.Memo, d.ruleEnded = next, !ok
		return
	}
	d.Memo.Status = dispatch.Running
	d.Memo.Release(wire.At(workflow.Now(ctx).Add(tuning.DispatchLead)))
	d.Memo.Plan.WarmUp = 0
	for shard := range d.next {
		if child, ok := d.running[shard]; ok {
			child.SignalChildWorkflow(ctx, SignalPlan, d.Memo.Plan)
		}
	}
}

// awaitItems waits until all items are stored. It returns the end status if the upload
// fails.
func (d *dispatchRun) awaitItems(ctx workflow.Context) dispatch.Status {
	stored, commit := workflow.GetSignalChannel(ctx, SignalStored), workflow.GetSignalChannel(ctx, SignalCommit)
	for d.Memo.Status == dispatch.Uploading {
		committed := commit.ReceiveAsync(&d.DispatchCommit)
		if committed {
			d.applyCommit(ctx)
			break
		}
		ok, err := workflow.AwaitWithTimeout(ctx, tuning.DispatchUploadLife, func() bool { return stored.Len() > 0 || commit.Len() > 0 })
		switch {
		case err != nil:
			return dispatch.Cancelled
		case !ok:
			return dispatch.Failed
		}
		for stored.ReceiveAsync(nil) { // each gives it more time
		}
	}
	return ""
}

func (d *dispatchRun) applyCommit(ctx workflow.Context) {
	items := d.size()
	d.Memo.Items, d.Memo.Upload, d.Memo.Status = &items, d.Upload, dispatch.Scheduled
	if d.Memo.Plan.Paused {
		d.Memo.Status = dispatch.Paused
	}
	d.upsertMemo(ctx)
}

// awaitDue waits until the dispatch is due and not paused. It returns the end status of a
// dispatch that never begins.
func (d *dispatchRun) awaitDue(ctx workflow.Context) dispatch.Status {
	for {
		if d.ruleEnded {
			return dispatch.Expired
		}
		if wait := d.Memo.BeginsAt().Until(workflow.Now(ctx)); wait > 0 {
			if err := workflow.Sleep(ctx, wait); err != nil {
				return dispatch.Cancelled
			}
			continue
		}
		if !d.Memo.Plan.Paused {
			return ""
		}
		// Resumed, a recurring one may be due later.
		if status := d.awaitOrExpire(ctx, func() bool { return !d.Memo.Plan.Paused }); status != "" {
			return status
		}
	}
}

// awaitOrExpire waits for a condition. It returns the end status if a cancel or the latest
// time comes first.
func (d *dispatchRun) awaitOrExpire(ctx workflow.Context, condition func() bool) dispatch.Status {
	latest := d.Memo.Order.LatestAt
	if latest == nil {
		if workflow.Await(ctx, condition) != nil {
			return dispatch.Cancelled
		}
		return ""
	}
	ok, err := workflow.AwaitWithTimeout(ctx, max(latest.Until(workflow.Now(ctx)), 0), condition)
	switch {
	case err != nil:
		return dispatch.Cancelled
	case !ok:
		return dispatch.Expired
	}
	return ""
}

// finish publishes the end of the dispatch, deletes what it stored, and starts its next
// occurrence if there is one.
func (d *dispatchRun) finish(ctx workflow.Context, status dispatch.Status) error {
	last, _ := workflow.NewDisconnectedContext(ctx)
	d.putBackItems(last, status)
	now := wire.At(workflow.Now(ctx))
	total := d.total()
	d.Memo.Status, d.Memo.FinishedAt, d.Memo.Total, d.Memo.Plan.Active = status, now, &total, nil
	d.Memo.Failed, d.Memo.Behind = d.failedParts(), dispatch.LongestBehind(d.states)
	d.Memo.Stopped = append(d.Memo.Stopped, incompleteShards(d.states)...)
	if next, again := d.Memo.NextOccurrence(now); again && status != dispatch.Cancelled {
		sweep := d.cleanup(false)
		d.Memo, d.states, d.progress = next, nil, dispatch.Counts{}
		d.upsertMemo(last)
		d.runCleanup(last, sweep)
		return d.continueAsNew(ctx)
	}
	d.upsertMemo(last)
	d.runCleanup(last, d.cleanup(true))
	if status == dispatch.Cancelled {
		return temporal.NewCanceledError()
	}
	if status == dispatch.Failed {
		return temporal.NewNonRetryableApplicationError("the dispatch is not complete", ErrorFailed, nil)
	}
	return nil
}

// continueAsNew starts the next occurrence, unless the dispatch was cancelled, or resumed after
// its rule had ended. It first applies the changes that have arrived: the next run would not get
// them.
func (d *dispatchRun) continueAsNew(ctx workflow.Context) error {
	changes := workflow.GetSignalChannel(ctx, SignalChange)
	_ = workflow.Await(ctx, func() bool { return changes.Len() == 0 }) // ends early after a cancel
	switch {
	case ctx.Err() != nil:
		return d.finish(ctx, dispatch.Cancelled)
	case d.ruleEnded:
		return d.finish(ctx, dispatch.Expired)
	}
	return workflow.NewContinueAsNewError(ctx, TypeDispatch, d.DispatchInput)
}

// cleanup lists what was stored and is no longer needed. all reports whether that includes
// the items.
func (d *dispatchRun) cleanup(all bool) (sweep dispatch.Cleanup) {
	sweep.Close = d.Memo.Failed
	if all {
		if !d.noneRetried() {
			sweep.Delete = append(sweep.Delete, d.Parts...)
		}
		if d.Memo.Order.Loader == nil {
			sweep.Uploads = DispatchUploads(d.Memo)
		}
	}
	for shard, state := range d.states {
		if state.Claimed {
			sweep.Yield, sweep.BusinessType = d.Memo.Run, d.Memo.Order.BusinessType
		}
		for made, queue := range state.Ladder {
			if queue.Tail > 0 {
				part := dispatch.Ladder(d.pagesOf(shard), made)
				part.Pages = queue.Tail
				sweep.Delete = append(sweep.Delete, part)
			}
		}
	}
	return sweep
}

// runCleanup deletes what is no longer needed.
func (d *dispatchRun) runCleanup(ctx workflow.Context, sweep dispatch.Cleanup) {
	if len(sweep.Delete)+len(sweep.Close) == 0 && sweep.Uploads == "" && sweep.Yield == "" {
		return
	}
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue: DispatchQueue, StartToCloseTimeout: tuning.SweepTimeout, HeartbeatTimeout: tuning.SweepSilence,
	})
	_ = workflow.ExecuteActivity(ctx, ActivityCleanup, sweep).Get(ctx, nil) // retried until done
}
