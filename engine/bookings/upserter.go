package bookings

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/engine/policies"
	"github.com/wakecall/wakecall/engine/timers"
	"github.com/wakecall/wakecall/workflows"
)

// Upserter books timers, or changes existing ones.
type Upserter struct {
	reader      *timers.Reader
	policies    *policies.Policies
	admission   *admission
	starter     *starter
	effects     *effects
	interrupter *interrupter
	changer     *Changer
}

// Upsert books the timer, or changes the existing one, in one atomic step that needs no
// worker. It waits at most wait for the effect. The errors are those of [Adder.Add] and, if
// the delivery won the race, [wire.AlreadyFinished] with the timer's true state.
func (u *Upserter) Upsert(ctx context.Context, r Request, wait time.Duration) (timer.View, Effect, error) {
	if r.IfMatch != "" {
		return u.replace(ctx, r, wait)
	}
	for {
		spec, policy, err := u.admission.admit(ctx, r)
		if err != nil {
			return timer.View{}, "", err
		}
		if err := u.admission.admitRate(ctx, policy); err != nil {
			return timer.View{}, "", err
		}
		release, full := u.admission.admitPending(ctx, policy)
		if full != nil { // an existing timer needs no room
			view, effect, err := u.replaceWith(ctx, r, spec, wait)
			if err != nil {
				err = orFull(spec.Reuse, err, full)
			}
			return view, effect, taken(err)
		}
		view, effect, err := u.upsert(ctx, r, spec, wait)
		release(effect == Created, err)
		// A timer that ended while the change was on its way leaves its id free, and is
		// booked anew.
		if !freed(spec.Reuse, err) && !errors.Is(err, errCancelledBefore) && !errors.Is(err, errRepeated) {
			return view, effect, taken(err)
		}
	}
}

func (u *Upserter) upsert(ctx context.Context, r Request, spec timer.Spec, wait time.Duration) (timer.View, Effect, error) {
	call, cancel := kernel.Bounded(ctx)
	defer cancel()
	terms := r.Terms.FixLocalDue()
	terms.Callback = spec.Callback // sealed
	change := timer.Change{
		ID: uuid.NewString(), Booking: spec.Booking, Replace: true,
		Terms: terms, Preload: spec.Preload, Fingerprint: spec.Fingerprint, At: spec.CreatedAt,
	}
	runID, err := limited(call, u.starter.concurrency, func() (string, error) {
		return u.starter.signal(kernel.StartOnce(call), spec, change, reusePolicy(spec.Reuse))
	})
	if err != nil {
		return u.refusedBy(ctx, spec, change.ID, err)
	}
	existing, err := u.reader.Run(call, r.Key, runID)
	switch {
	case err != nil: // it is unknown whether it was made, and whether its policy still holds
		return timer.View{}, "", err
	case existing.Memo.Booking == spec.Booking && existing.Revision == spec.Revision:
		policy, _ := u.policies.Cached(call, spec.BusinessType) // it was read a moment ago, or there was none
		existing.ShowCall(spec, workflows.Encode(terms.Payload).Payload().GetData(), policy)
		return existing, Created, u.starter.recheck(call, spec, runID)
	case existing.Memo.Booking == spec.Booking: // it was made by an earlier try, and its workflow takes this one for no change
		view, err := u.reader.Get(call, r.Key)
		return view, Created, err
	}
	s := sent{key: r.Key, runID: runID, change: change.ID}
	if err := u.interrupter.interrupt(call, existing, s); err != nil {
		return timer.View{}, "", err
	}
	view, effect, err := u.effects.awaitEffect(ctx, s, wait)
	return changed(existing, view, effect), effect, u.effects.cancelledBefore(ctx, s, err)
}

// errRepeated is the error of a PUT that Temporal refused as a repetition, and not for its timer.
var errRepeated = errors.New("the repeated booking met a timer that has ended")

// refusedBy answers a PUT that Temporal did not accept. An earlier try of the call may have booked the timer,
// which has ended since. If the ended timer is another one and its id is free, only the repetition was
// refused ([kernel.StartOnce]).
func (u *Upserter) refusedBy(ctx context.Context, spec timer.Spec, change string, err error) (timer.View, Effect, error) {
	view, effect, err := u.effects.refusedBy(ctx, spec.Key, change, err)
	refused, ok := errors.AsType[*wire.Error](err)
	if !ok || refused.Code != wire.AlreadyFinished {
		return view, effect, err
	}
	switch found := timer.StateOf(refused); {
	case found.Memo.Booking == spec.Booking:
		return *found, Created, nil
	case !found.Status.Finished(), bookable(spec.Reuse, found.Status):
		return view, effect, errRepeated
	default:
		return view, effect, err
	}
}

// freed reports whether a PUT found a timer that has ended since and has freed its id.
func freed(reuse policy.Reuse, err error) bool {
	refused, ok := errors.AsType[*wire.Error](err)
	return ok && reuse == policy.ReuseAfterEnd && refused.Code == wire.AlreadyFinished && timer.StateOf(refused).Status != timer.Cancelled
}

// replace changes a timer that must be there.
func (u *Upserter) replace(ctx context.Context, r Request, wait time.Duration) (timer.View, Effect, error) {
	spec, policy, err := u.admission.admit(ctx, r)
	if err != nil {
		return timer.View{}, "", err
	}
	if err := u.admission.admitRate(ctx, policy); err != nil {
		return timer.View{}, "", err
	}
	view, effect, err := u.replaceWith(ctx, r, spec, wait)
	if absent(err) {
		return timer.View{}, "", &wire.Error{
			Code: wire.PreconditionFailed, Message: "There is no timer, and If-Match requires one.", Cause: err,
		}
	}
	return view, effect, taken(err)
}

func (u *Upserter) replaceWith(ctx context.Context, r Request, spec timer.Spec, wait time.Duration) (timer.View, Effect, error) {
	return u.changer.Change(ctx, Target{Key: r.Key, IfMatch: r.IfMatch, Wait: wait}, timer.Change{
		Replace: true, Terms: r.Terms, Preload: spec.Preload, Fingerprint: spec.Fingerprint, At: spec.CreatedAt,
	})
}

// absent reports whether an id is free. The id of another workflow is not free.
func absent(err error) bool {
	return wire.CodeOf(err) == wire.NotFound && !errors.Is(err, timers.ErrForeign)
}
