package enginetest

import (
	"context"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	updatepb "go.temporal.io/api/update/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/workflows"
)

// Policy stores the policy of a business type.
func (t *Temporal) Policy(tb testing.TB, current policy.Policy) {
	tb.Helper()
	t.mu.Lock()
	defer t.mu.Unlock()
	record := workflows.PolicyRecord{Policy: current, ChangedAt: wire.At(time.Now()), ClosedUntil: current.ClosedUntil}
	r := t.begin(workflows.PolicyID(current.BusinessType), workflows.TypePolicy, "", Encoded(tb, record))
	if err := r.memo(map[string]any{workflows.MemoPolicy: record}); err != nil {
		tb.Fatal(err)
	}
}

// UpdateWorkflow implements [client.Client]. It carries out the updates of policies, and of the
// probe, as their workflows on a worker do.
func (t *Temporal) UpdateWorkflow(_ context.Context, options client.UpdateWorkflowOptions) (client.WorkflowUpdateHandle, error) {
	return called(t, Call{"UpdateWorkflow", options.WorkflowID, options.UpdateName}, func() (client.WorkflowUpdateHandle, error) {
		r, err := t.openRun(options.WorkflowID, "")
		if err != nil {
			return nil, err
		}
		if options.UpdateName == workflows.UpdateProbe {
			return updated{}, nil
		}
		return updated{err: r.updatePolicy(options.UpdateName, options.Args...)}, nil
	})
}

// updatePolicy changes a policy, and records the update unless it is refused. The caller holds
// the lock.
func (r *run) updatePolicy(update string, args ...any) error {
	var stored workflows.PolicyRecord
	if err := Payloads.FromPayload(r.info().GetMemo().GetFields()[workflows.MemoPolicy], &stored); err != nil {
		return err
	}
	now := wire.At(time.Now())
	stale := temporal.NewNonRetryableApplicationError("the policy has another version", workflows.ErrorVersion, nil)
	switch update {
	case workflows.UpdatePutPolicy:
		put := args[0].(workflows.PutPolicy)
		if put.IfVersion != stored.Policy.Version || stored.SealedAt(now) && put.Closing != stored.ClosedUntil {
			return stale
		}
		before := stored.Policy
		stored = put.Record
		stored.Policy = stored.Policy.Inherit(before, now)
	case workflows.UpdateLiftPressure:
		stored.Policy.BackPressure = nil
	case workflows.UpdateDeletePolicy:
		if len(args) > 1 && args[1] != stored.ClosedUntil {
			return stale
		}
	}
	if err := r.recordUpdate(update, stored, args); err != nil {
		return err
	}
	if update == workflows.UpdateDeletePolicy {
		r.complete(nil)
	}
	return r.memo(map[string]any{workflows.MemoPolicy: stored})
}

// recordUpdate records an accepted update, and the result of one that puts a policy. The caller
// holds the lock.
func (r *run) recordUpdate(update string, stored workflows.PolicyRecord, args []any) error {
	input, err := Payloads.ToPayloads(args...)
	if err != nil {
		return err
	}
	r.record(enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_ACCEPTED, &historypb.HistoryEvent{
		Attributes: &historypb.HistoryEvent_WorkflowExecutionUpdateAcceptedEventAttributes{
			WorkflowExecutionUpdateAcceptedEventAttributes: &historypb.WorkflowExecutionUpdateAcceptedEventAttributes{
				AcceptedRequest: &updatepb.Request{Input: &updatepb.Input{Name: update, Args: input}},
			},
		},
	})
	if update != workflows.UpdatePutPolicy {
		return nil
	}
	output, err := Payloads.ToPayloads(stored)
	r.record(enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_UPDATE_COMPLETED, &historypb.HistoryEvent{
		Attributes: &historypb.HistoryEvent_WorkflowExecutionUpdateCompletedEventAttributes{
			WorkflowExecutionUpdateCompletedEventAttributes: &historypb.WorkflowExecutionUpdateCompletedEventAttributes{
				Outcome: &updatepb.Outcome{Value: &updatepb.Outcome_Success{Success: output}},
			},
		},
	})
	return err
}

// updated is an update that was accepted or refused.
type updated struct {
	client.WorkflowUpdateHandle
	err error
}

// Get implements [client.WorkflowUpdateHandle].
func (u updated) Get(context.Context, any) error { return u.err }
