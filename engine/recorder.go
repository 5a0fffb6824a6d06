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
	// firstRate is what an engine on two cores records in a second.
	firstRate = 200
	// measureFor is the least time over which a rate is measured, and newsWeight
	// what the newest one counts.
	measureFor = time.Second
	newsWeight = 0.3
)

// Recorder stands between the SDK's workers and Temporal: it ends tasks in the
// order in which they would time out, few at once, and measures how fast Temporal
// records them.
type Recorder struct {
	turns *turns
	// deadlines are when the tasks that were handed out time out, by token.
	deadlines *lru.Cache[string, time.Time]

	mu   sync.Mutex
	rate float64 // tasks per second, while there was a queue
	// since is when the measurement began, and done what was recorded since.
	since time.Time
	done  int
}

// NewRecorder returns a Recorder for one connection.
func NewRecorder() (*Recorder, error) {
	deadlines, err := lru.New[string, time.Time](maxTasks)
	return &Recorder{turns: newTurns(), deadlines: deadlines, rate: firstRate}, err
}

// Rate is how many tasks a second Temporal was seen to record when it had all
// to do.
func (r *Recorder) Rate() float64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.rate
}

// DialOption puts the recorder into a connection.
func (r *Recorder) DialOption() grpc.DialOption { return grpc.WithChainUnaryInterceptor(r.intercept) }

//nolint:revive // gRPC's signature
func (r *Recorder) intercept(
	ctx context.Context, method string, request, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, options ...grpc.CallOption,
) error {
	deadline, ends := r.deadline(request)
	if !ends {
		err := invoke(ctx, method, request, reply, conn, options...)
		if task, ok := reply.(*workflowservice.PollWorkflowTaskQueueResponse); ok && err == nil {
			r.handedOut(task)
		}
		return err
	}
	waited := r.turns.take(deadline)
	began := time.Now()
	defer func() { r.turns.leave(time.Since(began)); r.recorded(waited) }()
	// The SDK's deadline began before the queue.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTimeout)
	defer cancel()
	return invoke(ctx, method, request, reply, conn, options...)
}

// deadline tells whether a request ends a task, and when that times out.
func (r *Recorder) deadline(request any) (deadline time.Time, ends bool) {
	switch ended := request.(type) {
	case *workflowservice.RespondWorkflowTaskCompletedRequest:
		token := string(ended.GetTaskToken())
		deadline, _ = r.deadlines.Get(token)
		r.deadlines.Remove(token)
		return deadline, true
	case *workflowservice.RespondActivityTaskCompletedRequest, *workflowservice.RespondActivityTaskFailedRequest:
		return time.Now().Add(activitySlack), true
	default:
		return time.Time{}, false
	}
}

// handedOut notes when a task times out. A task of a run that goes on does not
// tell: it is recorded at once.
func (r *Recorder) handedOut(task *workflowservice.PollWorkflowTaskQueueResponse) {
	events := task.GetHistory().GetEvents()
	if len(events) == 0 {
		return
	}
	if began := events[0].GetWorkflowExecutionStartedEventAttributes(); began != nil {
		timeout := began.GetWorkflowTaskTimeout().AsDuration()
		r.deadlines.Add(string(task.GetTaskToken()), task.GetStartedTime().AsTime().Add(timeout))
	}
}

// recorded counts a task; a span in which one did not have to wait for its turn
// tells nothing of how many there could have been.
func (r *Recorder) recorded(waited bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !waited {
		r.since, r.done = time.Now(), 0
		return
	}
	r.done++
	if took := time.Since(r.since); took >= measureFor {
		r.rate += newsWeight * (float64(r.done)/took.Seconds() - r.rate)
		r.since, r.done = time.Now(), 0
	}
}
