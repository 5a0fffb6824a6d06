package workflows

import (
	"fmt"
	"math"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/tuning"
)

// runShards has every item sent, and returns the end status.
func (d *dispatchRun) runShards(ctx workflow.Context) dispatch.Status {
	d.sources = d.shardSources()
	d.states, d.idle = make([]dispatch.State, len(d.sources)), map[int]bool{}
	now := workflow.Now(ctx)
	d.Memo.Status, d.Memo.StartedAt, d.Memo.Shards = dispatch.Running, wire.At(now), len(d.sources)
	d.Memo.Plan.Began = wire.At(now.Add(tuning.DispatchLead))
	var stop workflow.CancelFunc
	d.shards, stop = workflow.WithCancel(ctx)
	d.startShards()
	d.upsertMemo(ctx)
	status := d.awaitOrExpire(ctx, func() bool { return len(d.running) == 0 })
	d.stopping = true
	stop()
	last, _ := workflow.NewDisconnectedContext(ctx)
	_ = workflow.Await(last, func() bool { return len(d.running) == 0 }) // fails only after a cancel
	switch {
	case status != "":
		return status
	case d.incomplete:
		return dispatch.Failed
	}
	return dispatch.Done
}

// shardSources returns the sources of the shards. An upload is divided evenly.
func (in DispatchInput) shardSources() []dispatch.Source {
	if loader := in.Memo.Order.Loader; loader != nil && in.Memo.Round == 0 {
		return make([]dispatch.Source, loader.Shards)
	}
	total := in.size()
	shards := min(int(math.Ceil(in.Memo.Plan.PerSecond/tuning.ShardRate)), tuning.MaxUploadShards, total)
	var sources []dispatch.Source
	page, before := 0, 0
	for shard := range shards {
		from, to := shard*total/shards, (shard+1)*total/shards
		for from >= before+in.Sizes[page] {
			before += in.Sizes[page]
			page++
		}
		sources = append(sources, dispatch.Source{Parts: in.Parts, First: page, Skip: from - before, Items: to - from})
	}
	return sources
}

// maxRunning is the number of shards that send side by side.
func (d *dispatchRun) maxRunning() int {
	if d.Memo.Order.Loader == nil || d.Memo.Round > 0 {
		return len(d.sources)
	}
	return min(max(int(math.Ceil(d.Memo.Plan.PerSecond/tuning.LoaderRate)), tuning.MinLoading), tuning.MaxLoading)
}

// startShards begins shards while there is room, and publishes which ones send.
func (d *dispatchRun) startShards() {
	first := d.next
	for d.next < len(d.sources) && len(d.running)-len(d.idle) < d.maxRunning() && !d.stopping {
		d.running[d.next] = nil
		d.next++
	}
	d.Memo.Plan.Active = nil
	for shard := range d.next {
		if _, runs := d.running[shard]; runs && !d.idle[shard] {
			d.Memo.Plan.Active = append(d.Memo.Plan.Active, shard)
		}
	}
	for shard := first; shard < d.next; shard++ {
		d.startShard(shard)
	}
}

func (in DispatchInput) shardID(shard int) string {
	return DispatchShardID(in.Memo.ID(), in.Memo.Round, shard)
}

func (in DispatchInput) pagesOf(shard int) string { return DispatchPages(in.Memo, shard) }

func (d *dispatchRun) startShard(shard int) {
	ctx := workflow.WithChildOptions(d.shards, workflow.ChildWorkflowOptions{
		WorkflowID: d.shardID(shard), WaitForCancellation: true,
		StaticSummary: fmt.Sprintf("shard %d of %d", shard+1, len(d.sources)),
	})
	child := workflow.ExecuteChildWorkflow(ctx, TypeDispatchShard, dispatch.Shard{
		ID: d.Memo.ID(), Number: shard, Stored: d.pagesOf(shard), Source: d.sources[shard], Plan: d.Memo.Plan,
	})
	d.running[shard] = child
	workflow.Go(ctx, func(ctx workflow.Context) {
		var state dispatch.State
		err := child.Get(ctx, &state)
		if err != nil && !temporal.IsCanceledError(err) {
			if state = d.states[shard]; d.Memo.Round > 0 { // its progress is unknown: all of it is put back
				state = dispatch.State{}
			}
			workflow.GetLogger(ctx).Warn("A shard ended without a report", "shard", shard, "error", err)
			state.Problem = delivery.ShardBroken.Failure(wire.At(workflow.Now(ctx)))
		}
		d.shardEnded(ctx, shard, state)
	})
}

// shardEnded gives a shard's part of the rate to the others.
func (d *dispatchRun) shardEnded(ctx workflow.Context, shard int, state dispatch.State) {
	delete(d.running, shard)
	delete(d.idle, shard)
	d.states[shard] = state
	d.incomplete = d.incomplete || state.Problem != nil
	d.startShards()
	if !d.stopping {
		d.upsertMemo(ctx)
	}
}

// receiveShardNews takes the shards' messages while the dispatch lives.
func (d *dispatchRun) receiveShardNews(ctx workflow.Context) {
	shards := workflow.GetSignalChannel(ctx, SignalShard)
	for {
		var news ShardNews
		shards.Receive(ctx, &news)
		if _, runs := d.running[news.Shard]; !runs {
			continue
		}
		d.extendPause(ctx, news)
		d.states[news.Shard].Counts = news.Counts
		if news.Active {
			delete(d.idle, news.Shard)
		} else {
			d.idle[news.Shard] = true
		}
		d.startShards()
		d.Memo.Plan.Quiet = d.Memo.Plan.Quiet || workflow.GetInfo(ctx).GetCurrentHistoryLength() > tuning.DispatchHistory
		d.upsertMemo(ctx)
	}
}

// extendPause records that a shard has sent until now although the dispatch is paused: a
// shard learns of a pause a moment late.
func (d *dispatchRun) extendPause(ctx workflow.Context, news ShardNews) {
	if d.Memo.Plan.Paused && d.states[news.Shard].Counts != news.Counts {
		heard := d.pausedAt.Add(tuning.PauseHeard)
		if now := workflow.Now(ctx); now.Before(heard) {
			heard = now
		}
		d.Memo.RecordPause(wire.At(heard))
	}
}

// receiveProgress shows progress to readers of the dispatch's workflow.
func (d *dispatchRun) receiveProgress(ctx workflow.Context) {
	progress := workflow.GetSignalChannel(ctx, SignalProgress)
	for {
		progress.Receive(ctx, &d.progress)
		workflow.SetCurrentDetails(ctx, d.details())
	}
}

// total sums the outcomes of all items.
func (d *dispatchRun) total() dispatch.Counts {
	if d.noneRetried() {
		return d.Memo.Untried()
	}
	total := d.Memo.Before
	for _, state := range d.states {
		total = total.Add(state.Counts)
	}
	return total
}

// failedParts names the pages of given-up items.
func (d *dispatchRun) failedParts() (parts []dispatch.Part) {
	if d.noneRetried() {
		return d.Parts
	}
	for shard, state := range d.states {
		if state.GivenUp > 0 {
			part := dispatch.GivenUp(d.pagesOf(shard))
			part.Pages = state.GivenUp
			parts = append(parts, part)
		}
	}
	return parts
}

// incompleteShards are the shards that were stopped.
func incompleteShards(states []dispatch.State) (shards []dispatch.ShardView) {
	for shard, state := range states {
		if state.Problem != nil {
			shards = append(shards, dispatch.ShardState{Shard: shard, Begun: true, Ended: true, State: state}.View())
		}
	}
	return shards
}

// details are the text for the Web UI.
func (d *dispatchRun) details() string {
	total, of := d.total(), ""
	if d.progress.Done+d.progress.Failed > total.Done+total.Failed {
		total = d.progress
	}
	if d.Memo.Items != nil {
		of = fmt.Sprintf(" of %d", *d.Memo.Items)
	}
	return fmt.Sprintf("%s: %d%s items done, %d failed, %g a second",
		d.Memo.Status.With(total.Failed), total.Done, of, total.Failed, d.Memo.Plan.PerSecond)
}
