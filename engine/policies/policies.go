package policies

import (
	"context"
	"time"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/job"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/engine/registry"
	"github.com/wakecall/wakecall/internal/seal"
	"github.com/wakecall/wakecall/internal/tuning"
)

var noPolicy = &wire.Error{Code: wire.NotFound, Message: "The business type has no policy."}

// Policies are the policies of the business types. Each is stored by a workflow, an entity.
// Its memo is readable without a worker.
type Policies struct {
	*entities
	*Reader
	*Writer
	*Deleter
	*Pressure
	*Changes
	closer *closer
}

// Config configures [Policies].
type Config struct {
	// Box seals secrets before they reach Temporal.
	Box *seal.Box
	// TTL is how long a read policy is trusted.
	TTL time.Duration
	// Reach is where messages may be sent.
	Reach delivery.Reach
}

// New returns the policies of a namespace.
func New(k *kernel.Kernel, config Config) *Policies {
	stored, secrets := &entities{kernel: k, registry: registry.New(k)}, secrets{config.Box}
	reader := &Reader{entities: stored, secrets: secrets, ttl: config.TTL}
	reader.cache = newPolicyCache(config.TTL, reader.read)
	closer := &closer{kernel: k, entities: stored, cache: reader.cache, ttl: config.TTL}
	changes := &Changes{kernel: k, secrets: secrets}
	return &Policies{
		entities: stored, Reader: reader, closer: closer,
		Writer:   &Writer{entities: stored, secrets: secrets, changes: changes, cache: reader.cache, reach: config.Reach, closer: closer},
		Deleter:  &Deleter{entities: stored, cache: reader.cache, closer: closer},
		Pressure: &Pressure{kernel: k, entities: stored, cache: reader.cache},
		Changes:  changes,
	}
}

// OrderBulkBy sets the function that orders the bulk job for cancelling a deleted policy's
// timers. It must be called before the first deletion.
func (p *Policies) OrderBulkBy(order func(ctx context.Context, order job.Bulk) error) {
	p.closer.orderBulk = order
}

// Reader reads policies. It needs no worker.
type Reader struct {
	entities *entities
	secrets  secrets
	cache    *policyCache
	// ttl is how long a read policy is trusted.
	ttl time.Duration
}

// Policy returns the policy of a business type, its secrets opened, from a cache that is at
// most a few seconds old. It needs no worker. The errors are [wire.NotFound],
// [wire.Unavailable], and [wire.Internal] if no configured key opens one of its secrets.
func (r *Reader) Policy(ctx context.Context, businessType string) (policy.Policy, error) {
	current, err := r.Cached(ctx, businessType)
	if err == nil && len(current.Unopened) > 0 {
		return policy.Policy{}, unopened(current)
	}
	return current, err
}

// Cached is [Reader.Policy] without the check of its secrets. Those that no key opens are
// still sealed, and named in Unopened; only retired ones are missing. The errors are
// [wire.NotFound] and [wire.Unavailable].
func (r *Reader) Cached(ctx context.Context, businessType string) (policy.Policy, error) {
	return r.cache.get(ctx, businessType)
}

// LastRead is the last policy of a business type that was read, however old; the zero policy
// if there is none. It makes no call.
func (r *Reader) LastRead(businessType string) policy.Policy {
	entry, _ := r.cache.entry(businessType)
	return entry.policy
}

// Trusted is the policy of a business type if it was read within the ttl; the zero policy if there
// is none. It makes no call. ok is false if it was not read.
func (r *Reader) Trusted(businessType string) (known policy.Policy, ok bool) {
	entry, left := r.cache.entry(businessType)
	return entry.policy, left > 0
}

// Recent is [Reader.Cached], but reads the policy again if the cached one is too old to be trusted.
func (r *Reader) Recent(ctx context.Context, businessType string) (policy.Policy, error) {
	policy, err := r.Cached(ctx, businessType)
	if err == nil && time.Since(policy.ReadAt.Time()) > r.ttl+tuning.PolicyReadSlack {
		return r.read(ctx, businessType)
	}
	return policy, err
}

// Known returns the policies that this process has read lately: those of the types of its
// attempts.
func (r *Reader) Known() []policy.Policy { return r.cache.known() }

// Stored returns the policy as stored now, its secrets sealed. The errors are
// [wire.NotFound] and [wire.Unavailable].
func (r *Reader) Stored(ctx context.Context, businessType string) (policy.Policy, error) {
	ctx, cancel := kernel.Bounded(ctx)
	defer cancel()
	record, err := r.entities.current(ctx, businessType)
	record.Policy.ClosedUntil = record.ClosedUntil
	return record.Policy, err
}

// read reads a policy from the memo of its entity.
func (r *Reader) read(ctx context.Context, businessType string) (policy.Policy, error) {
	began := wire.At(time.Now())
	record, err := r.entities.current(ctx, businessType)
	if err != nil {
		return policy.Policy{}, err
	}
	policy := r.secrets.open(record.Policy)
	policy.ReadAt, policy.ClosedUntil = began, record.ClosedUntil
	return policy, nil
}
