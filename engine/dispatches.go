package engine

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

	"github.com/wakecall/wakecall/internal/errtype"
	"github.com/wakecall/wakecall/timer"
	"github.com/wakecall/wakecall/workflows"
)

// Dispatches call the receiver of a business type for each of many items, at one rate.
type Dispatches struct {
	*kernel
	policies *Policies
	waits    *waits
	reach    timer.Reach
	memos    *memoCache
	capacity *capacity
}

func newDispatches(waits *waits, reach timer.Reach) *Dispatches {
	return &Dispatches{kernel: waits.policies.kernel, policies: waits.policies, waits: waits, reach: reach, memos: newMemoCache(), capacity: &capacity{}}
}

// Add orders a dispatch, with the items that it brings along or with a loader. created is
// false where the same order, with the same items, was given before. Its errors are
// [timer.InvalidRequest], [timer.UnknownBusinessType], [timer.AlreadyExists],
// [timer.AlreadyFinished] and [timer.Unavailable].
func (d *Dispatches) Add(ctx context.Context, order timer.Dispatch, items []timer.DispatchItem) (view timer.DispatchView, created bool, err error) {
	errs := order.Check(time.Now())
	switch {
	case order.Loader == nil:
		errs = append(errs, timer.CheckDispatchItems(items)...)
	case len(items) > 0:
		errs.Add("/items", timer.CodeConflict, "goes without a loader")
	}
	if err := errs.Err(); err != nil {
		return timer.DispatchView{}, false, err
	}
	view, created, err = d.order(ctx, order, fingerprint(order, items))
	if err != nil || view.Status != timer.DispatchUploading {
		return view, created, err
	}
	uploaded, err := d.uploadGiven(ctx, order.Key, items)
	if timer.CodeOf(err) == timer.Overtaken { // by the same order, given twice
		view, err = d.sameAs(ctx, order.Key, fingerprint(order, items))
		return view, created, err
	}
	return uploaded, created, err
}

func (d *Dispatches) uploadGiven(ctx context.Context, key timer.Key, items []timer.DispatchItem) (timer.DispatchView, error) {
	return d.UploadAll(ctx, key, 0, func(yield func(timer.DispatchItem, error) bool) {
		for _, item := range items {
			if !yield(item, nil) {
				return
			}
		}
	})
}

// Open orders a dispatch whose items are uploaded afterwards. Its errors are those of
// [Dispatches.Add].
func (d *Dispatches) Open(ctx context.Context, order timer.Dispatch) (view timer.DispatchView, created bool, err error) {
	errs := order.Check(time.Now())
	if order.Loader != nil {
		errs.Add("/loader", timer.CodeConflict, "goes without an upload")
	}
	if err := errs.Err(); err != nil {
		return timer.DispatchView{}, false, err
	}
	return d.order(ctx, order, order.Fingerprint())
}

// fingerprint is a digest of an order with the items that it brings along.
func fingerprint(order timer.Dispatch, items []timer.DispatchItem) string {
	if order.Loader != nil {
		return order.Fingerprint()
	}
	sum := sha256.Sum256(timer.DispatchPage{Items: items}.Encode())
	return order.Fingerprint() + hex.EncodeToString(sum[:16])
}

// order starts the workflow of a dispatch that was found in order.
func (d *Dispatches) order(ctx context.Context, order timer.Dispatch, fingerprint string) (view timer.DispatchView, created bool, err error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	memo, err := d.admit(ctx, order, fingerprint)
	if err != nil {
		return timer.DispatchView{}, false, err
	}
	runID, err := d.start(ctx, workflows.DispatchInput{Memo: memo}, enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE_FAILED_ONLY)
	if errtype.Is[*serviceerror.WorkflowExecutionAlreadyStarted](err) {
		view, err = d.sameAs(ctx, order.Key, fingerprint)
		return view, false, err
	}
	if err != nil {
		return timer.DispatchView{}, false, translate(err)
	}
	view = d.view(memo, runID)
	d.learnAgain(ctx)
	d.expect(&view)
	return view, true, nil
}

// admit holds an order to the policy of its type, and seals its secrets.
func (d *Dispatches) admit(ctx context.Context, order timer.Dispatch, fingerprint string) (timer.DispatchMemo, error) {
	errs := d.reach.Callback(order.Callback)
	if order.Loader != nil {
		errs = append(errs, d.reach.Loader(*order.Loader)...)
	}
	if err := errs.Err(); err != nil {
		return timer.DispatchMemo{}, err
	}
	now := timer.At(time.Now())
	policy, err := d.policies.policyFor(ctx, order.BusinessType, order.Callback)
	if err != nil {
		return timer.DispatchMemo{}, err
	}
	if err := refuseClosed(policy); err != nil {
		return timer.DispatchMemo{}, err
	}
	if policy.Callback.Stream {
		return timer.DispatchMemo{}, timer.FieldErrors{{Pointer: "/business_type", Code: timer.CodeConflict,
			Detail: "must be one that is called: the receivers of " + order.BusinessType + " connect by themselves, as its policy says"}}.Err()
	}
	if order.Callback, err = d.policies.secrets.sealCallback(order.Callback); err != nil {
		return timer.DispatchMemo{}, err
	}
	order = order.WithDefaults()
	memo := timer.DispatchMemo{
		Order: order, Fingerprint: fingerprint, CreatedAt: now, Status: timer.DispatchUploading, DueAt: now, Run: uuid.NewString(),
		Plan: timer.DispatchPlan{PerSecond: order.PerSecond, WarmUp: order.WarmUp},
	}
	if order.Loader != nil {
		memo.Status = timer.DispatchScheduled
	}
	if due, ok := (timer.Terms{DueAt: order.DueAt, Delay: order.Delay}).Due(now.Time()); ok {
		memo.DueAt = due
	}
	if order.Recurrence != nil {
		memo.Cursor = timer.Cursor{Booked: now}
		first, _ := order.Recurrence.Next(memo.Cursor, now) // there is one: the check has seen it
		memo.Occurrence, memo.DueAt, memo.Plan.Paused = first.Number, first.Nominal, order.Recurrence.Paused
	}
	return memo, nil
}

func (d *Dispatches) start(ctx context.Context, in workflows.DispatchInput, reuse enumspb.WorkflowIdReusePolicy) (runID string, err error) {
	run, err := d.client.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID: workflows.DispatchWorkflowID(in.Memo.Order.Key), TaskQueue: workflows.TaskQueue,
		WorkflowIDConflictPolicy:                 enumspb.WORKFLOW_ID_CONFLICT_POLICY_FAIL,
		WorkflowExecutionErrorWhenAlreadyStarted: true, WorkflowIDReusePolicy: reuse,
		Memo: map[string]any{workflows.MemoDispatch: in.Memo},
		// No search attribute: who cancels timers by query means no dispatch.
		StaticSummary: fmt.Sprintf("dispatch of %s at %g items a second", in.Memo.Order.BusinessType, in.Memo.Order.PerSecond),
	}, workflows.TypeDispatch, in)
	if err != nil {
		return "", err
	}
	return run.GetRunID(), nil
}

// sameAs answers an order whose id is taken.
func (d *Dispatches) sameAs(ctx context.Context, key timer.Key, fingerprint string) (timer.DispatchView, error) {
	view, err := d.Get(ctx, key)
	switch {
	case err != nil:
		return timer.DispatchView{}, err
	case view.CancelRequested:
		return timer.DispatchView{}, dispatchCancelPending(view)
	case view.Memo.Fingerprint != fingerprint:
		return timer.DispatchView{}, &timer.Error{
			Code: timer.AlreadyExists, Dispatch: &view, Message: "A dispatch with this id exists with other content.",
		}
	case view.Status.Finished():
		return timer.DispatchView{}, dispatchFinished(view)
	}
	return view, nil
}

func dispatchFinished(view timer.DispatchView) error {
	return &timer.Error{
		Code: timer.AlreadyFinished, Dispatch: &view, Message: "The dispatch is already " + string(view.Status) + ".",
	}
}

func dispatchCancelPending(view timer.DispatchView) error {
	return &timer.Error{
		Code: timer.CancelPending, Dispatch: &view, Message: "The dispatch is being cancelled.",
	}
}

func noDispatch() error {
	return &timer.Error{Code: timer.NotFound, Message: "There is no such dispatch."}
}
