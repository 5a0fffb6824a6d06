package bookings

import (
	"context"
	"errors"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/converter"

	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/actors"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/engine/timers"
	"github.com/wakecall/wakecall/internal/errtype"
	"github.com/wakecall/wakecall/workflows"
)

// Request is a client's booking or change.
type Request struct {
	Key         wire.Key
	Terms       timer.Terms
	TraceParent string
	// IfMatch applies to a change, as in [Target].
	IfMatch string
	// IdempotencyKey distinguishes a repeated booking from a new one, also after the timer
	// has ended; "" for none.
	IdempotencyKey string
}

// Adder books new timers.
type Adder struct {
	reader    *timers.Reader
	admission *admission
	starter   *starter
	effects   *effects
	keys      *keys
}

// Add books a new timer. created is false if the same timer, booked with the same content,
// exists already. The errors are:
//   - [wire.InvalidRequest]
//   - [wire.UnknownBusinessType]
//   - [wire.AlreadyExists] and [wire.AlreadyFinished], with the conflicting timer
//   - [wire.IdempotencyKeyReused]
//   - [wire.IDTaken]
//   - [wire.CancelPending] while the id's timer is being cancelled and no worker does it
//   - [wire.Unavailable]
func (a *Adder) Add(ctx context.Context, r Request) (view timer.View, created bool, err error) {
	ctx, cancel := kernel.Bounded(ctx)
	defer cancel()
	spec, policy, err := a.admission.admit(ctx, r)
	if err != nil {
		view, err = a.bookedByKey(ctx, r, err)
		return view, false, err
	}
	if err := a.admission.admitRate(ctx, policy); err != nil {
		return timer.View{}, false, err
	}
	release, full := a.admission.admitPending(ctx, policy)
	if full != nil {
		view, err = a.bookedBefore(ctx, spec, full)
	} else {
		view, created, err = a.bookAdmitted(ctx, a.starter.eagerly(ctx, spec), workflows.Encode(r.Terms.Payload))
		release(created, err)
	}
	if err == nil && !created {
		err = a.reader.ShowCall(ctx, &view)
	}
	return view, created, err
}

// bookedBefore answers a booking for which there is no room. A repeated booking needs none,
// and an id that is taken for good will never have any.
func (a *Adder) bookedBefore(ctx context.Context, spec timer.Spec, full error) (timer.View, error) {
	view, err := a.sameAs(ctx, spec)
	if err == nil {
		return view, nil
	}
	return timer.View{}, taken(orFull(spec.Reuse, err, full))
}

// bookedByKey answers a booking that is refused now. One that is repeated under its idempotency
// key is answered with the timer that it made: its times may have passed since then, and its
// policy may have changed.
func (a *Adder) bookedByKey(ctx context.Context, r Request, refusal error) (timer.View, error) {
	request := timer.IdempotencyOf(r.IdempotencyKey, r.Terms)
	if request == nil || len(r.Key.Check()) > 0 {
		return timer.View{}, refusal
	}
	view, err := a.reader.Run(ctx, r.Key, "")
	if err == nil {
		view, err = a.keys.bookedUnder(ctx, request, view)
	}
	if err != nil {
		return timer.View{}, refusal
	}
	if repeated, _ := view.Memo.Repeats(request); !repeated {
		return timer.View{}, refusal
	}
	return view, a.reader.ShowCall(ctx, &view)
}

// orFull returns the reason to refuse a booking without room: full if its id is free, and
// err otherwise.
func orFull(reuse policy.Reuse, err, full error) error {
	refused, ok := errors.AsType[*wire.Error](err)
	if !ok || absent(err) || refused.Code == wire.AlreadyFinished && bookable(reuse, timer.StateOf(refused).Status) {
		return full
	}
	return err
}

// bookable reports whether the id of an ended timer may be booked again. See [reusePolicy].
func bookable(reuse policy.Reuse, status timer.Status) bool {
	return reuse == policy.ReuseAfterEnd || status == timer.Cancelled || status == timer.Failed
}

// bookAdmitted books a timer to which only another timer with its id can be an obstacle.
func (a *Adder) bookAdmitted(ctx context.Context, spec timer.Spec, payload converter.RawValue) (view timer.View, created bool, err error) {
	if spec.Idempotency != nil {
		// An ended timer may be an earlier booking by this request.
		view, created, err = a.book(ctx, spec, payload, enumspb.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE)
		if wire.CodeOf(err) != wire.AlreadyFinished && !a.effects.endedSince(ctx, err) {
			return view, created, err
		}
	}
	for {
		view, created, err = a.bookAfter(ctx, spec, payload, err)
		if !endedBookable(spec.Reuse, err) && !a.effects.endedSince(ctx, err) {
			return view, created, err
		}
	}
}

// bookAfter books a timer whose id an ended one had, if the booking before met one. Several requests
// under one key may meet the same one. When the booking of the first has ended as well, the others
// would book once more. By the id of their starts, Temporal knows them as one.
func (a *Adder) bookAfter(
	ctx context.Context, spec timer.Spec, payload converter.RawValue, met error,
) (view timer.View, created bool, err error) {
	spec = following(spec, met)
	before, ok := errors.AsType[*wire.Error](met)
	if spec.Idempotency == nil || !ok || timer.StateOf(before) == nil {
		return a.book(ctx, spec, payload, reusePolicy(spec.Reuse))
	}
	spec.Eager = false // each of them would get the task
	ctx = actors.WithRequestID(ctx, spec.Idempotency.Key+timer.StateOf(before).RunID)
	view, created, err = a.book(ctx, spec, payload, reusePolicy(spec.Reuse))
	if err != nil || !created {
		return view, created, err
	}
	booked, err := a.reader.Run(ctx, spec.Key, view.RunID)
	if err != nil || booked.Memo.Booking == spec.Booking {
		return view, true, err
	}
	view, err = a.sameAs(ctx, spec)
	return view, false, taken(err)
}

// following is a spec that remembers the keys of the ended timer found by a booking.
func following(spec timer.Spec, met error) timer.Spec {
	if refused, ok := errors.AsType[*wire.Error](met); ok && timer.StateOf(refused) != nil {
		spec.Memo = spec.Following(timer.StateOf(refused).Memo, timer.StateOf(refused).RunID)
	}
	return spec
}

// book starts a timer, or returns the one booked by the same request.
func (a *Adder) book(
	ctx context.Context, spec timer.Spec, payload converter.RawValue, reuse enumspb.WorkflowIdReusePolicy,
) (view timer.View, created bool, err error) {
	options := startOptions(spec)
	options.WorkflowIDReusePolicy = reuse
	run, err := a.starter.start(kernel.StartOnce(ctx), options, spec, payload)
	if errtype.Is[*serviceerror.WorkflowExecutionAlreadyStarted](err) {
		view, err = a.sameAs(ctx, spec)
		return view, false, taken(err)
	}
	if err != nil {
		return timer.View{}, false, kernel.Translate(err)
	}
	if err := a.starter.recheck(ctx, spec, run.GetRunID()); err != nil {
		return timer.View{}, false, err
	}
	return a.reader.Started(ctx, spec, payload, run.GetRunID()), true, nil
}

// endedBookable reports whether a booking found a timer that has ended since and has a
// bookable id.
func endedBookable(reuse policy.Reuse, err error) bool {
	refused, ok := errors.AsType[*wire.Error](err)
	return ok && refused.Code == wire.AlreadyFinished && bookable(reuse, timer.StateOf(refused).Status)
}

// sameAs answers a booking whose id is taken.
func (a *Adder) sameAs(ctx context.Context, spec timer.Spec) (timer.View, error) {
	view, err := a.reader.Run(ctx, spec.Key, "")
	if err != nil {
		return timer.View{}, err
	}
	if view, err = a.keys.bookedUnder(ctx, spec.Idempotency, view); err != nil {
		return timer.View{}, err
	}
	repeated, reused := view.Memo.Repeats(spec.Idempotency)
	switch {
	case repeated, view.Memo.Booking == spec.Booking: // or its own, made at an earlier try of the call
		return view, nil
	case reused:
		return timer.View{}, &wire.Error{
			Code: wire.IdempotencyKeyReused, State: &view,
			Message: "A request with this idempotency key and other content booked the timer.",
		}
	case view.Status.Finished():
		return timer.View{}, timers.FinishedError(view)
	case view.CancelRequested:
		return timer.View{}, timers.CancelPendingError(view)
	case view.Memo.Fingerprint != spec.Fingerprint:
		return timer.View{}, &wire.Error{
			Code: wire.AlreadyExists, State: &view,
			Message: "A timer with this id exists with other content.",
		}
	}
	return view, nil
}

// taken answers a booking whose id belongs to a workflow other than a timer.
func taken(err error) error {
	if wire.CodeOf(err) != wire.NotFound {
		return err
	}
	if errors.Is(err, timers.ErrForeign) {
		return &wire.Error{
			Code: wire.IDTaken, Cause: timers.ErrForeign,
			Message: "A workflow of this Temporal namespace that is not a timer has the id of the timer.",
		}
	}
	return kernel.Translate(errVanished)
}

// errVanished is the error of a timer that was deleted while it was read.
var errVanished = errors.New("the timer that had the id is gone")
