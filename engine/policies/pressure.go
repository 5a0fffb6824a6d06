package policies

import (
	"context"

	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/workflows"
)

// Pressure holds back the callbacks of business types, and lifts that again.
type Pressure struct {
	kernel   *kernel.Kernel
	entities *entities
	cache    *policyCache
}

// HoldBack applies a receiver's request for patience to its whole type: here at once, everywhere
// once the policy's entity has taken it. The errors are [wire.NotFound] and [wire.Unavailable].
func (p *Pressure) HoldBack(ctx context.Context, businessType string, wish policy.BackPressure) error {
	if !p.cache.holdBack(businessType, wish) {
		return nil
	}
	ctx, cancel := kernel.Bounded(ctx)
	defer cancel()
	err := p.kernel.Client.SignalWorkflow(ctx, workflows.PolicyID(businessType), "", workflows.SignalBackPressure, wish)
	if err != nil { // it is known nowhere else, so the next request is new
		p.cache.forget(businessType)
	}
	return kernel.Translate(err)
}

// Claim sends the policy of a business type a dispatch's claim on its callbacks_per_second.
// The errors are [wire.NotFound] and [wire.Unavailable].
func (p *Pressure) Claim(ctx context.Context, businessType string, claim policy.Claim) error {
	ctx, cancel := kernel.Bounded(ctx)
	defer cancel()
	defer p.cache.forget(businessType)
	return kernel.Translate(p.kernel.Client.SignalWorkflow(ctx, workflows.PolicyID(businessType), "", workflows.SignalClaim, claim))
}

// LiftBackPressure ends the back-pressure of a business type, if there is any: here at once,
// everywhere within seconds. It needs a worker. The errors are [wire.NotFound] and
// [wire.Unavailable].
func (p *Pressure) LiftBackPressure(ctx context.Context, businessType string) error {
	ctx, cancel := kernel.Bounded(ctx)
	defer cancel()
	defer p.cache.forget(businessType)
	return p.entities.updateEntity(ctx, businessType, workflows.UpdateLiftPressure)
}
