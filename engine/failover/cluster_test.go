package failover

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	activitypb "go.temporal.io/api/activity/v1"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/serviceerror"
	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	workerpb "go.temporal.io/api/worker/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/wakecall/wakecall/core/health"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/workflows"
)

// cluster is a Temporal with some worker processes and the timers that they hold.
type cluster struct {
	t *testing.T

	mu   sync.Mutex
	runs []*heldRun
	// signs are lost when matching restarts.
	signs map[string]*workerpb.WorkerHeartbeat
	// away is why nothing is answered, deaf has signs be taken and forgotten, and strange has no
	// built token be known.
	away          error
	deaf, strange bool
	// froze is when a process came to stand still.
	froze []time.Time
	// known are the workers of which the machine knows that they have ended.
	known []string
	// lean has lists name the workers alone, as later servers will.
	lean bool
	// slow is how long it takes to end the polls of one queue.
	slow time.Duration
	// frees are the runs that were freed, and ended the workers whose polls were.
	frees, ended []string
	// read are the runs whose history was read.
	read      []string
	processes map[string]*process
}

// heldRun is a timer whose task a worker has: "" for one that waits for a worker.
type heldRun struct {
	id, holder string
	// attempt is the attempt of one that is past its first, which another worker may have.
	attempt *workflowpb.PendingActivityInfo
	rings   time.Time
	// listed is when visibility hears of it.
	listed    time.Time
	scheduled int64
	// lost is set for a task that did not arrive at its holder, and broken for a run that cannot be read.
	lost, broken bool
	// rung is when its receiver was called.
	rung []time.Time
}

func newCluster(t *testing.T) *cluster {
	return &cluster{t: t, signs: map[string]*workerpb.WorkerHeartbeat{}, processes: map[string]*process{}}
}

// holds has a worker hold a number of timers that ring one after the other.
func (c *cluster) holds(worker string, timers int, rings time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for range timers {
		id := strconv.Itoa(len(c.runs))
		c.runs = append(c.runs, &heldRun{id: id, holder: worker, rings: time.Now().Add(rings), scheduled: 2})
		rings += time.Second
	}
}

// attempts has a worker make an attempt on a queue. Its id is returned.
func (c *cluster) attempts(worker, queue string) (id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	id = strconv.Itoa(len(c.runs))
	c.runs = append(c.runs, &heldRun{id: id, attempt: &workflowpb.PendingActivityInfo{
		ActivityId: id, Attempt: 1, ActivityType: &commonpb.ActivityType{Name: workflows.ActivityDeliver}, State: enumspb.PENDING_ACTIVITY_STATE_STARTED,
		LastWorkerIdentity: worker, ActivityOptions: &activitypb.ActivityOptions{TaskQueue: &taskqueuepb.TaskQueue{Name: queue}},
	}})
	return id
}

// heldBy counts the timers that a worker holds.
func (c *cluster) heldBy(worker string) (timers int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range c.runs {
		if r.holder == worker {
			timers++
		}
	}
	return timers
}

func (c *cluster) freed() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.frees)
}

func (c *cluster) endedPolls() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.ended)
}

// set changes how Temporal is.
func (c *cluster) set(change func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change()
}

// ends has the machine know that a worker has ended.
func (c *cluster) ends(worker string) { c.set(func() { c.known = append(c.known, worker) }) }

// hasEnded reports whether the machine of a worker knows that it has ended.
func (c *cluster) hasEnded(worker string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Contains(c.known, worker)
}

// process is a worker process of the cluster.
type process struct {
	client.Client

	of       *cluster
	failover *Failover
	name     string
	// got is when it got its tasks; zero for a moment ago.
	got time.Time
	// frozen is closed when the process thaws; nil while it runs.
	frozen chan struct{}
	kill   func()
	// died, revived and freed are what it was told.
	died, revived []string
	freed, failed int
}

// starts starts a worker process.
func (c *cluster) starts(name string) *process {
	p := &process{of: c, name: name}
	p.failover = New(kernel.New(p, "default", ""), Config{Worker: name, Tasks: p, Trouble: NewTrouble(), Observer: p, Ended: c.hasEnded, About: aboutWorker})
	ctx, cancel := context.WithCancel(c.t.Context())
	var running sync.WaitGroup
	_ = p.failover.Begin(ctx) // it goes on without, as a worker does
	running.Go(func() { p.failover.Run(ctx) })
	p.kill = func() { p.thaw(); cancel(); running.Wait() }
	c.t.Cleanup(p.kill)
	c.set(func() { c.processes[name] = p })
	return p
}

func aboutWorker() health.About { return health.About{Role: health.Worker, Version: "1.2.3"} }

// stops stops it as a deploy does.
func (p *process) stops(took time.Duration) {
	p.failover.Stop()
	<-time.After(took)
	p.kill()
	require.NoError(p.of.t, p.failover.End(context.Background()))
}

// fails has it see that Temporal fails.
func (p *process) fails() {
	fail := func(context.Context, string, any, any, *grpc.ClientConn, ...grpc.CallOption) error {
		return status.Error(codes.Unavailable, "away")
	}
	require.Error(p.of.t, p.failover.Trouble.intercept(p.of.t.Context(), "", nil, nil, nil, fail))
}

func (p *process) freeze() {
	p.of.set(func() {
		p.frozen = make(chan struct{})
		p.of.froze = append(p.of.froze, time.Now())
	})
}

func (p *process) thaw() {
	p.of.set(func() {
		if p.frozen != nil {
			close(p.frozen)
			p.frozen = nil
		}
	})
}

func (p *process) Died(worker string)    { p.of.set(func() { p.died = append(p.died, worker) }) }
func (p *process) Revived(worker string) { p.of.set(func() { p.revived = append(p.revived, worker) }) }
func (p *process) Freed(timers int)      { p.of.set(func() { p.freed += timers }) }
func (p *process) Failed(error)          { p.of.set(func() { p.failed++ }) }

// Has implements [Tasks].
func (p *process) Has(run string) (since time.Time, ok bool) {
	p.of.mu.Lock()
	defer p.of.mu.Unlock()
	for _, r := range p.of.runs {
		if r.runID() == run {
			if p.got.IsZero() {
				return time.Now(), !r.lost && r.holder == p.name
			}
			return p.got, !r.lost && r.holder == p.name
		}
	}
	return time.Time{}, false
}

// Got implements [Tasks].
func (p *process) Got(run string, startedID int64) bool {
	p.of.mu.Lock()
	defer p.of.mu.Unlock()
	for _, r := range p.of.runs {
		if r.runID() == run {
			return !r.lost && r.holder == p.name && startedID == r.scheduled+1
		}
	}
	return false
}

// call makes a call of a process, which stands still while the process is frozen.
func call[R any](ctx context.Context, p *process, do func() (R, error)) (none R, err error) {
	p.of.mu.Lock()
	frozen := p.frozen
	p.of.mu.Unlock()
	if frozen != nil {
		<-frozen
	}
	if ctx.Err() != nil {
		return none, ctx.Err()
	}
	p.of.mu.Lock()
	defer p.of.mu.Unlock()
	if p.of.away != nil {
		return none, p.of.away
	}
	return do()
}

// WorkflowService implements [client.Client].
func (p *process) WorkflowService() workflowservice.WorkflowServiceClient { return service{caller: p} }

// service has the calls that Temporal's client does not offer.
type service struct {
	workflowservice.WorkflowServiceClient
	caller *process
}

func (p service) RecordWorkerHeartbeat(
	ctx context.Context, r *workflowservice.RecordWorkerHeartbeatRequest, _ ...grpc.CallOption,
) (*workflowservice.RecordWorkerHeartbeatResponse, error) {
	return call(ctx, p.caller, func() (*workflowservice.RecordWorkerHeartbeatResponse, error) {
		for _, heartbeat := range r.GetWorkerHeartbeat() {
			switch {
			case p.caller.of.deaf:
			case heartbeat.GetStatus() == enumspb.WORKER_STATUS_SHUTDOWN:
				delete(p.caller.of.signs, heartbeat.GetWorkerInstanceKey())
			default:
				p.caller.of.signs[heartbeat.GetWorkerInstanceKey()] = heartbeat
			}
		}
		return &workflowservice.RecordWorkerHeartbeatResponse{}, nil
	})
}

func (p service) ListWorkers(
	ctx context.Context, r *workflowservice.ListWorkersRequest, _ ...grpc.CallOption,
) (*workflowservice.ListWorkersResponse, error) {
	return call(ctx, p.caller, func() (*workflowservice.ListWorkersResponse, error) {
		listed := &workflowservice.ListWorkersResponse{}
		for _, heartbeat := range p.caller.of.signs {
			if strings.Contains(r.GetQuery(), "'"+heartbeat.GetTaskQueue()+"'") || strings.Contains(r.GetQuery(), "'"+heartbeat.GetWorkerIdentity()+"'") {
				if !p.caller.of.lean {
					listed.WorkersInfo = append(listed.WorkersInfo, &workerpb.WorkerInfo{WorkerHeartbeat: heartbeat}) //nolint:staticcheck // what 1.32 answers
				}
				listed.Workers = append(listed.Workers, &workerpb.WorkerListInfo{WorkerInstanceKey: heartbeat.GetWorkerInstanceKey()})
			}
		}
		return listed, nil
	})
}

func (p service) DescribeWorker(
	ctx context.Context, r *workflowservice.DescribeWorkerRequest, _ ...grpc.CallOption,
) (*workflowservice.DescribeWorkerResponse, error) {
	return call(ctx, p.caller, func() (*workflowservice.DescribeWorkerResponse, error) {
		return &workflowservice.DescribeWorkerResponse{WorkerInfo: &workerpb.WorkerInfo{WorkerHeartbeat: p.caller.of.signs[r.GetWorkerInstanceKey()]}}, nil
	})
}

func (p service) ShutdownWorker(
	ctx context.Context, r *workflowservice.ShutdownWorkerRequest, _ ...grpc.CallOption,
) (*workflowservice.ShutdownWorkerResponse, error) {
	select {
	case <-time.After(p.caller.of.slow):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return call(ctx, p.caller, func() (*workflowservice.ShutdownWorkerResponse, error) {
		p.caller.of.ended = append(p.caller.of.ended, r.GetIdentity()+" "+r.GetTaskQueue())
		return &workflowservice.ShutdownWorkerResponse{}, nil
	})
}

func (p service) DescribeNamespace(
	ctx context.Context, _ *workflowservice.DescribeNamespaceRequest, _ ...grpc.CallOption,
) (*workflowservice.DescribeNamespaceResponse, error) {
	return call(ctx, p.caller, func() (*workflowservice.DescribeNamespaceResponse, error) {
		return &workflowservice.DescribeNamespaceResponse{}, nil
	})
}

// RespondWorkflowTaskFailed frees a task, once, and hands it to a worker that lives.
func (p service) RespondWorkflowTaskFailed(
	ctx context.Context, r *workflowservice.RespondWorkflowTaskFailedRequest, _ ...grpc.CallOption,
) (*workflowservice.RespondWorkflowTaskFailedResponse, error) {
	return call(ctx, p.caller, func() (*workflowservice.RespondWorkflowTaskFailedResponse, error) {
		for _, run := range p.caller.of.runs {
			if run.named(r.GetTaskToken()) && !p.caller.of.strange {
				run.holder, run.scheduled, run.lost = p.caller.name, run.scheduled+3, false
				p.caller.of.frees = append(p.caller.of.frees, run.id)
				return &workflowservice.RespondWorkflowTaskFailedResponse{}, nil
			}
		}
		return nil, serviceerror.NewNotFound("workflow task not found")
	})
}

// runID ends in a character of its own, so that none begins another one.
func (r *heldRun) runID() string { return "run of " + r.id + "." }

// named reports whether a token names the task of a run that is scheduled: its field 4 follows
// the run id.
func (r *heldRun) named(token []byte) bool {
	task := protowire.AppendVarint(protowire.AppendTag([]byte(r.runID()), 4, protowire.VarintType), uint64(r.scheduled))
	return bytes.Contains(token, task)
}

// namedTry reports whether a token names the try that is under way.
func (r *heldRun) namedTry(token []byte) bool {
	try := protowire.AppendVarint(protowire.AppendTag([]byte(r.runID()), 4, protowire.VarintType), attemptScheduled)
	return bytes.Contains(token, protowire.AppendVarint(protowire.AppendTag(try, 5, protowire.VarintType), uint64(r.attempt.GetAttempt())))
}

// ListWorkflow implements [client.Client].
func (p *process) ListWorkflow(ctx context.Context, r *workflowservice.ListWorkflowExecutionsRequest) (*workflowservice.ListWorkflowExecutionsResponse, error) {
	return call(ctx, p, func() (*workflowservice.ListWorkflowExecutionsResponse, error) {
		listed := &workflowservice.ListWorkflowExecutionsResponse{}
		for _, run := range p.of.runs {
			if run.listed.After(time.Now()) || strings.HasSuffix(r.GetQuery(), "IS NULL") != (run.attempt == nil) {
				continue
			}
			memo, err := kernel.Payloads.ToPayload(timer.Memo{DueAt: wire.At(run.rings), CreatedAt: wire.At(run.rings)})
			require.NoError(p.of.t, err)
			listed.Executions = append(listed.Executions, &workflowpb.WorkflowExecutionInfo{
				Execution: &commonpb.WorkflowExecution{WorkflowId: "order/" + run.id, RunId: run.runID()},
				Memo:      &commonpb.Memo{Fields: map[string]*commonpb.Payload{workflows.MemoTimer: memo}},
			})
		}
		return listed, nil
	})
}

// DescribeWorkflowExecution implements [client.Client].
func (p *process) DescribeWorkflowExecution(ctx context.Context, id, _ string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
	return call(ctx, p, func() (*workflowservice.DescribeWorkflowExecutionResponse, error) {
		described := &workflowservice.DescribeWorkflowExecutionResponse{}
		for _, run := range p.of.runs {
			switch {
			case "order/"+run.id != id:
			case run.broken:
				return nil, serviceerror.NewUnavailable("the run cannot be read")
			case run.holder != "":
				described.PendingWorkflowTask = &workflowpb.PendingWorkflowTaskInfo{State: enumspb.PENDING_WORKFLOW_TASK_STATE_STARTED}
			default:
				described.PendingActivities = append(described.PendingActivities, run.attempt)
			}
		}
		return described, nil
	})
}

// RespondActivityTaskFailed ends a try that a worker makes, and no later one.
func (p service) RespondActivityTaskFailed(
	ctx context.Context, r *workflowservice.RespondActivityTaskFailedRequest, _ ...grpc.CallOption,
) (*workflowservice.RespondActivityTaskFailedResponse, error) {
	return call(ctx, p.caller, func() (*workflowservice.RespondActivityTaskFailedResponse, error) {
		for _, run := range p.caller.of.runs {
			if run.attempt != nil && run.namedTry(r.GetTaskToken()) && run.attempt.GetState() != enumspb.PENDING_ACTIVITY_STATE_SCHEDULED {
				run.attempt.State = enumspb.PENDING_ACTIVITY_STATE_SCHEDULED
				run.attempt.Attempt++
				p.caller.of.frees = append(p.caller.of.frees, run.id)
				return &workflowservice.RespondActivityTaskFailedResponse{}, nil
			}
		}
		return nil, serviceerror.NewNotFound("activity not found")
	})
}

// GetWorkflowHistory implements [client.Client].
//
//nolint:revive // the client's own arguments
func (p *process) GetWorkflowHistory(ctx context.Context, id, _ string, _ bool, _ enumspb.HistoryEventFilterType) client.HistoryEventIterator {
	events, err := call(ctx, p, func() ([]*historypb.HistoryEvent, error) {
		for _, run := range p.of.runs {
			if "order/"+run.id == id {
				p.of.read = append(p.of.read, run.id)
				return run.history(), nil
			}
		}
		return nil, errors.New("no such run")
	})
	return &iterator{left: events, err: err}
}

// attemptScheduled is the event that has scheduled an attempt on a queue.
const attemptScheduled = 7

// history is that of a run whose task is scheduled, and held if a worker has it.
func (r *heldRun) history() []*historypb.HistoryEvent {
	var events []*historypb.HistoryEvent
	if r.attempt != nil {
		events = append(events, &historypb.HistoryEvent{
			EventId: attemptScheduled, Attributes: &historypb.HistoryEvent_ActivityTaskScheduledEventAttributes{
				ActivityTaskScheduledEventAttributes: &historypb.ActivityTaskScheduledEventAttributes{ActivityId: r.attempt.GetActivityId()},
			},
		})
	}
	events = append(events, &historypb.HistoryEvent{
		EventId: r.scheduled, EventType: enumspb.EVENT_TYPE_WORKFLOW_TASK_SCHEDULED,
		Attributes: &historypb.HistoryEvent_WorkflowTaskScheduledEventAttributes{
			WorkflowTaskScheduledEventAttributes: &historypb.WorkflowTaskScheduledEventAttributes{Attempt: 1},
		},
	})
	if r.holder == "" {
		return events
	}
	return append(events, &historypb.HistoryEvent{
		EventId: r.scheduled + 1, EventType: enumspb.EVENT_TYPE_WORKFLOW_TASK_STARTED,
		Attributes: &historypb.HistoryEvent_WorkflowTaskStartedEventAttributes{
			WorkflowTaskStartedEventAttributes: &historypb.WorkflowTaskStartedEventAttributes{Identity: r.holder},
		},
	})
}

type iterator struct {
	left []*historypb.HistoryEvent
	err  error
}

func (i *iterator) HasNext() bool { return len(i.left) > 0 || i.err != nil }

func (i *iterator) Next() (*historypb.HistoryEvent, error) {
	if i.err != nil {
		return nil, i.err
	}
	next := i.left[0]
	i.left = i.left[1:]
	return next, nil
}
