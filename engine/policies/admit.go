package policies

import (
	"context"
	"time"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/recurrence"
	"github.com/wakecall/wakecall/core/wire"
)

// ForOrder returns the policy for an order; callback is the order's own, nil for none. The
// errors are [wire.InvalidRequest] without a receiver, [wire.UnknownBusinessType], and
// [wire.Unavailable], also while the policy is being deleted.
func (r *Reader) ForOrder(ctx context.Context, businessType string, callback *delivery.Callback) (policy.Policy, error) {
	current, err := r.Cached(ctx, businessType)
	addressed := callback != nil && callback.Addressed()
	switch {
	case wire.CodeOf(err) == wire.NotFound && addressed:
		return policy.Policy{}.WithDefaults(), nil
	case wire.CodeOf(err) == wire.NotFound:
		return policy.Policy{}, UnknownType(businessType)
	case err != nil:
		return current, err
	case !current.Callback.Addressed() && !addressed:
		return policy.Policy{}, wire.FieldErrors{{Pointer: "/callback/url", Code: wire.CodeRequired,
			Detail: "is required: the policy of the business type names none"}}.Err()
	case addressed && current.Callback.Stream:
		return policy.Policy{}, current.RefuseOwn(*callback).Err()
	}
	return current, RefuseClosed(current)
}

// TargetOf returns the receiver of a timer: its own, or its policy's present one.
func TargetOf(own *delivery.Callback, current policy.Policy) string {
	if own != nil && own.Addressed() {
		return own.Target()
	}
	return current.Callback.Target()
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

// ForBooked is the policy for a booked timer, or none. It refuses a timer without a receiver.
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
