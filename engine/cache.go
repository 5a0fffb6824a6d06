package engine

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/wakecall/wakecall/timer"
)

// policyCache keeps each policy, or the news that there is none, for a while.
// Many readers of one type cost one read.
type policyCache struct {
	ttl   time.Duration
	read  func(context.Context, string) (timer.Policy, error)
	reads singleflight.Group

	mu      sync.Mutex
	entries map[string]cachedPolicy
}

type cachedPolicy struct {
	policy timer.Policy
	err    error
	until  time.Time
}

// maxCached bounds the cache against callers that make up business types.
const maxCached = 10_000

func newPolicyCache(ttl time.Duration, read func(context.Context, string) (timer.Policy, error)) *policyCache {
	return &policyCache{ttl: ttl, read: read, entries: map[string]cachedPolicy{}}
}

func (c *policyCache) get(ctx context.Context, businessType string) (timer.Policy, error) {
	if entry, ok := c.fresh(businessType); ok {
		return entry.policy, entry.err
	}
	// The read outlives the caller that began it: others may be waiting for it.
	result := c.reads.DoChan(businessType, func() (any, error) {
		shared, cancel := bounded(context.WithoutCancel(ctx))
		defer cancel()
		policy, err := c.read(shared, businessType)
		if err == nil || timer.CodeOf(err) == timer.NotFound {
			c.keep(businessType, cachedPolicy{policy: policy, err: err, until: time.Now().Add(c.ttl)})
		}
		return policy, err
	})
	select {
	case r := <-result:
		return r.Val.(timer.Policy), r.Err
	case <-ctx.Done():
		return timer.Policy{}, translate(ctx.Err())
	}
}

func (c *policyCache) fresh(businessType string) (cachedPolicy, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	entry, ok := c.entries[businessType]
	return entry, ok && time.Now().Before(entry.until)
}

func (c *policyCache) keep(businessType string, entry cachedPolicy) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.entries) >= maxCached {
		clear(c.entries)
	}
	c.entries[businessType] = entry
}

func (c *policyCache) forget(businessType string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.entries, businessType)
}

// hold notes back-pressure, and reports whether it is news.
func (c *policyCache) hold(businessType string, wish timer.BackPressure) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	entry, ok := c.entries[businessType]
	if !ok || entry.err != nil {
		return true
	}
	if known := entry.policy.BackPressure; known != nil && wish.Until < known.Until.Add(pressureStep) {
		return false
	}
	entry.policy.BackPressure = &wish
	c.entries[businessType] = entry
	return true
}
