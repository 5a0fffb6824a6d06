package engine

import (
	"context"
	"math"
	"sync"
	"time"

	"github.com/wakecall/wakecall/internal/quota"
	"github.com/wakecall/wakecall/timer"
)

// Limiter decides whether one more booking may be made now. A wait above zero
// is a refusal.
type Limiter interface {
	Allow(ctx context.Context, key string, limit quota.Limit) (wait time.Duration, err error)
}

// The names of the limits that a booking can run into, as the policy calls them.
const (
	QuotaAdds    = "adds_per_second"
	QuotaPending = "pending"
)

// admitQuota holds a booking to the limits of its policy.
func (e *Engine) admitQuota(ctx context.Context, policy timer.Policy) error {
	if limit := policy.Limits.Pending; limit != nil {
		if err := e.admitPending(ctx, policy.BusinessType, *limit); err != nil {
			return err
		}
	}
	if policy.Limits.AddsPerSecond == nil {
		return nil
	}
	limit := quota.Limit{Rate: *policy.Limits.AddsPerSecond, Burst: policy.Limits.AddsBurst}
	wait, err := e.Limiter.Allow(ctx, policy.BusinessType, limit)
	if err != nil || wait <= 0 {
		return err
	}
	return exceeded("The business type books faster than its policy allows.",
		timer.Quota{Name: QuotaAdds, Limit: limit.Burst, Window: window(limit), RetryAfter: wait})
}

// window is the time in which a limit gives its burst anew.
func window(limit quota.Limit) time.Duration {
	if limit.Rate == 0 {
		return 0
	}
	return time.Duration(math.Ceil(float64(limit.Burst)/limit.Rate)) * time.Second
}

func exceeded(message string, q timer.Quota) error {
	return &timer.Error{Code: timer.QuotaExceeded, Message: message, Quota: &q}
}

const (
	// countFor is how long a count of open timers is trusted. Counting is a
	// query over Temporal's visibility.
	countFor = time.Second
	// pendingRetry is when it is worth trying again where a stock is full.
	pendingRetry = 5 * time.Second
)

// admitPending holds a booking to the quota of open timers: what visibility
// knew a moment ago, and what this process has booked since. Others may book at
// the same time, so the quota can be passed by what they all book in a moment.
func (e *Engine) admitPending(ctx context.Context, businessType string, limit int) error {
	if limit > 0 && e.stock.of(businessType).admit(ctx, limit, func(ctx context.Context) (int, error) {
		return e.countOpen(ctx, businessType)
	}) {
		return nil
	}
	return exceeded("The business type has as many open timers as its policy allows.",
		timer.Quota{Name: QuotaPending, Limit: limit, RetryAfter: pendingRetry})
}

// stocks remember how many timers each business type has open.
type stocks struct {
	mu     sync.Mutex
	stocks map[string]*stock
}

func (s *stocks) of(businessType string) *stock {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stocks == nil {
		s.stocks = map[string]*stock{}
	}
	if s.stocks[businessType] == nil {
		s.stocks[businessType] = &stock{}
	}
	return s.stocks[businessType]
}

type stock struct {
	mu    sync.Mutex
	open  int
	until time.Time
}

// admit counts one more timer in, if there is room. A quota that cannot be
// counted holds nobody up: adding goes on while visibility is down.
func (s *stock) admit(ctx context.Context, limit int, count func(context.Context) (int, error)) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := time.Now(); now.After(s.until) {
		open, err := count(ctx)
		if err != nil {
			return true
		}
		s.open, s.until = open, now.Add(countFor)
	}
	if s.open >= limit {
		return false
	}
	s.open++
	return true
}
