package enginetest

import (
	"context"
	"testing"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/workflows"
)

// Policy makes the policy of a business type known.
func (t *Temporal) Policy(tb testing.TB, current policy.Policy) {
	tb.Helper()
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.begin(workflows.PolicyID(current.BusinessType), workflows.TypePolicy, "", nil)
	record := workflows.PolicyRecord{Policy: current, ChangedAt: wire.At(time.Now()), ClosedUntil: current.ClosedUntil}
	if err := r.memo(map[string]any{workflows.MemoPolicy: record}); err != nil {
		tb.Fatal(err)
	}
}

// UpdateWorkflow implements [client.Client]. A worker is there, and carries out the updates of
// policies, and of the probe, as their workflows do.
func (t *Temporal) UpdateWorkflow(_ context.Context, options client.UpdateWorkflowOptions) (client.WorkflowUpdateHandle, error) {
	return called(t, Call{"UpdateWorkflow", options.WorkflowID, options.UpdateName}, func() (client.WorkflowUpdateHandle, error) {
		r, err := t.openRun(options.WorkflowID, "")
		if err != nil {
			return nil, err
		}
		if options.UpdateName == workflows.UpdateProbe {
			return updated{}, nil
		}
		return updated{err: r.updatePolicy(options.UpdateName, options.Args)}, nil
	})
}

// updatePolicy changes a policy. The caller holds the lock.
func (r *run) updatePolicy(update string, args []any) error {
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
		r.complete(nil)
	}
	return r.memo(map[string]any{workflows.MemoPolicy: stored})
}

// updated is an update that was taken, or refused.
type updated struct {
	client.WorkflowUpdateHandle
	err error
}

// Get implements [client.WorkflowUpdateHandle].
func (u updated) Get(context.Context, any) error { return u.err }
