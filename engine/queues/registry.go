package queues

import (
	"context"
	"maps"
	"time"

	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/workflows"
)

// Registered lists the business types whose queues may hold deliveries. It asks the
// registry, and not Temporal's visibility. The error is [wire.Unavailable].
func (q *Queues) Registered(ctx context.Context) (workflows.Registered, error) {
	ctx, cancel := kernel.Bounded(ctx)
	defer cancel()
	return q.registry.Read(ctx)
}

// Policies lists the policies whose queues may hold deliveries: those in force, and the
// deleted ones that Temporal retains. No retry waits longer than that.
func (q *Queues) Policies(ctx context.Context) (inForce, deleted []policy.Policy, err error) {
	return q.policies.Listed(ctx)
}

// RepairRegistry compares the registry with the list of policies. It adds missing types,
// after a deletion of the registry. It removes types whose policy Temporal no longer
// retains. The error is [wire.Unavailable].
func (q *Queues) RepairRegistry(ctx context.Context, listed []policy.Policy) error {
	ctx, cancel := kernel.Bounded(ctx)
	defer cancel()
	known, err := q.registry.Read(ctx)
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
	return q.registry.Apply(ctx, known, change)
}

// forgotten are the types without a policy, and without a retained deleted one. The policy's
// workflow decides that: visibility may have lost it.
func (q *Queues) forgotten(ctx context.Context, unlisted workflows.Registered) (gone []workflows.Registrant, err error) {
	checks := 0
	for businessType, registered := range unlisted {
		if time.Since(time.Unix(registered, 0)) < tuning.RegistrationRest || checks == tuning.UnregisteredChecked {
			continue
		}
		checks++
		_, _, err := q.policies.Record(ctx, businessType)
		switch {
		case wire.CodeOf(err) == wire.NotFound:
			gone = append(gone, workflows.Registrant{BusinessType: businessType, At: registered})
		case wire.CodeOf(err) == wire.Unavailable:
			return nil, err
		}
	}
	return gone, nil
}
