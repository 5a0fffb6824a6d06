package engine

import (
	"testing"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/timer"
	"github.com/wakecall/wakecall/workflows"
)

// Temporal would end a dispatch whose history grows too long, and its items would be lost:
// it is changed no more before that, and can be cancelled all the same.
func TestADispatchIsChangedWhileItsHistoryHasRoom(t *testing.T) {
	t.Parallel()
	key := timer.Key{BusinessType: "order", BusinessID: "reminders"}
	for _, events := range []int64{tuning.ChangeableHistory - 1, tuning.ChangeableHistory} {
		memo, err := payloads.ToPayload(timer.DispatchMemo{Order: timer.Dispatch{Key: key}, Status: timer.DispatchScheduled})
		require.NoError(t, err)
		f := &fake{runs: map[string]*workflowservice.DescribeWorkflowExecutionResponse{workflows.DispatchWorkflowID(key): {
			WorkflowExecutionInfo: &workflowpb.WorkflowExecutionInfo{
				Type: &commonpb.WorkflowType{Name: workflows.TypeDispatch}, Status: statusRunning, HistoryLength: events,
				Memo: &commonpb.Memo{Fields: map[string]*commonpb.Payload{workflows.MemoDispatch: memo}},
			},
		}}}
		dispatches, rate := New(Config{Client: f}).Dispatches, 5.0
		_, _, changed := dispatches.Change(t.Context(), key, timer.DispatchChange{PerSecond: &rate}, 0)
		_, _, paused := dispatches.Pause(t.Context(), key, 0)
		if events < tuning.ChangeableHistory {
			require.NoError(t, changed)
			require.NoError(t, paused)
			require.Equal(t, []string{workflows.SignalChange, workflows.SignalChange}, f.signals)
			continue
		}
		require.Equal(t, timer.ChangedTooOften, timer.CodeOf(changed))
		require.Equal(t, timer.ChangedTooOften, timer.CodeOf(paused))
		require.Empty(t, f.signals)
		_, _, err = dispatches.Cancel(t.Context(), key, 0)
		require.NoError(t, err)
		require.Equal(t, 1, f.cancels)
	}
}
