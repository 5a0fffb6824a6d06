package bookings

import (
	"context"
	"sync/atomic"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"

	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/engine/policies"
	"github.com/wakecall/wakecall/internal/limiter"
	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/workflows"
)

// starter starts the workflows of timers.
type starter struct {
	kernel   *kernel.Kernel
	policies *policies.Policies
	// concurrency limits the bookings under way.
	concurrency *limiter.Limiter
	// preloader is a worker on the same connection; nil for none.
	preloader atomic.Pointer[Preloader]
}

// start begins the timer's workflow, cold until it is due or in the hands of a worker.
func (s *starter) start(
	ctx context.Context, options client.StartWorkflowOptions, spec timer.Spec, payload converter.RawValue,
) (client.WorkflowRun, error) {
	return limited(ctx, s.concurrency, func() (client.WorkflowRun, error) {
		options.StartDelay = startDelay(spec)
		if options.EnableEagerStart {
			var cancel context.CancelFunc
			ctx, cancel = detached(ctx)
			defer cancel()
		}
		return s.kernel.Client.ExecuteWorkflow(ctx, options, workflows.TypeTimer, spec, payload)
	})
}

// signal sends a change to the timer's workflow, or starts it. Unlike a plain signal it
// wakes a workflow in its start delay.
func (s *starter) signal(
	ctx context.Context, spec timer.Spec, change timer.Change, reuse enumspb.WorkflowIdReusePolicy,
) (runID string, err error) {
	options := startOptions(spec)
	options.WorkflowIDReusePolicy, options.StartDelay = reuse, startDelay(spec)
	options.WorkflowIDConflictPolicy = enumspb.WORKFLOW_ID_CONFLICT_POLICY_UNSPECIFIED // SignalWithStart has its own conflict policy
	run, err := s.kernel.Client.SignalWithStartWorkflow(ctx, options.ID, workflows.SignalChange, change, options,
		workflows.TypeTimer, spec, workflows.Encode(change.Terms.Payload))
	if err != nil {
		return "", err
	}
	return run.GetRunID(), nil
}

// startOptions are those of a timer's start, but for its start delay. That is set when its turn has come.
func startOptions(spec timer.Spec) client.StartWorkflowOptions {
	attributes := []temporal.SearchAttributeUpdate{
		workflows.AttrBusinessType.ValueSet(spec.BusinessType),
		workflows.AttrBusinessID.ValueSet(spec.BusinessID),
		workflows.AttrDueAt.ValueSet(spec.DueAt.Time().UTC()),
	}
	if keywords := spec.Keywords(); len(keywords) > 0 {
		attributes = append(attributes, workflows.AttrLabels.ValueSet(keywords))
	}
	if spec.Resting() {
		attributes = append(attributes, workflows.AttrState.ValueSet(string(timer.Paused)))
	}
	return client.StartWorkflowOptions{
		ID:                  spec.String(),
		TaskQueue:           workflows.TaskQueue,
		EnableEagerStart:    spec.Eager,
		WorkflowTaskTimeout: workflows.TaskTimeout(spec.Memo),
		// A start never replaces a running timer. Otherwise the SDK would return the old run
		// and no error.
		WorkflowIDConflictPolicy:                 enumspb.WORKFLOW_ID_CONFLICT_POLICY_FAIL,
		WorkflowExecutionErrorWhenAlreadyStarted: true,
		WorkflowIDReusePolicy:                    reusePolicy(spec.Reuse),
		Memo:                                     map[string]any{workflows.MemoTimer: spec.Memo},
		TypedSearchAttributes:                    temporal.NewSearchAttributes(attributes...),
		// Under overload, business types take turns, more often at a higher priority.
		Priority:      temporal.Priority{FairnessKey: spec.BusinessType, FairnessWeight: policy.Weight(spec.Priority)},
		StaticSummary: summary(spec),
	}
}

// reusePolicy is Temporal's. By default a cancelled or failed timer may be booked again, a
// delivered or expired one may not.
func reusePolicy(reuse policy.Reuse) enumspb.WorkflowIdReusePolicy {
	if reuse == policy.ReuseAfterEnd {
		return enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE
	}
	return enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE_FAILED_ONLY
}

// summary is the Web UI's summary of a timer's first run. A later run, of a recurring timer
// or after a change, has none: Temporal drops it.
func summary(spec timer.Spec) string {
	text := "due " + spec.DueAt.String()
	if spec.Resting() {
		text = "paused"
	}
	target := spec.Target
	if len(target) > tuning.SummaryTarget {
		target = target[:tuning.SummaryTarget] + "..."
	}
	if target != "" {
		text += ", calls " + target
	}
	return text
}
