package bookings

import (
	"context"
	"math"
	"time"

	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/quota"
)

// Limiter decides whether one more booking may be made now. A wait above zero
// is a refusal.
type Limiter interface {
	Allow(ctx context.Context, key string, limit quota.Limit) (wait time.Duration, err error)
}

// The names of the limits of a booking, as in the policy.
const (
	quotaAdds    = "adds_per_second"
	quotaPending = "pending"
)

// admitRate holds a booking to its policy's rate.
func (a *admission) admitRate(ctx context.Context, policy policy.Policy) error {
	if policy.Limits.AddsPerSecond == nil {
		return nil
	}
	limit := quota.Limit{Rate: *policy.Limits.AddsPerSecond, Burst: policy.Limits.AddsBurst}
	wait, err := a.limiter.Allow(ctx, policy.BusinessType, limit)
	if err != nil || wait <= 0 {
		return err
	}
	return exceeded("The business type books faster than its policy allows.",
		wire.Quota{Name: quotaAdds, Limit: limit.Burst, Window: window(limit), RetryAfter: wait})
}

// window is the time in which a limit restores its burst.
func window(limit quota.Limit) time.Duration {
	if limit.Rate == 0 {
		return 0
	}
	return time.Duration(math.Ceil(float64(limit.Burst)/limit.Rate)) * time.Second
}

func exceeded(message string, q wire.Quota) error {
	return &wire.Error{Code: wire.QuotaExceeded, Message: message, Quota: &q}
}
