package engine

import (
	"context"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"
)

const (
	// recordTimeout bounds one completion; the SDK sets the same.
	recordTimeout = 10 * time.Second
	// activitySlack is how long the end of an attempt on the queue may wait.
	activitySlack = 10 * time.Second
	// maxTasks is more than a worker has at once. What is forgotten is recorded
	// as if it were about to time out.
	maxTasks = 1 << 16
)

// Recorder stands between the SDK's workers and Temporal: it ends tasks in the
// order in which they would time out, few at once, and measures how fast Temporal
// records them.
type Recorder struct {
	turns *turns
	rate  rate
	// runs are those whose task was handed out, by its token, and deadlines when
	// it times out, by run.
	runs      *lru.Cache[string, string]
	deadlines *lru.Cache[string, time.Time]

	mu sync.Mutex
	// ahead are the turns of those whose end is still to be sent, by run.
	ahead map[string]turn
}

// task is one that a worker has. An activity's has no run.
type task struct {
	run      string
	timesOut time.Time
}

// turn is one that was taken ahead.
type turn struct {
	waited bool
	lapses *time.Timer
}

// NewRecorder returns a Recorder for one connection.
func NewRecorder() (*Recorder, error) {
	runs, err := lru.New[string, string](maxTasks)
	if err != nil {
		return nil, err
	}
	deadlines, err := lru.New[string, time.Time](maxTasks)
	return &Recorder{
		turns: newTurns(), rate: rate{perSecond: firstRate}, runs: runs, deadlines: deadlines, ahead: map[string]turn{},
	}, err
}

// Rate is how many tasks a second Temporal was seen to record when it had all
// to do.
func (r *Recorder) Rate() float64 { return r.rate.now() }

// Take waits for the turn of a run's task, unless ctx ends first, and takes it
// ahead: what the SDK does between here and the end of the task needs the
// processor, and the tasks of a herd that has rung would take it from those that
// ring next. A turn that is not used within 10 s lapses.
func (r *Recorder) Take(ctx context.Context, run string) {
	deadline, _ := r.deadlines.Get(run)
	waited, ok := r.turns.take(ctx, deadline)
	if !ok {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, taken := r.ahead[run]; taken { // the task was handed out twice
		r.turns.giveBack()
		return
	}
	r.ahead[run] = turn{waited, time.AfterFunc(recordTimeout, func() {
		if _, ok := r.redeem(run); ok {
			r.turns.giveBack()
		}
	})}
}

func (r *Recorder) redeem(run string) (taken turn, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if taken, ok = r.ahead[run]; ok {
		taken.lapses.Stop()
		delete(r.ahead, run)
	}
	return taken, ok
}

// DialOption puts the recorder into a connection.
func (r *Recorder) DialOption() grpc.DialOption { return grpc.WithChainUnaryInterceptor(r.intercept) }

//nolint:revive // gRPC's signature
func (r *Recorder) intercept(
	ctx context.Context, method string, request, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, options ...grpc.CallOption,
) (err error) {
	if task, ends := r.ends(request); ends {
		waited := r.await(task)
		began := time.Now()
		defer func() { r.turns.leave(time.Since(began)); r.rate.recorded(waited) }()
		// The SDK's deadline began before the queue.
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), recordTimeout)
		defer cancel()
	}
	if err = invoke(ctx, method, request, reply, conn, options...); err == nil {
		r.handedOut(reply)
	}
	return err
}

// await waits for the turn of a task, unless it was taken ahead.
func (r *Recorder) await(task task) (waited bool) {
	if taken, ok := r.redeem(task.run); ok {
		return taken.waited
	}
	waited, _ = r.turns.take(context.Background(), task.timesOut)
	return waited
}

// ends tells whether a request ends a task, and which.
func (r *Recorder) ends(request any) (ended task, ends bool) {
	switch request := request.(type) {
	case *workflowservice.RespondWorkflowTaskCompletedRequest:
		token := string(request.GetTaskToken())
		ended.run, _ = r.runs.Get(token)
		ended.timesOut, _ = r.deadlines.Get(ended.run)
		r.runs.Remove(token)
		return ended, true
	case *workflowservice.RespondActivityTaskCompletedRequest, *workflowservice.RespondActivityTaskFailedRequest:
		return task{timesOut: time.Now().Add(activitySlack)}, true
	default:
		return task{}, false
	}
}

// handedOut notes the task that an answer brings, if it does.
func (r *Recorder) handedOut(reply any) {
	var poll *workflowservice.PollWorkflowTaskQueueResponse
	switch reply := reply.(type) {
	case *workflowservice.PollWorkflowTaskQueueResponse:
		poll = reply
	case *workflowservice.RespondWorkflowTaskCompletedResponse: // the next one of the same run
		poll = reply.GetWorkflowTask()
	}
	if len(poll.GetTaskToken()) == 0 {
		return
	}
	run := poll.GetWorkflowExecution().GetRunId()
	r.runs.Add(string(poll.GetTaskToken()), run)
	r.deadlines.Add(run, timesOut(poll))
}

// timesOut is when a task does. That of a run that goes on does not tell: it is
// recorded at once.
func timesOut(poll *workflowservice.PollWorkflowTaskQueueResponse) time.Time {
	for _, event := range poll.GetHistory().GetEvents() {
		if began := event.GetWorkflowExecutionStartedEventAttributes(); began != nil {
			return poll.GetStartedTime().AsTime().Add(began.GetWorkflowTaskTimeout().AsDuration())
		}
	}
	return time.Time{}
}
