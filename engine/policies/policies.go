package policies

import (
	"context"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/job"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/engine/registry"
	"github.com/wakecall/wakecall/internal/errtype"
	"github.com/wakecall/wakecall/internal/seal"
	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/workflows"
)

var noPolicy = &wire.Error{Code: wire.NotFound, Message: "The business type has no policy."}

// Policies are what the business types are called by. Each is stored by a workflow of
// its own, an entity, whose memo anybody may read without a worker.
type Policies struct {
	kernel   *kernel.Kernel
	secrets  secrets
	registry registry.Registry
	cache    *policyCache
	// orderBulk orders a bulk job.
	orderBulk func(ctx context.Context, order job.Bulk) error
	// ttl is how long a policy that was read is trusted.
	ttl   time.Duration
	reach delivery.Reach
}

// Config is what [Policies] need.
type Config struct {
	// Box seals secrets before they reach Temporal.
	Box *seal.Box
	// TTL is how long a policy that was read is trusted.
	TTL time.Duration
	// Reach tells where messages may be sent.
	Reach delivery.Reach
}

// New returns the policies of a namespace.
func New(k *kernel.Kernel, config Config) *Policies {
	p := &Policies{
		kernel: k, secrets: secrets{config.Box}, registry: registry.New(k), ttl: config.TTL, reach: config.Reach,
	}
	p.cache = newPolicyCache(config.TTL, p.read)
	return p
}

// OrderBulkBy says who orders the bulk job that cancels the timers of a policy which is
// deleted. It must be called before the first deletion.
func (p *Policies) OrderBulkBy(order func(ctx context.Context, order job.Bulk) error) {
	p.orderBulk = order
}

// Policy returns the policy of a business type, its secrets opened, from a
// cache that is a few seconds old at the most. It needs no worker. Its errors
// are [wire.NotFound], [wire.Unavailable], and [wire.Internal] where no
// configured key opens one of its secrets.
func (p *Policies) Policy(ctx context.Context, businessType string) (policy.Policy, error) {
	current, err := p.Cached(ctx, businessType)
	if err == nil && len(current.Unopened) > 0 {
		return policy.Policy{}, unopened(current)
	}
	return current, err
}

// Cached is [Policies.Policy] without a look at its secrets: those that no key opens
// are still sealed in it, and named in Unopened; only retired ones are missing. Its errors are [wire.NotFound] and [wire.Unavailable].
func (p *Policies) Cached(ctx context.Context, businessType string) (policy.Policy, error) {
	return p.cache.get(ctx, businessType)
}

// LastRead is the policy of a business type as it was last read, be that long ago; the zero
// policy where it was not. It asks nobody.
func (p *Policies) LastRead(businessType string) policy.Policy {
	entry, _ := p.cache.entry(businessType)
	return entry.policy
}

// Recent is [Policies.Cached], read anew where that took too long to be trusted.
func (p *Policies) Recent(ctx context.Context, businessType string) (policy.Policy, error) {
	policy, err := p.Cached(ctx, businessType)
	if err == nil && time.Since(policy.ReadAt.Time()) > p.ttl+tuning.PolicyReadSlack {
		return p.read(ctx, businessType)
	}
	return policy, err
}

// Known are the policies that this process has read lately: those of all types
// that it makes attempts for.
func (p *Policies) Known() []policy.Policy { return p.cache.known() }

// Stored returns the policy as it is stored now, its secrets sealed. Its errors are
// [wire.NotFound] and [wire.Unavailable].
func (p *Policies) Stored(ctx context.Context, businessType string) (policy.Policy, error) {
	ctx, cancel := kernel.Bounded(ctx)
	defer cancel()
	record, err := p.current(ctx, businessType)
	record.Policy.ClosedUntil = record.ClosedUntil
	return record.Policy, err
}

// current is the record of a policy that was not deleted.
func (p *Policies) current(ctx context.Context, businessType string) (workflows.PolicyRecord, error) {
	record, open, err := p.Record(ctx, businessType)
	if err == nil && !open {
		err = noPolicy
	}
	return record, err
}

// read reads a policy from the memo of its entity.
func (p *Policies) read(ctx context.Context, businessType string) (policy.Policy, error) {
	began := wire.At(time.Now())
	record, err := p.current(ctx, businessType)
	if err != nil {
		return policy.Policy{}, err
	}
	policy := p.secrets.open(record.Policy)
	policy.ReadAt, policy.ClosedUntil = began, record.ClosedUntil
	return policy, nil
}

// Record is the stored record; open is false when it was deleted.
func (p *Policies) Record(ctx context.Context, businessType string) (_ workflows.PolicyRecord, open bool, err error) {
	described, err := p.kernel.Describe(ctx, workflows.PolicyID(businessType), "")
	if wire.CodeOf(err) == wire.NotFound {
		return workflows.PolicyRecord{}, false, noPolicy
	}
	if err != nil {
		return workflows.PolicyRecord{}, false, err
	}
	info := described.GetWorkflowExecutionInfo()
	record, err := recordOf(info)
	if err == nil && killed(info) {
		p.restart(ctx, record)
	}
	return record, !deleted(info), err
}

// deleted is whether the policy was deleted by a call of the API: its entity has
// completed.
func deleted(info *workflowpb.WorkflowExecutionInfo) bool {
	return info.GetStatus() == enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED
}

// killed is whether the entity was ended by anything else: an operator, or
// Temporal itself. That says nothing of the policy, which holds as it stood.
func killed(info *workflowpb.WorkflowExecutionInfo) bool {
	switch info.GetStatus() {
	case enumspb.WORKFLOW_EXECUTION_STATUS_TERMINATED, enumspb.WORKFLOW_EXECUTION_STATUS_CANCELED,
		enumspb.WORKFLOW_EXECUTION_STATUS_FAILED, enumspb.WORKFLOW_EXECUTION_STATUS_TIMED_OUT:
		return true
	default:
		return false
	}
}

// restart starts an entity that was killed anew, from what it last said, so that
// it can be changed, sets the rate of its queue again, and outlives the retention. One
// that was deleted or restarted meanwhile stays so. Where it fails the record holds
// all the same, and the next reader tries again.
func (p *Policies) restart(ctx context.Context, record workflows.PolicyRecord) {
	_ = p.startEntity(ctx, record, enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE_FAILED_ONLY)
}

func recordOf(info *workflowpb.WorkflowExecutionInfo) (record workflows.PolicyRecord, err error) {
	err = kernel.ReadMemo(info, workflows.MemoPolicy, "policy", &record)
	return record, err
}

// updateEntity has the entity of a policy do something, and waits until it has.
func (p *Policies) updateEntity(ctx context.Context, businessType, update string, args ...any) error {
	err := p.kernel.Update(ctx, workflows.PolicyID(businessType), update, args...)
	if errtype.Is[*serviceerror.NotFound](err) {
		return noPolicy
	}
	return kernel.Translate(err)
}
