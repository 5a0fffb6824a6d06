package policies

import (
	"context"

	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/workflows"
)

// Pressure holds the callbacks of business types back, and lets them go on.
type Pressure struct {
	kernel   *kernel.Kernel
	entities *entities
	cache    *policyCache
}

// HoldBack makes a receiver's wish for patience hold for its whole type: here
// at once, everywhere as soon as the policy's entity has taken it. Its errors
// are [wire.NotFound] and [wire.Unavailable].
func (p *Pressure) HoldBack(ctx context.Context, businessType string, wish policy.BackPressure) error {
	if !p.cache.holdBack(businessType, wish) {
		return nil
	}
	ctx, cancel := kernel.Bounded(ctx)
	defer cancel()
	err := p.kernel.Client.SignalWorkflow(ctx, workflows.PolicyID(businessType), "", workflows.SignalBackPressure, wish)
	if err != nil { // nobody else has heard of it, so the next wish is news
		p.cache.forget(businessType)
	}
	return kernel.Translate(err)
}

// Claim tells the policy of a business type what a dispatch wants of its
// callbacks_per_second. Its errors are [wire.NotFound] and [wire.Unavailable].
func (p *Pressure) Claim(ctx context.Context, businessType string, claim policy.Claim) error {
	ctx, cancel := kernel.Bounded(ctx)
	defer cancel()
	defer p.cache.forget(businessType)
	return kernel.Translate(p.kernel.Client.SignalWorkflow(ctx, workflows.PolicyID(businessType), "", workflows.SignalClaim, claim))
}

// LiftBackPressure puts an end to the back-pressure of a business type, if there
// is any: here at once, everywhere within seconds. It needs a worker. Its errors
// are [wire.NotFound] and [wire.Unavailable].
func (p *Pressure) LiftBackPressure(ctx context.Context, businessType string) error {
	ctx, cancel := kernel.Bounded(ctx)
	defer cancel()
	defer p.cache.forget(businessType)
	return p.entities.updateEntity(ctx, businessType, workflows.UpdateLiftPressure)
}
