package enginetest

import (
	"context"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/serviceerror"
	workerpb "go.temporal.io/api/worker/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// Temporal is a namespace in memory. It stores runs and their histories, and answers as a Temporal
// server does, with its errors. It has no workers: a test uses a [Worker], or polls for tasks
// itself. A call that it does not implement panics.
type Temporal struct {
	client.Client

	// Err is the error of every call, unless it is nil.
	Err error
	// Before runs before each call. If it returns an error, the call fails with it and has no
	// effect. After runs once a call has taken effect. If it returns an error, the answer is lost.
	// Both may be nil, and may make calls.
	Before, After func(Call) error
	// Backlogs has the attempts that have waited on each task queue for a minute. A queue is polled
	// unless it is in Unpolled, by a worker, or by one with an identity in Pollers.
	Backlogs map[string]int64
	Unpolled map[string]bool
	Pollers  map[string]string

	calls []Call
	store
}

// store has the runs of a namespace.
type store struct {
	// signs are the last signs of life of workers, by their instance keys.
	signs map[string]*workerpb.WorkerHeartbeat
	// OnEvent is called for every signal and every request for cancellation, after it was stored.
	// It may be nil.
	OnEvent func(id string, event *historypb.HistoryEvent)
	// Server is the configuration of the server.
	Server

	mu     sync.Mutex
	runs   []*run
	number int
	// turns counts the tasks that have come to each queue, by key.
	turns map[string]int
}

// Call is a call to Temporal.
type Call struct {
	// Name is the method of the client or of the service.
	Name string
	// Of is its object: the id of a workflow, the name of a task queue, or a query.
	Of string
	// What names a signal, an update or an activity.
	What string
}

// run is one run of a workflow.
type run struct {
	described *workflowservice.DescribeWorkflowExecutionResponse
	events    []*historypb.HistoryEvent
	// attributes are the search attributes, unchanged.
	attributes map[string]any
	// queue is the task queue of its workflow tasks. fairness is their fairness key.
	queue, fairness string
	// task is its workflow task, nil for none.
	task *task
	// past reports whether a later run was deleted. The run is then found only by its run id.
	past bool
	// closed is closed when the run has ended.
	closed chan struct{}
	// result is the result of the run: a value, or an error.
	result any
}

func (r *run) info() *workflowpb.WorkflowExecutionInfo { return r.described.GetWorkflowExecutionInfo() }
func (r *run) id() string                              { return r.info().GetExecution().GetWorkflowId() }
func (r *run) runID() string                           { return r.info().GetExecution().GetRunId() }
func (r *run) open() bool {
	return r.info().GetStatus() == enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING
}

// called makes a call while it holds the lock.
func called[R any](t *Temporal, call Call, do func() (R, error)) (none R, err error) {
	t.mu.Lock()
	t.calls = append(t.calls, call)
	err = t.Err
	t.mu.Unlock()
	if err != nil {
		return none, err
	}
	if t.Before != nil {
		if err := t.Before(call); err != nil {
			return none, err
		}
	}
	answer, err := locked(t, do)
	if err == nil && t.After != nil {
		err = t.After(call)
	}
	if err != nil {
		return none, err
	}
	return answer, nil
}

func locked[R any](t *Temporal, do func() (R, error)) (R, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return do()
}

// latest returns the run with an id, or the last run of the workflow if the id is "". It returns
// nil if there is none. The caller holds the lock.
func (s *store) latest(id, runID string) (found *run) {
	for _, r := range s.runs {
		if r.id() == id && (runID == "" && !r.past || r.runID() == runID) {
			found = r
		}
	}
	return found
}

func notFound() error { return serviceerror.NewNotFound("workflow execution not found") }

// begin adds a run. The caller holds the lock.
func (s *store) begin(id, workflowType, first string, input *commonpb.Payloads) *run {
	s.number++
	runID := "run-" + strconv.Itoa(s.number)
	if first == "" {
		first = runID
	}
	now := timestamppb.New(time.Now())
	r := &run{
		closed: make(chan struct{}), attributes: map[string]any{},
		described: &workflowservice.DescribeWorkflowExecutionResponse{
			WorkflowExecutionInfo: &workflowpb.WorkflowExecutionInfo{
				Execution: &commonpb.WorkflowExecution{WorkflowId: id, RunId: runID}, FirstRunId: first,
				Type: &commonpb.WorkflowType{Name: workflowType}, Status: enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING,
				StartTime: now, ExecutionTime: now, Memo: &commonpb.Memo{Fields: map[string]*commonpb.Payload{}},
				SearchAttributes: &commonpb.SearchAttributes{IndexedFields: map[string]*commonpb.Payload{}},
			},
			WorkflowExtendedInfo: &workflowpb.WorkflowExecutionExtendedInfo{RequestIdInfos: map[string]*workflowpb.RequestIdInfo{}},
		},
	}
	s.runs = append(s.runs, r)
	r.record(enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED, &historypb.HistoryEvent{
		Attributes: &historypb.HistoryEvent_WorkflowExecutionStartedEventAttributes{
			WorkflowExecutionStartedEventAttributes: &historypb.WorkflowExecutionStartedEventAttributes{Input: input, FirstExecutionRunId: first},
		},
	})
	return r
}

// record appends an event to the history of a run. The caller holds the lock.
func (r *run) record(kind enumspb.EventType, event *historypb.HistoryEvent) {
	event.EventId, event.EventType, event.EventTime = int64(len(r.events)+1), kind, timestamppb.New(time.Now())
	r.events = append(r.events, event)
	r.info().HistoryLength = int64(len(r.events))
}

// end closes a run with an event. A terminated run keeps its pending activities, as in Temporal.
// The caller holds the lock.
func (r *run) end(status enumspb.WorkflowExecutionStatus, kind enumspb.EventType, event *historypb.HistoryEvent) {
	r.record(kind, event)
	r.info().Status, r.info().CloseTime = status, timestamppb.New(time.Now())
	if r.task, r.described.PendingWorkflowTask = nil, nil; status != enumspb.WORKFLOW_EXECUTION_STATUS_TERMINATED {
		r.described.PendingActivities = nil
	}
	close(r.closed)
}

// memo sets the memo of a run. The caller holds the lock.
func (r *run) memo(values map[string]any) error {
	for name, value := range values {
		encoded, err := Payloads.ToPayload(value)
		if err != nil {
			return err
		}
		r.info().Memo.Fields[name] = encoded
	}
	return nil
}

// attribute sets search attributes of a run. The caller holds the lock.
func (r *run) attribute(values map[string]any) error {
	for name, value := range values {
		encoded, err := Payloads.ToPayload(value)
		if err != nil {
			return err
		}
		r.attributes[name], r.info().SearchAttributes.IndexedFields[name] = value, encoded
	}
	return nil
}

// Put adds a run with the events of its history.
func (t *Temporal) Put(tb testing.TB, described *workflowservice.DescribeWorkflowExecutionResponse, history ...*historypb.HistoryEvent) {
	tb.Helper()
	r := &run{described: proto.CloneOf(described), events: history, closed: make(chan struct{}), attributes: map[string]any{}}
	if r.described.WorkflowExtendedInfo == nil {
		r.described.WorkflowExtendedInfo = &workflowpb.WorkflowExecutionExtendedInfo{}
	}
	if r.id() == "" {
		tb.Fatal("a run needs the id of its workflow")
	}
	if !r.open() {
		close(r.closed)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.runs = append(t.runs, r)
}

// RunsOf counts the runs of a workflow.
func (t *Temporal) RunsOf(id string) (runs int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, r := range t.runs {
		if r.id() == id {
			runs++
		}
	}
	return runs
}

// Status returns the status of the latest run of a workflow.
func (t *Temporal) Status(id string) enumspb.WorkflowExecutionStatus {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.latest(id, "").info().GetStatus()
}

// Marks returns the request ids that are attached to the latest run of a workflow.
func (t *Temporal) Marks(id string) (marks []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for mark := range t.latest(id, "").described.GetWorkflowExtendedInfo().GetRequestIdInfos() {
		marks = append(marks, mark)
	}
	return marks
}

// IDs returns the workflow ids of all runs, one for each run.
func IDs(t *Temporal) (ids []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, r := range t.runs {
		ids = append(ids, r.id())
	}
	return ids
}

// Calls returns the calls with a name so far, including the refused ones.
func (t *Temporal) Calls(name string) (calls []Call) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(t.calls), func(call Call) bool { return call.Name != name })
}

// Called returns the objects of the calls with a name.
func (t *Temporal) Called(name string) (of []string) {
	for _, call := range t.Calls(name) {
		of = append(of, call.Of)
	}
	return of
}

// Signals returns the names of the signals that were sent to a workflow, with or without a start.
func (t *Temporal) Signals(id string) (names []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, call := range t.calls {
		if call.Of == id && (call.Name == "SignalWorkflow" || call.Name == "SignalWithStartWorkflow") {
			names = append(names, call.What)
		}
	}
	return names
}

// Refuse makes the calls with a name fail with an error. With an id, only calls on this workflow
// fail. It replaces Before.
func (t *Temporal) Refuse(name, id string, err error) {
	t.Before = func(call Call) error {
		if call.Name == name && (id == "" || call.Of == id) {
			return err
		}
		return nil
	}
}

// DescribeWorkflowExecution implements [client.Client].
func (t *Temporal) DescribeWorkflowExecution(_ context.Context, id,
	runID string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
	return called(t, Call{Name: "DescribeWorkflowExecution", Of: id}, func() (*workflowservice.DescribeWorkflowExecutionResponse, error) {
		r := t.latest(id, runID)
		if r == nil {
			return nil, notFound()
		}
		return proto.CloneOf(r.described), nil
	})
}
