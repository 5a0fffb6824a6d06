package policies

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/internal/tuning"
)

// policyCache caches each policy, or its absence, for a while. Many readers of one type cost
// one read.
type policyCache struct {
	ttl   time.Duration
	read  func(context.Context, string) (policy.Policy, error)
	reads singleflight.Group

	mu      sync.Mutex
	entries map[string]cachedPolicy
	// generation changes when an entry is dropped.
	generation int
}

type cachedPolicy struct {
	policy policy.Policy
	err    error
	until  time.Time
	// wishes is until when the store may lack the back-pressure recorded here.
	wishes time.Time
}

func newPolicyCache(ttl time.Duration, read func(context.Context, string) (policy.Policy, error)) *policyCache {
	return &policyCache{ttl: ttl, read: read, entries: map[string]cachedPolicy{}}
}

// get returns a policy that was read within the ttl. After half of the ttl it is read again in
// the background: a short outage of the engine must not delay a timer that is about to ring. A
// canary's policy is stored nowhere.
func (c *policyCache) get(ctx context.Context, businessType string) (policy.Policy, error) {
	if canary, ok := policy.Canary(businessType); ok {
		return canary, nil
	}
	entry, left := c.entry(businessType)
	if left > c.ttl/2 {
		return entry.policy, entry.err
	}
	result := c.readAgain(ctx, businessType)
	if left > 0 {
		return entry.policy, entry.err
	}
	select {
	case r := <-result:
		return r.Val.(policy.Policy), r.Err
	case <-ctx.Done():
		return policy.Policy{}, kernel.Translate(ctx.Err())
	}
}

// readAgain joins the read of a type under way, or begins one. It outlives the caller that
// began it: others may wait for it.
func (c *policyCache) readAgain(ctx context.Context, businessType string) <-chan singleflight.Result {
	return c.reads.DoChan(businessType, func() (any, error) {
		shared, cancel := kernel.Bounded(context.WithoutCancel(ctx))
		defer cancel()
		began := c.current()
		policy, err := c.read(shared, businessType)
		if err == nil || wire.CodeOf(err) == wire.NotFound {
			policy = c.put(businessType, cachedPolicy{policy: policy, err: err, until: time.Now().Add(c.ttl)}, began)
		}
		return policy, err
	})
}

// entry is the entry of a type, and how long it may still be trusted.
func (c *policyCache) entry(businessType string) (entry cachedPolicy, left time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	entry = c.entries[businessType]
	return entry, time.Until(entry.until)
}

// known are the policies that may still be trusted.
func (c *policyCache) known() (policies []policy.Policy) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, entry := range c.entries {
		if entry.err == nil && time.Now().Before(entry.until) {
			policies = append(policies, entry.policy)
		}
	}
	return policies
}

func (c *policyCache) current() (generation int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.generation
}

// put stores what was read, unless an entry was dropped since the read began. It returns the
// policy as it applies here: back-pressure recorded here may not have reached the store yet.
func (c *policyCache) put(businessType string, read cachedPolicy, generation int) policy.Policy {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.generation != generation {
		return read.policy
	}
	if known := c.entries[businessType]; read.err == nil && time.Now().Before(known.wishes) {
		read.policy.BackPressure, read.wishes = longest(known.policy.BackPressure, read.policy), known.wishes
	}
	if len(c.entries) >= tuning.CachedPolicies {
		clear(c.entries)
	}
	c.entries[businessType] = read
	return read.policy
}

// longest is the back-pressure that counts, as in the policy's workflow.
func longest(known *policy.BackPressure, read policy.Policy) *policy.BackPressure {
	if known == nil || !read.Grants(*known) || (read.BackPressure != nil && known.Until <= read.BackPressure.Until) {
		return read.BackPressure
	}
	return known
}

// forget drops an entry and the read under way, so that the next reader reads anew.
func (c *policyCache) forget(businessType string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.entries, businessType)
	c.generation++
	c.reads.Forget(businessType)
}

// holdBack records back-pressure, and reports whether it is new.
func (c *policyCache) holdBack(businessType string, wish policy.BackPressure) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	entry := c.entries[businessType]
	if entry.err != nil {
		return true
	}
	if known := entry.policy.BackPressure; known != nil && wish.Until < known.Until.Add(tuning.PressureStep) {
		return false
	}
	if !entry.policy.Grants(wish) {
		return false
	}
	entry.policy.BackPressure, entry.wishes = &wish, time.Now().Add(tuning.PressureSettles)
	c.entries[businessType] = entry
	return true
}
