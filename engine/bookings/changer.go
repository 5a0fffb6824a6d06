package bookings

import (
	"context"
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
)

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
	if err := c.fits(call, view, change); err != nil {
		return timer.View{}, "", err
	}
	if change.Terms.Callback, err = c.policies.SealCallback(change.Terms.Callback); err != nil {
		return timer.View{}, "", err
	}
	// The timer is known to exist, so nothing is started here: the reuse policy refuses one
	// that ended since.
	runID, err := c.starter.signal(call, timer.Spec{Key: key, Memo: view.Memo}, change, enumspb.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE)
	if err != nil {
		return c.effects.refusedBy(ctx, key, change.ID, err)
	}
	s := sent{key: key, runID: runID, change: change.ID}
	if err := c.interrupter.interrupt(call, view, s); err != nil {
		return timer.View{}, "", err
	}
	after, effect, err := c.effects.awaitEffect(ctx, s, target.Wait)
	return changed(view, after, effect), effect, err
}

// changed is a timer after a change, with the state that the change found.
func changed(before, after timer.View, effect Effect) timer.View {
	after.Found = &before.Memo
	after.Unchanged = effect == Done && after.Revision == before.Revision
	return after
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
