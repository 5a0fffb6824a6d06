package engine

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/wakecall/wakecall/timer"
	"github.com/wakecall/wakecall/workflows"
)

// admit checks a booking against the rules and against its type's policy, which it
// returns, and seals its secrets. The limits of the policy are for the caller to keep.
func (t *Timers) admit(ctx context.Context, r Request) (timer.Spec, timer.Policy, error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	spec, err := timer.Admit(r.Key, r.Terms, uuid.NewString(), time.Now())
	if err := t.reach.Terms(r.Terms).Join(err); err != nil {
		return timer.Spec{}, timer.Policy{}, err
	}
	policy, err := t.policies.policyFor(ctx, spec.BusinessType, spec.Callback)
	if err != nil {
		return timer.Spec{}, timer.Policy{}, err
	}
	if err := refuseClosed(policy); err != nil {
		return timer.Spec{}, timer.Policy{}, err
	}
	if err := checkInterval(r.Terms.Recurrence, policy); err != nil {
		return timer.Spec{}, timer.Policy{}, err
	}
	spec.Target = targetOf(spec.Callback, policy)
	if r.Terms.Priority == nil {
		spec.Priority = policy.Priority
	}
	spec.Preload = policy.Preloading(spec.Booking)
	if !spec.Resting() { // nobody knows when it rings
		spec.Preload = spread(t.bursts, spec.Preload, spec.RingsAt(), handOuts(t.bookings.Rate()))
	}
	if spec.Callback, err = t.policies.secrets.sealCallback(spec.Callback); err != nil {
		return timer.Spec{}, timer.Policy{}, err
	}
	spec.TraceParent, spec.Behaviour, spec.Reuse = r.TraceParent, workflows.BehaviourNow, policy.Reuse
	return spec, policy, nil
}

// checkInterval refuses a rule that rings more often than the policy allows.
func checkInterval(rule *timer.Recurrence, policy timer.Policy) error {
	if rule == nil || rule.MinInterval() >= policy.WithDefaults().MinInterval.D() {
		return nil
	}
	return timer.FieldErrors{{Pointer: "/recurrence", Code: timer.CodeOutOfRange,
		Detail: "must not ring more often than every " + policy.MinInterval.String() + ", the policy's min_interval"}}.Err()
}

// policyFor is the policy that an order is held to. It refuses one that nobody would be
// called for.
func (p *Policies) policyFor(ctx context.Context, businessType string, callback *timer.Callback) (timer.Policy, error) {
	policy, err := p.cached(ctx, businessType)
	addressed := callback != nil && callback.Addressed()
	switch {
	case err == nil && !policy.Callback.Addressed() && !addressed:
		return timer.Policy{}, timer.FieldErrors{{Pointer: "/callback/url", Code: timer.CodeRequired,
			Detail: "is required: the policy of the business type names none"}}.Err()
	case err == nil && addressed && policy.Callback.Stream:
		return timer.Policy{}, policy.RefuseOwn(*callback).Err()
	case timer.CodeOf(err) != timer.NotFound:
		return policy, err
	case addressed:
		return timer.Policy{}.WithDefaults(), nil
	}
	return timer.Policy{}, unknownType(businessType)
}

func unknownType(businessType string) error {
	return &timer.Error{
		Code: timer.UnknownBusinessType,
		Message: "The business type " + businessType +
			" has no policy. Put one at /v1/policies/" + businessType + ", or give a callback.url.",
	}
}

// targetOf is who a timer calls: its own receiver, or the one of its policy today.
func targetOf(own *timer.Callback, policy timer.Policy) string {
	if own != nil && own.Addressed() {
		return own.Target()
	}
	return policy.Callback.Target()
}
