package dispatches

import (
	"context"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"

	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/internal/errtype"
	"github.com/wakecall/wakecall/workflows"
)

// Retrier shows the given-up items, and retries them.
type Retrier struct {
	kernel *kernel.Kernel
	reader *Reader
	pages  *Pages
	orders *Orders
}

// Failures yields each given-up item of a dispatch, as far as stored: those of the last
// seconds are missing. Between two occurrences they are those of the last one. It stops at
// the error of see. The errors are those of [Reader.Get].
func (r *Retrier) Failures(ctx context.Context, key wire.Key, see func(dispatch.Failure) error) error {
	view, runID, err := r.reader.latest(ctx, key)
	if err != nil {
		return err
	}
	id, parts := view.Memo.LastFailed()
	if !view.Status.Finished() && view.Memo.StartedAt != 0 {
		shards, err := r.runningShards(ctx, view.Memo, runID)
		if err != nil {
			return err
		}
		parts = givenUp(view.Memo, shards)
	}
	return r.eachItem(ctx, parts, func(item dispatch.Item) error {
		return see(dispatch.Failure{Item: item, WebhookID: id.ItemID(item)})
	})
}

// eachItem yields each item on the pages of some parts.
func (r *Retrier) eachItem(ctx context.Context, parts []dispatch.Part, see func(dispatch.Item) error) error {
	for _, part := range parts {
		for number := range part.Pages {
			page, err := r.pages.ReadPage(ctx, part.Page(number))
			if err != nil {
				return err
			}
			for _, item := range page.Items {
				if err := see(item); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// runningShards are the states of the shards of a running dispatch.
func (r *Retrier) runningShards(ctx context.Context, memo dispatch.Memo, runID string) ([]dispatch.ShardState, error) {
	ctx, cancel := kernel.Bounded(ctx)
	defer cancel()
	return r.reader.shards(ctx, memo, runID)
}

// givenUp names the pages of items that the shards of a dispatch have given up.
func givenUp(memo dispatch.Memo, shards []dispatch.ShardState) (parts []dispatch.Part) {
	for _, shard := range shards {
		if shard.State.GivenUp == 0 {
			continue
		}
		part := dispatch.GivenUp(workflows.DispatchPages(memo, shard.Shard))
		part.Pages = shard.State.GivenUp
		parts = append(parts, part)
	}
	return parts
}

// RetryFailures retries the given-up items of a dispatch that has ended, under the same
// message ids. The errors are [wire.NotFound], [wire.Overtaken] while it runs,
// [wire.AlreadyFinished] if none failed, and [wire.Unavailable].
func (r *Retrier) RetryFailures(ctx context.Context, key wire.Key) (view dispatch.View, retried int, err error) {
	view, ended, err := r.reader.latest(ctx, key)
	if err != nil {
		return dispatch.View{}, 0, err
	}
	if err := refuseRetry(view); err != nil {
		return dispatch.View{}, 0, err
	}
	r.reader.awaitEnd(ctx, key, ended) // else it would end the pages that are stored again
	in := workflows.DispatchInput{Memo: view.Memo.RetryFailed(wire.At(time.Now()))}
	_, in.Parts = view.Memo.LastFailed()
	for _, part := range in.Parts {
		for number := range part.Pages {
			items, err := r.renew(ctx, part.Page(number), in.Memo.Life(time.Now()))
			if err != nil {
				return dispatch.View{}, 0, err
			}
			in.Sizes, retried = append(in.Sizes, items), retried+items
		}
	}
	call, cancel := kernel.Bounded(ctx)
	defer cancel()
	runID, err := r.orders.start(call, in, enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE)
	if errtype.Is[*serviceerror.WorkflowExecutionAlreadyStarted](err) { // another caller was quicker
		return dispatch.View{}, 0, &wire.Error{Code: wire.Overtaken, Message: "The dispatch runs again."}
	}
	if err != nil {
		return dispatch.View{}, 0, kernel.Translate(err)
	}
	return r.reader.view(in.Memo, runID), retried, nil
}

// renew stores a page again that Temporal would delete some time after its end: a round may
// take longer, or be paused.
func (r *Retrier) renew(ctx context.Context, id string, life time.Duration) (items int, err error) {
	page, err := r.pages.ReadPage(ctx, id)
	if err != nil {
		return 0, err
	}
	return len(page.Items), r.pages.WritePage(ctx, id, page, life)
}

// refuseRetry refuses to retry the items of a dispatch without failed ones.
func refuseRetry(view dispatch.View) error {
	switch _, parts := view.Memo.LastFailed(); {
	case view.CancelRequested:
		return dispatchCancelPending(view)
	case !view.Status.Finished():
		return &wire.Error{
			Code: wire.Overtaken, State: &view, Message: "The dispatch is still " + string(view.Status) + ".",
		}
	case len(parts) == 0:
		return &wire.Error{
			Code: wire.AlreadyFinished, State: &view, Message: "The dispatch is " + string(view.Status) + ", and no item of it failed.",
		}
	}
	return nil
}
