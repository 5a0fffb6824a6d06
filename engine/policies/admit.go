package policies

import (
	"context"
	"time"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/recurrence"
	"github.com/wakecall/wakecall/core/wire"
)

// ForOrder is the policy that an order is held to. It refuses one that nobody would be
// called for.
func (r *Reader) ForOrder(ctx context.Context, businessType string, callback *delivery.Callback) (policy.Policy, error) {
	current, err := r.Cached(ctx, businessType)
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
	return policy.Policy{}, UnknownType(businessType)
}

// UnknownType is the error for a business type that has no policy.
func UnknownType(businessType string) error {
	return &wire.Error{
		Code: wire.UnknownBusinessType,
		Message: "The business type " + businessType +
			" has no policy. Put one at /v1/policies/" + businessType + ", or give a callback.url.",
	}
}

// CheckInterval refuses a rule that rings more often than the policy allows.
func CheckInterval(rule *recurrence.Rule, policy policy.Policy) error {
	if rule == nil || rule.MinInterval() >= policy.WithDefaults().MinInterval.D() {
		return nil
	}
	return wire.FieldErrors{{Pointer: "/recurrence", Code: wire.CodeOutOfRange,
		Detail: "must not ring more often than every " + policy.MinInterval.String() + ", the policy's min_interval"}}.Err()
}

// ForBooked is the policy that a timer which was booked is held to, or none. It refuses
// one that nobody would be called for.
func (r *Reader) ForBooked(ctx context.Context, businessType string, callback *delivery.Callback) (policy.Policy, error) {
	current, err := r.Cached(ctx, businessType)
	addressed := callback != nil && callback.Addressed()
	switch none := wire.CodeOf(err) == wire.NotFound; {
	case none && addressed:
		return policy.Policy{}, nil
	case none || (err == nil && !current.Callback.Addressed() && !addressed):
		return policy.Policy{}, wire.FieldErrors{{Pointer: "/callback/url", Code: wire.CodeRequired,
			Detail: "is required: the timer has none, and its business type has no policy that names one"}}.Err()
	}
	return current, err
}

// RefuseClosed refuses a booking while its policy is being deleted.
func RefuseClosed(policy policy.Policy) error {
	if policy.ClosedUntil > wire.At(time.Now()) {
		return errClosed
	}
	return nil
}
