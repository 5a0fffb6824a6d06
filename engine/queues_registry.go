package engine

import (
	"context"
	"maps"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"

	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/workflows"
)

// Registered lists the business types whose queues may hold deliveries. It asks the
// registry, and not Temporal's visibility. Its error is [wire.Unavailable].
func (q *Queues) Registered(ctx context.Context) (workflows.Registered, error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	return q.policies.registry.registered(ctx)
}

// Policies lists the policies whose queues may hold deliveries: those in force, and those
// deleted ones that Temporal still remembers. No retry waits longer than that.
func (q *Queues) Policies(ctx context.Context) (inForce, deleted []policy.Policy, err error) {
	return q.policies.listed(ctx)
}

// registry is the workflow that knows the business types which have a policy, so that
// no worker depends on visibility to find their queues.
type registry struct{ *kernel }

// registered reads the memo of the registry. One that was ended from outside still
// says what it last said.
func (r registry) registered(ctx context.Context) (known workflows.Registered, err error) {
	described, err := r.describe(ctx, workflows.RegistryID, "")
	if wire.CodeOf(err) == wire.NotFound {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	err = readMemo(described.GetWorkflowExecutionInfo(), workflows.MemoRegistry, "registry", &known)
	return known, err
}

// apply hands the registry a change. It needs no worker: the change is durable, and a
// worker that starts takes it before it reads.
func (r registry) apply(ctx context.Context, known workflows.Registered, change workflows.Registration) error {
	if known == nil {
		known = workflows.Registered{}
	}
	_, err := r.client.SignalWithStartWorkflow(ctx, workflows.RegistryID, workflows.SignalRegister, change, client.StartWorkflowOptions{
		ID: workflows.RegistryID, TaskQueue: workflows.TaskQueue,
		WorkflowIDReusePolicy: enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
		Memo:                  map[string]any{workflows.MemoRegistry: known},
		StaticSummary:         "business types that have a policy",
	}, workflows.TypeRegistry, known)
	return translate(err)
}

// register makes every worker poll the queue of a business type. It comes before the
// policy: a queue that nobody needs costs a poll, a policy that nobody knows of its
// deliveries.
func (r registry) register(ctx context.Context, businessType string) error {
	known, err := r.registered(ctx)
	if err != nil {
		return err
	}
	return r.apply(ctx, known, workflows.Registration{Add: []string{businessType}})
}

// RepairRegistry compares the registry with the list of policies: it adds what is not there,
// from before there was a registry or because it was deleted, and removes the types
// whose policy Temporal has forgotten. Its error is [wire.Unavailable].
func (q *Queues) RepairRegistry(ctx context.Context, listed []policy.Policy) error {
	ctx, cancel := bounded(ctx)
	defer cancel()
	known, err := q.policies.registry.registered(ctx)
	if err != nil {
		return err
	}
	var change workflows.Registration
	rest := maps.Clone(known)
	for _, policy := range listed {
		if _, ok := known[policy.BusinessType]; !ok {
			change.Add = append(change.Add, policy.BusinessType)
		}
		delete(rest, policy.BusinessType)
	}
	if change.Remove, err = q.forgotten(ctx, rest); err != nil {
		return err
	}
	if len(change.Add) == 0 && len(change.Remove) == 0 {
		return nil
	}
	return q.policies.registry.apply(ctx, known, change)
}

// forgotten are the types that have no policy, and none that was deleted and is
// retained. That is decided by the policy's workflow: visibility may have lost it.
func (q *Queues) forgotten(ctx context.Context, unlisted workflows.Registered) (gone []workflows.Registrant, err error) {
	checks := 0
	for businessType, registered := range unlisted {
		if time.Since(time.Unix(registered, 0)) < tuning.RegistrationRest || checks == tuning.UnregisteredChecked {
			continue
		}
		checks++
		_, _, err := q.policies.record(ctx, businessType)
		switch {
		case wire.CodeOf(err) == wire.NotFound:
			gone = append(gone, workflows.Registrant{BusinessType: businessType, At: registered})
		case wire.CodeOf(err) == wire.Unavailable:
			return nil, err
		}
	}
	return gone, nil
}
