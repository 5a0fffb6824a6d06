package engine

import (
	"context"
	"maps"
	"slices"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"

	"github.com/wakecall/wakecall/timer"
	"github.com/wakecall/wakecall/workflows"
)

// Registered lists the business types whose queues may hold deliveries. It asks the
// registry, and not Temporal's visibility. Its error is [timer.Unavailable].
func (e *Engine) Registered(ctx context.Context) ([]string, error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	known, err := e.registered(ctx)
	return slices.Collect(maps.Keys(known)), err
}

// Known are the policies that this process has read lately: those of all types
// that it makes attempts for.
func (e *Engine) Known() []timer.Policy { return e.policies.known() }

// registered reads the memo of the registry. One that was ended from outside still
// says what it last said.
func (e *Engine) registered(ctx context.Context) (known workflows.Registered, err error) {
	described, err := e.Client.DescribeWorkflowExecution(ctx, workflows.RegistryID, "")
	if is[*serviceerror.NotFound](err) {
		return nil, nil
	}
	if err != nil {
		return nil, translate(err)
	}
	memo := described.GetWorkflowExecutionInfo().GetMemo().GetFields()[workflows.MemoRegistry]
	if err := payloads.FromPayload(memo, &known); err != nil {
		return nil, &timer.Error{Code: timer.Internal, Message: "The registry's memo cannot be read.", Cause: err}
	}
	return known, nil
}

// enroll hands the registry a change. It needs no worker: the change is durable, and a
// worker that starts takes it before it reads.
func (e *Engine) enroll(ctx context.Context, known workflows.Registered, change workflows.Registration) error {
	if known == nil {
		known = workflows.Registered{}
	}
	_, err := e.Client.SignalWithStartWorkflow(ctx, workflows.RegistryID, workflows.SignalRegister, change, client.StartWorkflowOptions{
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
func (e *Engine) register(ctx context.Context, businessType string) error {
	known, err := e.registered(ctx)
	if err != nil {
		return err
	}
	return e.enroll(ctx, known, workflows.Registration{Add: []string{businessType}})
}

const (
	// registrationRest is how long a type stays registered that has no policy: the
	// policy may be on its way.
	registrationRest = time.Hour
	// maxUnregistered is how many types are looked at in a round that may have no
	// policy any more.
	maxUnregistered = 100
)

// Mend compares the registry with the list of policies: it adds what is not there,
// from before there was a registry or because it was deleted, and removes the types
// whose policy Temporal has forgotten. Its error is [timer.Unavailable].
func (e *Engine) Mend(ctx context.Context, listed []timer.Policy) error {
	ctx, cancel := bounded(ctx)
	defer cancel()
	known, err := e.registered(ctx)
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
	if change.Remove, err = e.forgotten(ctx, rest); err != nil {
		return err
	}
	if len(change.Add) == 0 && len(change.Remove) == 0 {
		return nil
	}
	return e.enroll(ctx, known, change)
}

// forgotten are the types that have no policy, and none that was deleted and is
// retained. That is decided by the policy's workflow: visibility may have lost it.
func (e *Engine) forgotten(ctx context.Context, unlisted workflows.Registered) (gone []workflows.Registrant, err error) {
	looks := 0
	for businessType, registered := range unlisted {
		if time.Since(time.Unix(registered, 0)) < registrationRest || looks == maxUnregistered {
			continue
		}
		looks++
		_, _, err := e.policyRecord(ctx, businessType)
		switch {
		case timer.CodeOf(err) == timer.NotFound:
			gone = append(gone, workflows.Registrant{BusinessType: businessType, At: registered})
		case timer.CodeOf(err) == timer.Unavailable:
			return nil, err
		}
	}
	return gone, nil
}
