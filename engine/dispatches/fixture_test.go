package dispatches

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/enginetest"
	"github.com/wakecall/wakecall/workflows"
)

var key = wire.Key{BusinessType: "order", BusinessID: "reminders"}

// id is that of the workflow of the dispatch with the key.
var id = workflows.DispatchWorkflowID(key)

// fixture has the policy of type order, and a worker that takes what dispatches are told.
type fixture struct {
	*Dispatches
	t      *testing.T
	on     *enginetest.Temporal
	worker enginetest.Worker
}

func open(t *testing.T) *fixture {
	t.Helper()
	on := &enginetest.Temporal{}
	on.Policy(t, policy.Policy{BusinessType: "order", Version: 1, Callback: delivery.Callback{Destination: delivery.HTTP("https://orders.test/")}}.WithDefaults())
	s := &fixture{Dispatches: dispatchesOn(on), t: t, on: on, worker: enginetest.Worker{On: on}}
	on.OnEvent = s.told
	return s
}

// told does what the workflow of a dispatch does with what it is told.
func (s *fixture) told(of string, event *historypb.HistoryEvent) {
	if event.GetEventType() == enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_CANCEL_REQUESTED {
		s.end(dispatch.Cancelled)
		return
	}
	signal := event.GetWorkflowExecutionSignaledEventAttributes()
	switch signal.GetSignalName() {
	case workflows.SignalCommit:
		var commit workflows.DispatchCommit
		require.NoError(s.t, enginetest.Payloads.FromPayloads(signal.GetInput(), &commit))
		s.change(func(memo *dispatch.Memo) {
			items := 0
			for _, size := range commit.Sizes {
				items += size
			}
			if memo.Status == dispatch.Uploading { // the first one is committed
				memo.Items, memo.Upload, memo.Status = &items, commit.Upload, dispatch.Scheduled
			}
		})
	case workflows.SignalChange:
		var change dispatch.Change
		require.NoError(s.t, enginetest.Payloads.FromPayloads(signal.GetInput(), &change))
		s.change(func(memo *dispatch.Memo) {
			memo.Plan.Changes++
			if change.PerSecond != nil {
				memo.Plan.PerSecond = *change.PerSecond
			}
			if change.Paused != nil {
				memo.Plan.Paused = *change.Paused
			}
		})
	}
}

// away has no worker take what the dispatch is told.
func (s *fixture) away() { s.on.OnEvent = nil }

// change has the dispatch say something else of itself.
func (s *fixture) change(how func(*dispatch.Memo)) {
	s.t.Helper()
	memo := s.memo()
	how(&memo)
	s.worker.Say(s.t, id, workflows.MemoDispatch, memo)
}

// memo is what the dispatch says of itself.
func (s *fixture) memo() (memo dispatch.Memo) {
	s.t.Helper()
	described, err := s.on.DescribeWorkflowExecution(s.t.Context(), id, "")
	require.NoError(s.t, err)
	require.NoError(s.t, enginetest.Payloads.FromPayload(described.GetWorkflowExecutionInfo().GetMemo().GetFields()[workflows.MemoDispatch], &memo))
	return memo
}

// end ends the dispatch.
func (s *fixture) end(status dispatch.Status, failed ...dispatch.Part) {
	s.t.Helper()
	s.change(func(memo *dispatch.Memo) {
		total := dispatch.Counts{Found: 3, Done: 3}
		for _, part := range failed {
			total.Failed += part.Pages
		}
		total.Done -= total.Failed
		memo.Status, memo.FinishedAt, memo.Total, memo.Failed = status, wire.At(time.Now()), &total, failed
	})
	if status == dispatch.Cancelled {
		s.worker.Cancel(id)
		return
	}
	s.worker.Close(id, nil)
}

// remove deletes the dispatch.
func (s *fixture) remove() {
	_, err := s.on.WorkflowService().DeleteWorkflowExecution(s.t.Context(), &workflowservice.DeleteWorkflowExecutionRequest{
		WorkflowExecution: &commonpb.WorkflowExecution{WorkflowId: id},
	})
	require.NoError(s.t, err)
}

// run has the dispatch run in so many shards.
func (s *fixture) run(shards int) {
	s.t.Helper()
	s.change(func(memo *dispatch.Memo) {
		memo.Status, memo.StartedAt, memo.Shards = dispatch.Running, wire.At(time.Now()), shards
	})
}

// shard has a shard of the dispatch run, whose executor has said how far it is.
func (s *fixture) shard(number int, state dispatch.State) string {
	s.t.Helper()
	memo := s.memo()
	of := workflows.DispatchShardID(memo.ID(), memo.Round, number)
	startShard(s.t, s.on, of)
	s.worker.Pend(of, &workflowpb.PendingActivityInfo{
		State: enumspb.PENDING_ACTIVITY_STATE_STARTED, HeartbeatDetails: enginetest.Encoded(s.t, state),
	})
	return of
}

func item(n int) dispatch.Item {
	return dispatch.Item{ID: strconv.Itoa(n), Payload: []byte(`{"n":` + strconv.Itoa(n) + `}`)}
}

func items(n int) (all []dispatch.Item) {
	for i := range n {
		all = append(all, item(i))
	}
	return all
}

func order() dispatch.Dispatch { return dispatch.Dispatch{Key: key, PerSecond: 10} }

// added orders a dispatch with so many items.
func (s *fixture) added(n int) dispatch.View {
	s.t.Helper()
	view, created, err := s.Add(s.t.Context(), order(), items(n))
	require.NoError(s.t, err)
	require.True(s.t, created)
	return view
}

// once is a hook that does something before the first start of a workflow of a dispatch.
func once(act func()) func(enginetest.Call) error {
	done := false
	return func(call enginetest.Call) error {
		if !done && call.Name == "ExecuteWorkflow" && call.Of == id {
			done = true
			act()
		}
		return nil
	}
}
