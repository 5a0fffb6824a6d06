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
// quota can be exceeded by their bookings in a moment. The caller calls release with the
// booking's result: a booking that opened no timer frees its place.
func (a *admission) admitPending(ctx context.Context, policy policy.Policy) (release func(opened bool, err error), err error) {
	limit := policy.Limits.Pending
	if limit == nil {
		return func(bool, error) {}, nil
	}
	open := a.open.countFor(policy.BusinessType)
	if !open.admit(ctx, *limit, func(ctx context.Context) (int, error) {
		return a.kernel.Count(ctx, visibility.OpenTimers(policy.BusinessType))
	}) {
		return nil, exceeded("The business type has as many open timers as its policy allows.",
			wire.Quota{Name: quotaPending, Limit: *limit, RetryAfter: tuning.PendingRetryAfter})
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

func (c *openCounts) countFor(businessType string) *openCount {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.types == nil {
		c.types = map[string]*openCount{}
	}
	if c.types[businessType] == nil {
		c.types[businessType] = &openCount{}
	}
	return c.types[businessType]
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
	// nextAt is when the next count may begin.
	nextAt time.Time
}

type counting struct {
	done chan struct{}
	// deadline ends the wait of all bookings.
	deadline time.Time
	// before is the value of booked when the count began.
	before int
}

// admit counts one more timer in, if there is room, as far as is known.
func (o *openCount) admit(ctx context.Context, limit int, count func(context.Context) (int, error)) bool {
	if limit == 0 {
		return false
	}
	o.await(ctx, o.refresh(ctx, count))
	o.mu.Lock()
	defer o.mu.Unlock()
	if time.Since(o.at) < tuning.CountStale && o.counted+o.booked >= limit {
		return false
	}
	o.booked++
	return true
}

// release takes back a timer that was counted in but not opened. A count under way does not
// find it either.
func (o *openCount) release() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.booked = max(o.booked-1, 0)
	if o.counting != nil {
		o.counting.before = min(o.counting.before, o.booked)
	}
}

// refresh is the count that a booking may wait for. It is nil while the last count is
// trusted, or while a failed one is recent.
func (o *openCount) refresh(ctx context.Context, count func(context.Context) (int, error)) *counting {
	o.mu.Lock()
	defer o.mu.Unlock()
	now := time.Now()
	if o.counting != nil || now.Before(o.nextAt) {
		return o.counting
	}
	c := &counting{done: make(chan struct{}), deadline: now.Add(tuning.CountPatience), before: o.booked}
	o.counting = c
	go o.count(context.WithoutCancel(ctx), c, count)
	return c
}

// count outlives the booking that began it: others may wait for it.
func (o *openCount) count(ctx context.Context, c *counting, count func(context.Context) (int, error)) {
	defer close(c.done)
	ctx, cancel := kernel.Bounded(ctx)
	defer cancel()
	open, err := count(ctx)
	o.mu.Lock()
	defer o.mu.Unlock()
	now := time.Now()
	o.counting, o.nextAt = nil, now.Add(tuning.CountTrusted)
	if err == nil {
		o.counted, o.booked, o.at = open, o.booked-c.before, now
	}
}

// await waits for a count, for a moment from its beginning.
func (o *openCount) await(ctx context.Context, c *counting) {
	if c == nil {
		return
	}
	deadline := time.NewTimer(time.Until(c.deadline))
	defer deadline.Stop()
	select {
	case <-c.done:
	case <-deadline.C:
	case <-ctx.Done():
	}
}
