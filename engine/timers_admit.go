package engine

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/recurrence"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/workflows"
)

// admit checks a booking against the rules and against its type's policy, which it
// returns, and seals its secrets. The limits of the policy are for the caller to keep.
func (t *Timers) admit(ctx context.Context, r Request) (timer.Spec, policy.Policy, error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	spec, err := timer.Admit(r.Key, r.Terms, uuid.NewString(), time.Now())
	if err := r.Terms.CheckReach(t.reach).Join(err); err != nil {
		return timer.Spec{}, policy.Policy{}, err
	}
	p, err := t.policies.policyFor(ctx, spec.BusinessType, spec.Callback)
	if err != nil {
		return timer.Spec{}, policy.Policy{}, err
	}
	if err := refuseClosed(p); err != nil {
		return timer.Spec{}, policy.Policy{}, err
	}
	if err := checkInterval(r.Terms.Recurrence, p); err != nil {
		return timer.Spec{}, policy.Policy{}, err
	}
	spec.Target = targetOf(spec.Callback, p)
	if r.Terms.Priority == nil {
		spec.Priority = p.Priority
	}
	spec.Preload = p.Preloading(spec.Booking)
	if !spec.Resting() { // nobody knows when it rings
		spec.Preload = spread(t.bursts, spec.Preload, spec.RingsAt(), handOuts(t.bookings.Rate()))
	}
	if spec.Callback, err = t.policies.secrets.sealCallback(spec.Callback); err != nil {
		return timer.Spec{}, policy.Policy{}, err
	}
	spec.TraceParent, spec.Behaviour, spec.Reuse = r.TraceParent, workflows.BehaviourNow, p.Reuse
	return spec, p, nil
}

// checkInterval refuses a rule that rings more often than the policy allows.
func checkInterval(rule *recurrence.Rule, policy policy.Policy) error {
	if rule == nil || rule.MinInterval() >= policy.WithDefaults().MinInterval.D() {
		return nil
	}
	return wire.FieldErrors{{Pointer: "/recurrence", Code: wire.CodeOutOfRange,
		Detail: "must not ring more often than every " + policy.MinInterval.String() + ", the policy's min_interval"}}.Err()
}

// policyFor is the policy that an order is held to. It refuses one that nobody would be
// called for.
func (p *Policies) policyFor(ctx context.Context, businessType string, callback *delivery.Callback) (policy.Policy, error) {
	current, err := p.cached(ctx, businessType)
	addressed := callback != nil && callback.Addressed()
	switch {
	case err == nil && !current.Callback.Addressed() && !addressed:
		return policy.Policy{}, wire.FieldErrors{{Pointer: "/callback/url", Code: wire.CodeRequired,
			Detail: "is required: the policy of the business type names none"}}.Err()
	case err == nil && addressed && current.Callback.Stream:
		return policy.Policy{}, current.RefuseOwn(*callback).Err()
	case wire.CodeOf(err) != wire.NotFound:
		return current, err
	case addressed:
		return policy.Policy{}.WithDefaults(), nil
	}
	return policy.Policy{}, unknownType(businessType)
}

func unknownType(businessType string) error {
	return &wire.Error{
		Code: wire.UnknownBusinessType,
		Message: "The business type " + businessType +
			" has no policy. Put one at /v1/policies/" + businessType + ", or give a callback.url.",
	}
}

// targetOf is who a timer calls: its own receiver, or the one of its policy today.
func targetOf(own *delivery.Callback, policy policy.Policy) string {
	if own != nil && own.Addressed() {
		return own.Target()
	}
	return policy.Callback.Target()
}
