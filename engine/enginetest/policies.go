package enginetest

import (
	"context"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
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

// UpdateWorkflow implements [client.Client]: the policy is put or deleted as its workflow does.
func (t *Temporal) UpdateWorkflow(_ context.Context, options client.UpdateWorkflowOptions) (client.WorkflowUpdateHandle, error) {
	return locked(t, func() (client.WorkflowUpdateHandle, error) {
		r := t.latest(options.WorkflowID, "")
		if r == nil || !r.open() {
			return nil, notFound()
		}
		var stored workflows.PolicyRecord
		if err := Payloads.FromPayload(r.info().GetMemo().GetFields()[workflows.MemoPolicy], &stored); err != nil {
			return nil, err
		}
		stale := temporal.NewNonRetryableApplicationError("the policy has another version", workflows.ErrorVersion, nil)
		switch options.UpdateName {
		case workflows.UpdatePutPolicy:
			put := options.Args[0].(workflows.PutPolicy)
			if put.IfVersion != stored.Policy.Version || stored.SealedAt(wire.At(time.Now())) && put.Closing != stored.ClosedUntil {
				return nil, stale
			}
			stored = put.Record
		case workflows.UpdateDeletePolicy:
			if len(options.Args) > 1 && options.Args[1] != stored.ClosedUntil {
				return nil, stale
			}
			r.end(enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED, enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED, &historypb.HistoryEvent{})
		}
		return updated{}, r.memo(map[string]any{workflows.MemoPolicy: stored})
	})
}

// updated is an update that was taken.
type updated struct{ client.WorkflowUpdateHandle }

// Get implements [client.WorkflowUpdateHandle].
func (updated) Get(context.Context, any) error { return nil }
