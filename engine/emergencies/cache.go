package emergencies

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/internal/tuning"
)

// emergencyCache caches the pause of each business type for a while.
// Frequently read entries are refreshed in the background, so that no ring waits for a read.
type emergencyCache struct {
	ttl   time.Duration
	read  func(context.Context, string) (*policy.Emergency, error)
	reads singleflight.Group

	mu      sync.Mutex
	entries map[string]emergencyEntry
	// generation changes when an entry is dropped.
	generation int
}

type emergencyEntry struct {
	held  *policy.Emergency // nil for none
	until time.Time
}

func newEmergencyCache(ttl time.Duration, read func(context.Context, string) (*policy.Emergency, error)) *emergencyCache {
	return &emergencyCache{ttl: ttl, read: read, entries: map[string]emergencyEntry{}}
}

func (c *emergencyCache) get(ctx context.Context, businessType string) (held *policy.Emergency, err error) {
	entry, generation := c.entry(businessType)
	left := time.Until(entry.until)
	if left > c.ttl/2 {
		return entry.held, nil
	}
	result := c.reads.DoChan(businessType, func() (any, error) {
		shared, cancel := kernel.Bounded(context.WithoutCancel(ctx))
		defer cancel()
		held, err := c.read(shared, businessType)
		if err == nil {
			c.put(businessType, held, generation)
		}
		return held, err
	})
	if left > 0 {
		return entry.held, nil
	}
	select {
	case r := <-result:
		return r.Val.(*policy.Emergency), r.Err
	case <-ctx.Done():
		return nil, kernel.Translate(ctx.Err())
	}
}

func (c *emergencyCache) entry(businessType string) (entry emergencyEntry, generation int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.entries[businessType], c.generation
}

// put stores what was read, unless an entry was dropped since the read began.
func (c *emergencyCache) put(businessType string, held *policy.Emergency, generation int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.generation != generation {
		return
	}
	if len(c.entries) >= tuning.CachedPolicies {
		clear(c.entries)
	}
	c.entries[businessType] = emergencyEntry{held: held, until: time.Now().Add(c.ttl)}
}

// forget drops an entry and the read under way, so that the next reader reads anew.
func (c *emergencyCache) forget(businessType string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.entries, businessType)
	c.generation++
	c.reads.Forget(businessType)
}
