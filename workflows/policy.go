package workflows

import (
	"errors"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/tuning"
)

// PolicyRecord is a policy as stored, its secrets sealed.
type PolicyRecord struct {
	Policy    policy.Policy `json:"policy"`
	ChangedAt wire.Instant  `json:"changed_at"`
	ChangedBy string        `json:"changed_by"`
	// Who describes the author of the last change; nil if unknown.
	Who *wire.Actor `json:"who,omitempty"`
	// ClosedUntil is until when the policy takes no bookings, while a delete is being
	// decided.
	ClosedUntil wire.Instant `json:"closed_until,omitzero"`
	// Sealed reports whether only the closer may change the policy until then: its timers
	// are being cancelled, and the policy is deleted next.
	Sealed bool `json:"sealed,omitzero"`
}

// SealedAt reports whether the policy is about to be deleted.
func (r PolicyRecord) SealedAt(now wire.Instant) bool { return r.Sealed && r.ClosedUntil > now }

// PutPolicy replaces a policy whose version is IfVersion.
type PutPolicy struct {
	Record    PolicyRecord `json:"record"`
	IfVersion int          `json:"if_version"`
	// Closing is the ClosedUntil that the putter set when closing the policy.
	Closing wire.Instant `json:"closing,omitzero"`
}

// Policy is the entity that holds the policy of one business type. Its memo is the policy,
// readable without a worker. Its history records who changed it and when. Only this entity
// sets the rate of the type's queue, so a limit, a pause and back-pressure never overwrite
// one another. They take effect and end across any restart.
func Policy(ctx workflow.Context, record PolicyRecord) error {
	e := &policyEntity{
		record: record, pressure: workflow.GetSignalChannel(ctx, SignalBackPressure), claims: workflow.GetSignalChannel(ctx, SignalClaim),
	}
	err := e.setHandlers(ctx)
	for err == nil && !e.deleting && (!e.historyFull(ctx) || e.signalsPending()) { // else the next run would not get the signal
		err = e.apply(ctx)
	}
	switch {
	case err != nil:
		return err
	case e.deleting:
		return e.finishDelete(ctx)
	}
	if err = awaitHandlers(ctx); err == nil {
		err = workflow.NewContinueAsNewError(ctx, TypePolicy, e.record)
	}
	return err
}

// awaitHandlers waits for every update to be answered.
func awaitHandlers(ctx workflow.Context) error {
	return workflow.Await(ctx, func() bool { return workflow.AllHandlersFinished(ctx) })
}

// apply puts the policy into force, and waits until there is more to do.
func (e *policyEntity) apply(ctx workflow.Context) error {
	e.changed = false
	err := e.applyBackPressure(ctx)
	claims, news := e.drainClaims(ctx)
	if err == nil {
		err = e.setQueueRate(ctx, e.record.Policy.QueueRate(claims, workflow.Now(ctx)))
	}
	if err == nil && news { // dispatches read it once the timers have made room
		e.record.Policy.Claims = claims
		err = e.upsertMemo(ctx, e.record)
	}
	if err == nil {
		err = e.awaitChange(ctx)
	}
	return err
}

// historyFull reports whether the run must make room for another.
func (e *policyEntity) historyFull(ctx workflow.Context) bool {
	info := workflow.GetInfo(ctx)
	return e.changes >= tuning.PolicyUpdates || info.GetContinueAsNewSuggested() || info.GetCurrentHistorySize() > tuning.PolicyHistory
}

type policyEntity struct {
	record PolicyRecord
	// pressure carries receivers' requests, and claims those of dispatches.
	pressure, claims workflow.ReceiveChannel
	// changes counts what this run has received; changed reports whether some of it still
	// has to be applied.
	changes int
	changed bool
	// rate is the queue's rate, once this run has set it.
	rate     *policy.QueueRate
	deleting bool
	deleted  bool
}

func (e *policyEntity) setHandlers(ctx workflow.Context) error {
	return errors.Join(
		workflow.SetUpdateHandlerWithOptions(ctx, UpdatePutPolicy, e.put,
			workflow.UpdateHandlerOptions{Validator: e.validate}),
		workflow.SetUpdateHandler(ctx, UpdateLiftPressure, e.liftBackPressure),
		workflow.SetUpdateHandlerWithOptions(ctx, UpdateDeletePolicy, e.delete,
			workflow.UpdateHandlerOptions{Validator: e.validateDelete}),
	)
}

func (e *policyEntity) validate(ctx workflow.Context, put PutPolicy) error {
	sealed := e.record.SealedAt(wire.At(workflow.Now(ctx))) && put.Closing != e.record.ClosedUntil
	if put.IfVersion != e.record.Policy.Version || e.deleting || sealed {
		return temporal.NewNonRetryableApplicationError("the policy has another version", ErrorVersion, nil)
	}
	return nil
}

func (e *policyEntity) put(ctx workflow.Context, put PutPolicy) (PolicyRecord, error) {
	next := put.Record
	next.Policy = next.Policy.Inherit(e.record.Policy, wire.At(workflow.Now(ctx)))
	return next, e.upsertMemo(ctx, next)
}

// validateDelete refuses if the policy was put since it was closed.
func (e *policyEntity) validateDelete(_ string, closedUntil wire.Instant) error {
	if closedUntil != 0 && closedUntil != e.record.ClosedUntil {
		return temporal.NewNonRetryableApplicationError("the policy takes bookings again", ErrorVersion, nil)
	}
	return nil
}

// liftBackPressure ends all back-pressure requested until now, even if only some worker
// knows of it. It makes no new version: the policy itself did not change.
func (e *policyEntity) liftBackPressure(ctx workflow.Context) error {
	e.record.Policy = e.record.Policy.LiftBackPressure(wire.At(workflow.Now(ctx)))
	return e.upsertMemo(ctx, e.record)
}

// delete answers once no part of the policy is in force.
func (e *policyEntity) delete(ctx workflow.Context, author string, _ wire.Instant) error {
	e.deleting, e.record.ChangedBy = true, author
	return workflow.Await(ctx, func() bool { return e.deleted })
}

func (e *policyEntity) finishDelete(ctx workflow.Context) error {
	if err := e.setQueueRate(ctx, nil); err != nil {
		return err
	}
	e.deleted = true
	return awaitHandlers(ctx)
}

func (e *policyEntity) upsertMemo(ctx workflow.Context, record PolicyRecord) error {
	e.record, e.changed = record, true
	e.changes++
	return workflow.UpsertMemo(ctx, map[string]any{MemoPolicy: record})
}

// applyBackPressure applies the receivers' requests. The longest counts.
func (e *policyEntity) applyBackPressure(ctx workflow.Context) error {
	_, held := e.record.Policy.HeldBack(workflow.Now(ctx))
	longest := e.record.Policy.BackPressure
	var wish policy.BackPressure
	for e.pressure.ReceiveAsync(&wish) {
		e.changes++
		if e.record.Policy.Grants(wish) && (longest == nil || wish.Until > longest.Until) {
			next := wish
			if held {
				next.Since = longest.Since
			}
			longest = &next
		}
	}
	if longest == e.record.Policy.BackPressure {
		return nil
	}
	e.record.Policy.BackPressure = longest
	if err := e.upsertMemo(ctx, e.record); err != nil || held || e.record.Policy.Alert == nil {
		return err
	}
	startAlert(ctx, timer.Event{
		Type: timer.EventBackPressure, At: longest.Since,
		Data: timer.EventData{BusinessType: e.record.Policy.BusinessType, BackPressure: longest},
	}, pressureOccasion(workflow.GetInfo(ctx).WorkflowExecution.RunID, longest.Since))
	return nil
}

// signalsPending reports whether a signal has arrived that is not drained yet.
func (e *policyEntity) signalsPending() bool { return e.pressure.Len() > 0 || e.claims.Len() > 0 }

// drainClaims takes the claims of dispatches. news reports whether they changed.
func (e *policyEntity) drainClaims(ctx workflow.Context) (claims []policy.Claim, news bool) {
	now, p := wire.At(workflow.Now(ctx)), e.record.Policy
	claims, _ = p.Claims.InForce(now)
	news = len(claims) < len(p.Claims)
	var claim policy.Claim
	for e.claims.ReceiveAsync(&claim) {
		e.changes++
		p.Claims = claims
		claims, news = p.Claims.WithClaim(claim, now), true
		claim = policy.Claim{}
	}
	return claims, news
}

// setQueueRate sets the rate of the type's queue, however long that takes.
func (e *policyEntity) setQueueRate(ctx workflow.Context, rate *float64) error {
	want := policy.QueueRate{BusinessType: e.record.Policy.BusinessType, Rate: rate}
	if e.rate != nil && sameRate(e.rate.Rate, want.Rate) {
		return nil
	}
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue: ControlQueue, StartToCloseTimeout: tuning.QueueRateTimeout,
		RetryPolicy: &temporal.RetryPolicy{
			InitialInterval: tuning.QueueRateFirst, BackoffCoefficient: 2, MaximumInterval: tuning.QueueRateLongest,
		},
	})
	if err := workflow.ExecuteActivity(ctx, ActivitySetQueueRate, want).Get(ctx, nil); err != nil {
		return err
	}
	e.rate = &want
	return nil
}

func sameRate(a, b *float64) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

// awaitChange waits until the policy is changed, or until back-pressure ends.
func (e *policyEntity) awaitChange(ctx workflow.Context) error {
	changed := func() bool { return e.changed || e.deleting || e.signalsPending() }
	now := workflow.Now(ctx)
	until, _ := e.record.Policy.HeldBack(now)
	if _, lapse := e.record.Policy.Claims.InForce(wire.At(now)); lapse != 0 && (until == 0 || lapse < until) {
		until = lapse
	}
	if until == 0 {
		return workflow.Await(ctx, changed)
	}
	_, err := workflow.AwaitWithTimeout(ctx, until.Until(workflow.Now(ctx)), changed)
	return err
}
