package enginetest

import (
	"context"
	"strconv"
	"sync"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// Temporal is a namespace in memory. It stores runs and their histories, and answers as a
// server of Temporal does, with its errors. No worker is there: a test plays its part by
// a [Worker]. A call that it does not know
// panics.
type Temporal struct {
	client.Client

	// Err is what every call fails with, unless it is nil.
	Err error
	// OnEvent is told of every signal and every request for cancellation, after it was stored.
	// It may be nil.
	OnEvent func(id string, event *historypb.HistoryEvent)
	// Backlogs are the attempts that wait on each task queue. A queue is polled unless it is in
	// Unpolled.
	Backlogs map[string]int64
	Unpolled map[string]bool

	mu     sync.Mutex
	runs   []*run
	number int
}

// run is one run of a workflow.
type run struct {
	described *workflowservice.DescribeWorkflowExecutionResponse
	events    []*historypb.HistoryEvent
	// attributes are the search attributes as they were given.
	attributes map[string]any
	// closed is closed once the run is.
	closed chan struct{}
	// result is what the run ended with: a value, or an error.
	result any
}

func (r *run) info() *workflowpb.WorkflowExecutionInfo { return r.described.GetWorkflowExecutionInfo() }
func (r *run) id() string                              { return r.info().GetExecution().GetWorkflowId() }
func (r *run) runID() string                           { return r.info().GetExecution().GetRunId() }
func (r *run) open() bool {
	return r.info().GetStatus() == enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING
}

// latest is the run of a workflow with an id, or the last one where that is "". It is nil where
// there is none. The caller holds the lock.
func (t *Temporal) latest(id, runID string) (found *run) {
	for _, r := range t.runs {
		if r.id() == id && (runID == "" || r.runID() == runID) {
			found = r
		}
	}
	return found
}

func notFound() error { return serviceerror.NewNotFound("workflow execution not found") }

// begin adds a run. The caller holds the lock.
func (t *Temporal) begin(id, workflowType, first string, input *commonpb.Payloads) *run {
	t.number++
	runID := "run-" + strconv.Itoa(t.number)
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
	t.runs = append(t.runs, r)
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

// end closes a run by an event. The caller holds the lock.
func (r *run) end(status enumspb.WorkflowExecutionStatus, kind enumspb.EventType, event *historypb.HistoryEvent) {
	r.record(kind, event)
	r.info().Status, r.info().CloseTime = status, timestamppb.New(time.Now())
	close(r.closed)
}

// memo sets what a run says of itself. The caller holds the lock.
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

// DescribeWorkflowExecution implements [client.Client].
func (t *Temporal) DescribeWorkflowExecution(_ context.Context, id, runID string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.latest(id, runID)
	switch {
	case t.Err != nil:
		return nil, t.Err
	case r == nil:
		return nil, notFound()
	}
	return proto.CloneOf(r.described), nil
}

// GetWorkflowHistory implements [client.Client]. Its iterator waits for the end of a run where
// only the last event is asked for.
//
//nolint:revive // the client's own arguments
func (t *Temporal) GetWorkflowHistory(
	ctx context.Context, id, runID string, _ bool, filter enumspb.HistoryEventFilterType,
) client.HistoryEventIterator {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.latest(id, runID)
	switch {
	case t.Err != nil:
		return &events{err: t.Err}
	case r == nil:
		return &events{err: notFound()}
	case filter == enumspb.HISTORY_EVENT_FILTER_TYPE_CLOSE_EVENT:
		return &lastEvent{ctx: ctx, of: t, run: r}
	}
	return &events{left: append([]*historypb.HistoryEvent{}, r.events...)}
}

// lastEvent is the end of a run, which is waited for.
type lastEvent struct {
	client.HistoryEventIterator
	ctx context.Context
	of  *Temporal
	run *run
}

// Next implements [client.HistoryEventIterator].
func (l *lastEvent) Next() (*historypb.HistoryEvent, error) {
	select {
	case <-l.run.closed:
		l.of.mu.Lock()
		defer l.of.mu.Unlock()
		return l.run.events[len(l.run.events)-1], nil
	case <-l.ctx.Done():
		return nil, l.ctx.Err()
	}
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

// Status is the status of the latest run of a workflow.
func (t *Temporal) Status(id string) enumspb.WorkflowExecutionStatus {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.latest(id, "").info().GetStatus()
}

// Marks are the ids of requests that are attached to the latest run of a workflow.
func (t *Temporal) Marks(id string) (marks []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for mark := range t.latest(id, "").described.GetWorkflowExtendedInfo().GetRequestIdInfos() {
		marks = append(marks, mark)
	}
	return marks
}

// IDs are the ids of all workflows, one for each run.
func IDs(t *Temporal) (ids []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, r := range t.runs {
		ids = append(ids, r.id())
	}
	return ids
}
