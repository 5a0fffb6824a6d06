package dispatches

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/google/uuid"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/recurrence"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/engine/policies"
	"github.com/wakecall/wakecall/internal/errtype"
	"github.com/wakecall/wakecall/workflows"
)

// Orders takes the orders of dispatches.
type Orders struct {
	kernel   *kernel.Kernel
	policies *policies.Policies
	reach    delivery.Reach
	reader   *Reader
	uploads  *Uploads
}

// Add orders a dispatch with its items or with a loader. created is false if the same order,
// with the same items, was given before. The errors are [wire.InvalidRequest],
// [wire.UnknownBusinessType], [wire.AlreadyExists], [wire.AlreadyFinished] and
// [wire.Unavailable].
func (o *Orders) Add(ctx context.Context, order dispatch.Dispatch, items []dispatch.Item) (view dispatch.View, created bool, err error) {
	errs := order.Check(time.Now())
	switch {
	case order.Loader == nil:
		errs = append(errs, dispatch.CheckItems(items)...)
	case len(items) > 0:
		errs.Add("/items", wire.CodeConflict, "is allowed only without a loader")
	}
	if err := errs.Err(); err != nil {
		return dispatch.View{}, false, err
	}
	view, created, err = o.order(ctx, order, fingerprint(order, items))
	if err != nil || view.Status != dispatch.Uploading {
		return view, created, err
	}
	uploaded, err := o.uploadGiven(ctx, view, items)
	if wire.CodeOf(err) == wire.Overtaken { // by the same order, given twice
		view, err = o.sameAs(ctx, order.Key, fingerprint(order, items))
		return view, created, err
	}
	return uploaded, created, err
}

// uploadGiven stores the items of an order. Another dispatch may have got its id since.
func (o *Orders) uploadGiven(ctx context.Context, ordered dispatch.View, items []dispatch.Item) (dispatch.View, error) {
	upload, err := o.uploads.Upload(ctx, ordered.Key, 0)
	switch {
	case err != nil:
		return dispatch.View{}, err
	case upload.view.Memo.Run != ordered.Memo.Run:
		return dispatch.View{}, reordered(upload.view)
	}
	return upload.appendAll(ctx, func(yield func(dispatch.Item, error) bool) {
		for _, item := range items {
			if !yield(item, nil) {
				return
			}
		}
	})
}

// Open orders a dispatch whose items are uploaded later. The errors are those of [Orders.Add].
func (o *Orders) Open(ctx context.Context, order dispatch.Dispatch) (view dispatch.View, created bool, err error) {
	errs := order.Check(time.Now())
	if order.Loader != nil {
		errs.Add("/loader", wire.CodeConflict, "is allowed only without an upload")
	}
	if err := errs.Err(); err != nil {
		return dispatch.View{}, false, err
	}
	return o.order(ctx, order, order.Fingerprint())
}

// fingerprint is a digest of an order with its items.
func fingerprint(order dispatch.Dispatch, items []dispatch.Item) string {
	if order.Loader != nil {
		return order.Fingerprint()
	}
	sum := sha256.Sum256(dispatch.Page{Items: items}.Encode())
	return order.Fingerprint() + hex.EncodeToString(sum[:16])
}

// order starts the workflow of a checked dispatch.
func (o *Orders) order(ctx context.Context, order dispatch.Dispatch, fingerprint string) (view dispatch.View, created bool, err error) {
	ctx, cancel := kernel.Bounded(ctx)
	defer cancel()
	memo, err := o.admit(ctx, order, fingerprint)
	if err != nil {
		return dispatch.View{}, false, err
	}
	in := workflows.DispatchInput{Memo: memo}
	runID, err := o.start(ctx, in, enumspb.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE)
	if errtype.Is[*serviceerror.WorkflowExecutionAlreadyStarted](err) && o.awaitFree(ctx, order.Key) {
		runID, err = o.start(ctx, in, enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE_FAILED_ONLY)
	}
	if errtype.Is[*serviceerror.WorkflowExecutionAlreadyStarted](err) {
		view, err = o.sameAs(ctx, order.Key, fingerprint)
		return view, false, err
	}
	if err != nil {
		return dispatch.View{}, false, kernel.Translate(err)
	}
	view = o.reader.view(memo, runID)
	o.reader.refreshCapacity(ctx)
	o.reader.expect(&view)
	return view, true, nil
}

// awaitFree reports whether an id is free or about to be, and waits for it: the dispatch that has it was
// cancelled or is not complete, and clears away what it stored. The shards of one that was terminated end a
// moment later. They have the ids that those of the next one need.
func (o *Orders) awaitFree(ctx context.Context, key wire.Key) bool {
	view, runID, err := o.reader.latest(ctx, key)
	if err != nil || view.Status != dispatch.Cancelled && view.Status != dispatch.Failed {
		return false
	}
	o.reader.awaitEnd(ctx, key, runID)
	o.reader.awaitShards(ctx, view.Memo, runID)
	return true
}

// admit checks an order against its type's policy, and seals its secrets.
func (o *Orders) admit(ctx context.Context, order dispatch.Dispatch, fingerprint string) (dispatch.Memo, error) {
	errs := o.reach.Callback(order.Callback)
	if order.Loader != nil {
		errs = append(errs, order.Loader.CheckReach(o.reach)...)
	}
	if err := errs.Err(); err != nil {
		return dispatch.Memo{}, err
	}
	now := wire.At(time.Now())
	policy, err := o.policies.ForOrder(ctx, order.BusinessType, order.Callback)
	if err != nil {
		return dispatch.Memo{}, err
	}
	if policy.Callback.Stream {
		return dispatch.Memo{}, wire.FieldErrors{{Pointer: "/business_type", Code: wire.CodeConflict,
			Detail: "must be one that is called: the receivers of " + order.BusinessType + " connect by themselves, as its policy says"}}.Err()
	}
	if err := order.CheckVerdicts(policy.Callback).Err(); err != nil {
		return dispatch.Memo{}, err
	}
	if order.Callback, err = o.policies.SealCallback(order.Callback); err != nil {
		return dispatch.Memo{}, err
	}
	return newMemo(order.WithDefaults(), fingerprint, now), nil
}

// newMemo is the memo of a dispatch that is ordered now. The order is checked, and has its defaults.
func newMemo(order dispatch.Dispatch, fingerprint string, now wire.Instant) dispatch.Memo {
	memo := dispatch.Memo{
		Order: order, Fingerprint: fingerprint, CreatedAt: now, Status: dispatch.Uploading, DueAt: now, Run: uuid.NewString(), PagesOfRun: true,
		Plan: dispatch.Plan{PerSecond: order.PerSecond, WarmUp: order.WarmUp},
	}
	if order.Loader != nil {
		memo.Status = dispatch.Scheduled
	}
	if due, ok := (timer.Terms{DueAt: order.DueAt, Delay: order.Delay}).Due(now.Time()); ok {
		memo.DueAt = due
	}
	if order.Recurrence != nil {
		memo.Cursor = recurrence.Cursor{Booked: now}
		first, _ := order.Recurrence.Next(memo.Cursor, now) // there is one: the check has found it
		memo.Occurrence, memo.DueAt, memo.Plan.Paused = first.Number, first.Nominal, order.Recurrence.Paused
	}
	if memo.Plan.Paused && memo.Status == dispatch.Scheduled { // else it is paused once its items are stored
		memo.Status = dispatch.Paused
	}
	return memo
}

func (o *Orders) start(ctx context.Context, in workflows.DispatchInput, reuse enumspb.WorkflowIdReusePolicy) (runID string, err error) {
	run, err := o.kernel.Client.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID: workflows.DispatchWorkflowID(in.Memo.Order.Key), TaskQueue: workflows.TaskQueue,
		WorkflowIDConflictPolicy:                 enumspb.WORKFLOW_ID_CONFLICT_POLICY_FAIL,
		WorkflowExecutionErrorWhenAlreadyStarted: true, WorkflowIDReusePolicy: reuse,
		Memo: map[string]any{workflows.MemoDispatch: in.Memo},
		// No search attribute: a cancel of timers by query must not match a dispatch.
		StaticSummary: fmt.Sprintf("dispatch of %s at %g items a second", in.Memo.Order.BusinessType, in.Memo.Order.PerSecond),
	}, workflows.TypeDispatch, in)
	if err != nil {
		return "", err
	}
	return run.GetRunID(), nil
}

// sameAs answers an order whose id is taken.
func (o *Orders) sameAs(ctx context.Context, key wire.Key, fingerprint string) (dispatch.View, error) {
	view, err := o.reader.Get(ctx, key)
	switch {
	case err != nil:
		return dispatch.View{}, err
	case view.CancelRequested:
		return dispatch.View{}, dispatchCancelPending(view)
	case view.Memo.Fingerprint != fingerprint:
		return dispatch.View{}, &wire.Error{
			Code: wire.AlreadyExists, State: &view, Message: "A dispatch with this id exists with other content.",
		}
	case view.Status.Finished():
		return dispatch.View{}, dispatchFinished(view)
	}
	return view, nil
}

func dispatchFinished(view dispatch.View) error {
	return &wire.Error{
		Code: wire.AlreadyFinished, State: &view, Message: "The dispatch is already " + string(view.Status) + ".",
	}
}

func dispatchCancelPending(view dispatch.View) error {
	return &wire.Error{
		Code: wire.CancelPending, State: &view, Message: "The dispatch is being cancelled.",
	}
}

func noDispatch() error {
	return &wire.Error{Code: wire.NotFound, Message: "There is no such dispatch."}
}
