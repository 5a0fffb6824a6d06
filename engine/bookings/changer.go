package bookings

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/engine/policies"
	"github.com/wakecall/wakecall/engine/timers"
	"github.com/wakecall/wakecall/internal/errtype"
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
		ended, full := u.admission.admitPending(ctx, policy)
		if full != nil { // an existing timer needs no room
			view, effect, err := u.replaceWith(ctx, r, spec, wait)
			if err != nil {
				err = orFull(spec.Reuse, err, full)
			}
			return view, effect, taken(err)
		}
		view, effect, err := u.upsert(ctx, r, spec, wait)
		ended(effect == Created, err)
		// A timer that ended while the change was on its way leaves its id free, and is
		// booked anew.
		if !freed(spec.Reuse, err) && !errors.Is(err, errCancelledBefore) {
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
	runID, err := limited(call, u.starter.bookings, func() (string, error) {
		return u.starter.signal(call, spec, change, reusePolicy(spec.Reuse))
	})
	if err != nil {
		return u.effects.refusedBy(ctx, r.Key, err)
	}
	existing, err := u.reader.Run(call, r.Key, runID)
	switch {
	case err != nil: // it is unknown whether it was made, and whether its policy still holds
		return timer.View{}, "", err
	case existing.Memo.Booking == spec.Booking && existing.Revision == spec.Revision:
		policy, _ := u.policies.Cached(call, spec.BusinessType) // it was read a moment ago, or there was none
		existing.ShowCall(spec, workflows.Encode(terms.Payload).Payload().GetData(), policy)
		return existing, Created, u.starter.recheck(call, spec, runID)
	}
	s := sent{key: r.Key, runID: runID, change: change.ID}
	if err := u.interrupter.interrupt(call, existing, s); err != nil {
		return timer.View{}, "", err
	}
	view, effect, err := u.effects.awaitEffect(ctx, s, wait)
	return changed(existing, view, effect), effect, u.effects.cancelledBefore(ctx, s, err)
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

// Changer changes existing timers.
type Changer struct {
	reader      *timers.Reader
	policies    *policies.Policies
	reach       delivery.Reach
	starter     *starter
	effects     *effects
	interrupter *interrupter
}

// Amend moves or edits an existing timer. The errors are [wire.NotFound],
// [wire.AlreadyFinished], [wire.Overtaken] and [wire.PreconditionFailed] with the timer's
// true state, [wire.InvalidRequest] and [wire.Unavailable].
func (c *Changer) Amend(ctx context.Context, r Request, wait time.Duration) (timer.View, Effect, error) {
	now := time.Now()
	err := append(r.Key.Check(), r.Terms.CheckChange(now)...).Err()
	if err := r.Terms.CheckReach(c.reach).Join(err); err != nil {
		return timer.View{}, "", err
	}
	if r.Terms.Recurrence != nil {
		policy, err := c.policies.Cached(ctx, r.Key.BusinessType)
		if err != nil && wire.CodeOf(err) != wire.NotFound {
			return timer.View{}, "", err
		}
		if err := policies.CheckInterval(r.Terms.Recurrence, policy); err != nil {
			return timer.View{}, "", err
		}
	}
	return c.Change(ctx, Target{Key: r.Key, IfMatch: r.IfMatch, Wait: wait},
		timer.Change{Terms: r.Terms, Fingerprint: edited(), At: wire.At(now)})
}

// Fire rings a timer now. A recurring timer rings once more than its rule says. The errors
// are those of [Changer.Amend].
func (c *Changer) Fire(ctx context.Context, target Target) (timer.View, Effect, error) {
	return c.Change(ctx, target, timer.Change{Ring: true, Fingerprint: edited(), At: wire.At(time.Now())})
}

// edited is the fingerprint of content that no booking has.
func edited() string { return "changed:" + uuid.NewString() }

// Change sends a change to an existing timer, and waits for its effect.
func (c *Changer) Change(ctx context.Context, target Target, change timer.Change) (timer.View, Effect, error) {
	key := target.Key
	if err := key.Check().Err(); err != nil {
		return timer.View{}, "", err
	}
	call, cancel := kernel.Bounded(ctx)
	defer cancel()
	view, err := c.reader.Run(call, key, "")
	if err != nil {
		return timer.View{}, "", err
	}
	if err := target.unfit(view); err != nil {
		return timer.View{}, "", err
	}
	switch {
	case view.Status.Finished():
		return timer.View{}, "", timers.FinishedError(view)
	case view.CancelRequested:
		return timer.View{}, "", timers.CancelPendingError(view)
	}
	// Another change may come first, so the workflow checks again when it applies this one.
	change.ID, change.IfMatch, change.Terms = uuid.NewString(), target.IfMatch, change.Terms.FixLocalDue()
	current := timer.Spec{Key: key, Memo: view.Memo}
	if err := c.fits(call, view, change); err != nil {
		return timer.View{}, "", err
	}
	if change.Terms.Callback, err = c.policies.SealCallback(change.Terms.Callback); err != nil {
		return timer.View{}, "", err
	}
	// The timer is known to exist, so nothing is started here: the reuse policy refuses one
	// that ended since.
	runID, err := c.starter.signal(call, current, change, enumspb.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE)
	if err != nil {
		return c.effects.refusedBy(ctx, key, err)
	}
	s := sent{key: key, runID: runID, change: change.ID}
	if err := c.interrupter.interrupt(call, view, s); err != nil {
		return timer.View{}, "", err
	}
	after, effect, err := c.effects.awaitEffect(ctx, s, target.Wait)
	return changed(view, after, effect), effect, err
}

// changed is a timer after a change, with the state that the change found.
func changed(found, left timer.View, effect Effect) timer.View {
	left.Found = &found.Memo
	left.Unchanged = effect == Done && left.Revision == found.Revision
	return left
}

// fits refuses a change that contradicts the timer's state or removes its receiver.
func (c *Changer) fits(ctx context.Context, view timer.View, change timer.Change) error {
	current := timer.Spec{Key: view.Key, Memo: view.Memo}
	if change.Terms.Callback != nil { // the memo lacks the callback that this one replaces
		spec, _, err := c.reader.Input(ctx, view.Key, view.RunID)
		if err != nil {
			return err
		}
		current.Callback = spec.Callback
	}
	change.Interrupts = view.Status == timer.Delivering
	next, err := current.Apply(change)
	if err != nil || change.Terms.Callback == nil {
		return err
	}
	if !next.Callback.Addressed() {
		_, err = c.policies.ForBooked(ctx, view.BusinessType, next.Callback)
		return err
	}
	policy, err := c.policies.Cached(ctx, view.BusinessType)
	if err != nil { // it is checked again when the delivery begins
		return nil
	}
	return policy.RefuseOwn(*change.Terms.Callback).Err()
}

// Wake gives a timer's workflow a task, without a change. woken is false if the timer has
// ended since. The error is [wire.Unavailable].
func (c *Changer) Wake(ctx context.Context, spec timer.Spec) (woken bool, err error) {
	change := timer.Change{ID: uuid.NewString(), Wake: true, At: wire.At(time.Now())}
	_, err = c.starter.signal(ctx, spec, change, enumspb.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE)
	if errtype.Is[*serviceerror.WorkflowExecutionAlreadyStarted](err) {
		return false, nil
	}
	return err == nil, kernel.Translate(err)
}
