package bookings

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/engine/policies"
	"github.com/wakecall/wakecall/internal/limiter"
	"github.com/wakecall/wakecall/workflows"
)

// admission decides which bookings are made.
type admission struct {
	kernel   *kernel.Kernel
	policies *policies.Policies
	reach    delivery.Reach
	limiter  Limiter
	open     openCounts
	bursts   *bursts
	// concurrency limits the bookings under way, also those of the starter.
	concurrency *limiter.Limiter
}

// admit checks a booking against the rules and its type's policy, seals its secrets, and
// returns the policy. The caller applies the policy's limits.
func (a *admission) admit(ctx context.Context, r Request) (timer.Spec, policy.Policy, error) {
	ctx, cancel := kernel.Bounded(ctx)
	defer cancel()
	spec, err := timer.Admit(r.Key, r.Terms, uuid.NewString(), time.Now())
	if err := r.Terms.CheckReach(a.reach).Join(err); err != nil {
		return timer.Spec{}, policy.Policy{}, err
	}
	spec.Idempotency = timer.IdempotencyOf(r.IdempotencyKey, r.Terms)
	current, err := a.policies.ForOrder(ctx, spec.BusinessType, spec.Callback)
	if err != nil {
		return timer.Spec{}, policy.Policy{}, err
	}
	spec.Target = policies.TargetOf(spec.Callback, current)
	if err := policies.CheckInterval(r.Terms.Recurrence, current); err != nil {
		return timer.Spec{}, policy.Policy{}, err
	}
	if spec.Callback, err = a.policies.SealCallback(spec.Callback); err != nil {
		return timer.Spec{}, policy.Policy{}, err
	}
	if r.Terms.Priority == nil {
		spec.Priority = current.Priority
	}
	spec.TraceParent, spec.Behaviour, spec.Reuse = r.TraceParent, workflows.BehaviourNow, current.Reuse
	spec.Preload = current.Preloading(spec.Booking)
	if !spec.Resting() { // it is unknown when it rings
		spec.Preload = a.bursts.spread(spec.Preload, spec.RingsAt(), handOuts(a.concurrency.Rate()))
	}
	return spec, current, nil
}
