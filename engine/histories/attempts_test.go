package histories

import (
	"testing"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	failurepb "go.temporal.io/api/failure/v1"
	historypb "go.temporal.io/api/history/v1"
	workflowpb "go.temporal.io/api/workflow/v1"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/engine/kernel"
)

// Wherever a run keeps a report, the attempts are found in it, and the longest record is
// the whole.
func TestWhereAttemptsAreFound(t *testing.T) {
	t.Parallel()
	made := func(n int) *commonpb.Payloads {
		report := delivery.Report{Result: delivery.ResultRetry, Attempt: n}
		for i := range n {
			report.Attempts = append(report.Attempts, delivery.Attempt{Number: i + 1})
		}
		encoded, err := kernel.Payloads.ToPayloads(report)
		require.NoError(t, err)
		return encoded
	}
	failure := func(n int) *failurepb.Failure {
		return &failurepb.Failure{FailureInfo: &failurepb.Failure_ApplicationFailureInfo{
			ApplicationFailureInfo: &failurepb.ApplicationFailureInfo{Details: made(n)},
		}}
	}
	state, err := kernel.Payloads.ToPayloads(timer.RunState{Wanted: true, Last: &delivery.Report{Result: delivery.ResultRetry, Attempts: make([]delivery.Attempt, 2)}})
	require.NoError(t, err)
	marker := func(result *commonpb.Payloads) *historypb.HistoryEvent {
		return &historypb.HistoryEvent{Attributes: &historypb.HistoryEvent_MarkerRecordedEventAttributes{
			MarkerRecordedEventAttributes: &historypb.MarkerRecordedEventAttributes{Details: map[string]*commonpb.Payloads{"result": result}},
		}}
	}
	for name, c := range map[string]struct {
		event *historypb.HistoryEvent
		want  int
	}{
		"the first attempt":  {marker(made(1)), 1},
		"how the run stands": {marker(state), 2},
		"something else":     {marker(nil), 0},
		"a delivery that was completed": {&historypb.HistoryEvent{Attributes: &historypb.HistoryEvent_ActivityTaskCompletedEventAttributes{
			ActivityTaskCompletedEventAttributes: &historypb.ActivityTaskCompletedEventAttributes{Result: made(3)},
		}}, 3},
		"a delivery that failed": {&historypb.HistoryEvent{Attributes: &historypb.HistoryEvent_ActivityTaskFailedEventAttributes{
			ActivityTaskFailedEventAttributes: &historypb.ActivityTaskFailedEventAttributes{Failure: failure(4)},
		}}, 4},
	} {
		var run attemptsOfRun
		run.read(c.event)
		run.read(marker(nil))
		require.Len(t, run.known, c.want, name)
		require.False(t, run.closed, name)
	}
	run := attemptsOfRun{known: make([]delivery.Attempt, 1)}
	run.pending(&workflowpb.PendingActivityInfo{HeartbeatDetails: made(2)})
	require.Len(t, run.known, 2)
	run.pending(&workflowpb.PendingActivityInfo{LastFailure: failure(1)})
	require.Len(t, run.known, 2)
	run.read(&historypb.HistoryEvent{Attributes: &historypb.HistoryEvent_WorkflowExecutionCompletedEventAttributes{}})
	require.True(t, run.closed)
}
