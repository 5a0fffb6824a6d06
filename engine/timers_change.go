package engine

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	enumspb "go.temporal.io/api/enums/v1"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
)

// Upsert books the timer, or changes the one that is there, in one atomic
// step that needs no worker. It waits for the effect, at most for wait. Its
// errors are those of [Timers.Add] and, when the delivery won the race,
// [wire.AlreadyFinished] with the timer's true state.
func (t *Timers) Upsert(ctx context.Context, r Request, wait time.Duration) (timer.View, Effect, error) {
	if r.IfMatch != "" {
		return t.replace(ctx, r, wait)
	}
	for {
		spec, policy, err := t.admit(ctx, r)
		if err != nil {
			return timer.View{}, "", err
		}
		if err := t.admitRate(ctx, policy); err != nil {
			return timer.View{}, "", err
		}
		ended, full := t.admitPending(ctx, policy)
		if full != nil { // a timer that is there already needs no room
			view, effect, err := t.replaceWith(ctx, r, spec, wait)
			if err != nil {
				err = orFull(spec.Reuse, err, full)
			}
			return view, effect, taken(err)
		}
		view, effect, err := t.upsert(ctx, r, spec, wait)
		ended(effect == Created, err)
		// A timer that ended while the change was on its way leaves its id free, and
		// is booked anew.
		if !freed(spec.Reuse, err) && !errors.Is(err, errCancelledBefore) {
			return view, effect, taken(err)
		}
	}
}

func (t *Timers) upsert(ctx context.Context, r Request, spec timer.Spec, wait time.Duration) (timer.View, Effect, error) {
	call, cancel := bounded(ctx)
	defer cancel()
	terms := r.Terms.Fixed()
	terms.Callback = spec.Callback // sealed
	change := timer.Change{
		ID: uuid.NewString(), Booking: spec.Booking, Replace: true,
		Terms: terms, Preload: spec.Preload, Fingerprint: spec.Fingerprint, At: spec.CreatedAt,
	}
	runID, err := limited(call, t.bookings, func() (string, error) {
		return t.signal(call, spec, change, reusePolicy(spec.Reuse))
	})
	if err != nil {
		return t.refusedBy(ctx, r.Key, err)
	}
	existing, err := t.getRun(call, r.Key, runID)
	switch {
	case err != nil: // nobody knows whether it was made, and whether its policy holds still
		return timer.View{}, "", err
	case existing.Memo.Booking == spec.Booking && existing.Revision == spec.Revision:
		policy, _ := t.policies.cached(call, spec.BusinessType) // a moment ago it was read, or there was none
		existing.ShowCall(spec, policy)
		return existing, Created, t.recheck(call, spec, runID)
	}
	s := sent{key: r.Key, runID: runID, change: change.ID}
	if mayBePreloaded(existing) {
		if err := t.interrupt(call, s); err != nil {
			return timer.View{}, "", err
		}
	}
	view, effect, err := t.settle(ctx, s, wait)
	return changed(existing, view, effect), effect, t.cancelledBefore(ctx, s, err)
}

// replace changes a timer that must be there.
func (t *Timers) replace(ctx context.Context, r Request, wait time.Duration) (timer.View, Effect, error) {
	spec, policy, err := t.admit(ctx, r)
	if err != nil {
		return timer.View{}, "", err
	}
	if err := t.admitRate(ctx, policy); err != nil {
		return timer.View{}, "", err
	}
	view, effect, err := t.replaceWith(ctx, r, spec, wait)
	if absent(err) {
		return timer.View{}, "", &wire.Error{
			Code: wire.PreconditionFailed, Message: "There is no timer, and If-Match asks for one.", Cause: err,
		}
	}
	return view, effect, taken(err)
}

func (t *Timers) replaceWith(ctx context.Context, r Request, spec timer.Spec, wait time.Duration) (timer.View, Effect, error) {
	return t.change(ctx, Target{Key: r.Key, IfMatch: r.IfMatch, Wait: wait}, timer.Change{
		Replace: true, Terms: r.Terms, Preload: spec.Preload, Fingerprint: spec.Fingerprint, At: spec.CreatedAt,
	})
}

// absent is whether an id is free. One that something else in Temporal has is not.
func absent(err error) bool {
	return wire.CodeOf(err) == wire.NotFound && !errors.Is(err, errForeign)
}

// Amend moves or edits a timer that is there. Its errors are [wire.NotFound],
// [wire.AlreadyFinished], [wire.Overtaken] and [wire.PreconditionFailed] with
// the timer's true state, [wire.InvalidRequest] and [wire.Unavailable].
func (t *Timers) Amend(ctx context.Context, r Request, wait time.Duration) (timer.View, Effect, error) {
	now := time.Now()
	err := append(r.Key.Check(), r.Terms.CheckChange(now)...).Err()
	if err := r.Terms.CheckReach(t.reach).Join(err); err != nil {
		return timer.View{}, "", err
	}
	if r.Terms.Recurrence != nil {
		policy, err := t.policies.cached(ctx, r.Key.BusinessType)
		if err != nil && wire.CodeOf(err) != wire.NotFound {
			return timer.View{}, "", err
		}
		if err := checkInterval(r.Terms.Recurrence, policy); err != nil {
			return timer.View{}, "", err
		}
	}
	return t.change(ctx, Target{Key: r.Key, IfMatch: r.IfMatch, Wait: wait},
		timer.Change{Terms: r.Terms, Fingerprint: edited(), At: wire.At(now)})
}

// Fire rings a timer now. A recurring one rings once more than its rule says.
// Its errors are those of [Timers.Amend].
func (t *Timers) Fire(ctx context.Context, target Target) (timer.View, Effect, error) {
	return t.change(ctx, target, timer.Change{Ring: true, Fingerprint: edited(), At: wire.At(time.Now())})
}

// edited is the fingerprint of content that no booking has.
func edited() string { return "changed:" + uuid.NewString() }

// change hands a change to a timer that is there, and waits for its effect.
func (t *Timers) change(ctx context.Context, target Target, change timer.Change) (timer.View, Effect, error) {
	key := target.Key
	if err := key.Check().Err(); err != nil {
		return timer.View{}, "", err
	}
	call, cancel := bounded(ctx)
	defer cancel()
	view, err := t.get(call, key)
	if err != nil {
		return timer.View{}, "", err
	}
	if err := target.unfit(view); err != nil {
		return timer.View{}, "", err
	}
	switch {
	case view.Status.Finished():
		return timer.View{}, "", finished(view)
	case view.CancelRequested:
		return timer.View{}, "", cancelPending(view)
	}
	// Another change may come first: the workflow checks again when it applies this one.
	change.ID, change.IfMatch, change.Terms = uuid.NewString(), target.IfMatch, change.Terms.Fixed()
	current := timer.Spec{Key: key, Memo: view.Memo}
	if err := t.fits(call, view, change); err != nil {
		return timer.View{}, "", err
	}
	if change.Terms.Callback, err = t.policies.secrets.sealCallback(change.Terms.Callback); err != nil {
		return timer.View{}, "", err
	}
	// The timer is known to exist, so nothing is started here: one that ended
	// since is refused by the reuse policy.
	runID, err := t.signal(call, current, change, enumspb.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE)
	if err != nil {
		return t.refusedBy(ctx, key, err)
	}
	s := sent{key: key, runID: runID, change: change.ID}
	if mayBePreloaded(view) {
		if err := t.interrupt(call, s); err != nil {
			return timer.View{}, "", err
		}
	}
	after, effect, err := t.settle(ctx, s, target.Wait)
	return changed(view, after, effect), effect, err
}

// changed is a timer as a change has left it, with what the change came upon.
func changed(found, left timer.View, effect Effect) timer.View {
	left.Found = &found.Memo
	left.Unchanged = effect == Done && left.Revision == found.Revision
	return left
}

// fits refuses a change that does not go with the timer as it stands, or that
// leaves nobody to call.
func (t *Timers) fits(ctx context.Context, view timer.View, change timer.Change) error {
	current := timer.Spec{Key: view.Key, Memo: view.Memo}
	if change.Terms.Callback != nil { // the memo does not tell what it is put over
		spec, _, err := t.input(ctx, view.Key, view.RunID)
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
		_, err = t.policyOf(ctx, view.BusinessType, next.Callback)
		return err
	}
	policy, err := t.policies.cached(ctx, view.BusinessType)
	if err != nil { // it is looked at again when the delivery begins
		return nil
	}
	return policy.RefuseOwn(*change.Terms.Callback).Err()
}

// policyOf is the policy that a timer which was booked is held to, or none. It refuses
// one that nobody would be called for.
func (t *Timers) policyOf(ctx context.Context, businessType string, callback *delivery.Callback) (policy.Policy, error) {
	p, err := t.policies.cached(ctx, businessType)
	addressed := callback != nil && callback.Addressed()
	switch none := wire.CodeOf(err) == wire.NotFound; {
	case none && addressed:
		return policy.Policy{}, nil
	case none || (err == nil && !p.Callback.Addressed() && !addressed):
		return policy.Policy{}, wire.FieldErrors{{Pointer: "/callback/url", Code: wire.CodeRequired,
			Detail: "is required: the timer has none, and its business type has no policy that names one"}}.Err()
	}
	return p, err
}
