package bookings

import (
	"context"
	"sync"
	"time"

	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/engine/visibility"
	"github.com/wakecall/wakecall/internal/tuning"
)

// admitPending holds a booking to the quota of open timers: visibility's count of a moment
// ago, and this process's bookings since. Other processes book at the same time, so the
// quota can be exceeded by their bookings in a moment. ended takes the booking's result: a
// booking that opened no timer frees its place.
func (a *admission) admitPending(ctx context.Context, policy policy.Policy) (ended func(opened bool, err error), err error) {
	limit := policy.Limits.Pending
	if limit == nil {
		return func(bool, error) {}, nil
	}
	open := a.open.countFor(policy.BusinessType)
	if !open.admit(ctx, *limit, func(ctx context.Context) (int, error) {
		return a.kernel.Count(ctx, visibility.OpenTimers(policy.BusinessType))
	}) {
		return nil, exceeded("The business type has as many open timers as its policy allows.",
			wire.Quota{Name: QuotaPending, Limit: *limit, RetryAfter: tuning.PendingRetryAfter})
	}
	return func(opened bool, err error) {
		if unknown := wire.CodeOf(err) == wire.Unavailable; !opened && !unknown {
			open.release()
		}
	}, nil
}

// openCounts remembers how many timers each business type has open.
type openCounts struct {
	mu    sync.Mutex
	types map[string]*openCount
}

func (s *openCounts) countFor(businessType string) *openCount {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.types == nil {
		s.types = map[string]*openCount{}
	}
	if s.types[businessType] == nil {
		s.types[businessType] = &openCount{}
	}
	return s.types[businessType]
}

// openCount is how many timers a business type has open.
type openCount struct {
	mu sync.Mutex
	// counted is the number of open timers at the last count, and booked is this process's
	// bookings since that count began.
	counted, booked int
	at              time.Time
	// counting is the count under way, if there is one.
	counting *counting
	// again is when the next count may begin.
	again time.Time
}

type counting struct {
	done chan struct{}
	// patience ends the wait of all bookings.
	patience time.Time
	// before is the value of booked when the count began.
	before int
}

// admit counts one more timer in, if there is room, as far as is known.
func (s *openCount) admit(ctx context.Context, limit int, count func(context.Context) (int, error)) bool {
	if limit == 0 {
		return false
	}
	s.await(ctx, s.refresh(ctx, count))
	s.mu.Lock()
	defer s.mu.Unlock()
	if time.Since(s.at) < tuning.CountStale && s.counted+s.booked >= limit {
		return false
	}
	s.booked++
	return true
}

// release takes back a timer that was counted in but not opened. A count under way does not
// find it either.
func (s *openCount) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.booked = max(s.booked-1, 0)
	if s.counting != nil {
		s.counting.before = min(s.counting.before, s.booked)
	}
}

// refresh is the count that a booking may wait for. It is nil while the last count is
// trusted, or while a failed one is recent.
func (s *openCount) refresh(ctx context.Context, count func(context.Context) (int, error)) *counting {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if s.counting != nil || now.Before(s.again) {
		return s.counting
	}
	c := &counting{done: make(chan struct{}), patience: now.Add(tuning.CountPatience), before: s.booked}
	s.counting = c
	go s.count(context.WithoutCancel(ctx), c, count)
	return c
}

// count outlives the booking that began it: others may wait for it.
func (s *openCount) count(ctx context.Context, c *counting, count func(context.Context) (int, error)) {
	defer close(c.done)
	ctx, cancel := kernel.Bounded(ctx)
	defer cancel()
	open, err := count(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	s.counting, s.again = nil, now.Add(tuning.CountTrusted)
	if err == nil {
		s.counted, s.booked, s.at = open, s.booked-c.before, now
	}
}

// await waits for a count, for a moment from its beginning.
func (s *openCount) await(ctx context.Context, c *counting) {
	if c == nil {
		return
	}
	patience := time.NewTimer(time.Until(c.patience))
	defer patience.Stop()
	select {
	case <-c.done:
	case <-patience.C:
	case <-ctx.Done():
	}
}
