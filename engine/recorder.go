package engine

import (
	"cmp"
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
	// longestWait is how long the end of a task may wait for its turn, if it is not
	// known when the task times out.
	longestWait = 10 * time.Second
	// leastRecords are recorded at once, however long each takes.
	leastRecords = 2
	// recordSlowdown is how many times as long as the quickest a record may take:
	// what rings meanwhile shares the engine with it.
	recordSlowdown = 4
	// lastTry is how long before a task times out its end stops waiting for a turn.
	lastTry = 250 * time.Millisecond
	// unusedFor is how long a turn is kept for who took it ahead. Without one it
	// waits again.
	unusedFor = 2 * time.Second
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
	// runs are those whose task was handed out, by its token, and tasks the newest
	// of each run.
	runs  *lru.Cache[string, string]
	tasks *lru.Cache[string, task]

	mu sync.Mutex
	// ahead are the turns of those whose end is still to be sent, and ending are the
	// ends that wait for one of their own, by run.
	ahead  map[string]turn
	ending map[string]int
}

// task is what is known of one that a worker has.
type task struct {
	timeout time.Duration
	// timesOut is zero where the timeout is not known.
	timesOut time.Time
	// predecessor is the worker that had the task before this one of the run, as
	// far as the history tells that came with it.
	predecessor string
}

// timedOut is whether Temporal has given the task up, and hands out a new one.
func (t task) timedOut() bool { return !t.timesOut.IsZero() && time.Now().After(t.timesOut) }

// until is how long the end of the task may wait for its turn: whoever waits longer
// takes it from a task that can still be recorded.
func (t task) until() time.Time {
	if t.timesOut.IsZero() {
		return time.Now().Add(longestWait)
	}
	return t.timesOut.Add(-lastTry)
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
	tasks, err := lru.New[string, task](maxTasks)
	return &Recorder{
		turns: newTurns(leastRecords, recordSlowdown), rate: rate{perSecond: firstRate}, runs: runs, tasks: tasks,
		ahead: map[string]turn{}, ending: map[string]int{},
	}, err
}

// Rate is how many tasks a second Temporal was seen to record when it had all
// to do.
func (r *Recorder) Rate() float64 { return r.rate.now() }

// TimedOut reports whether the task that this process has of a run was given up by
// Temporal, as far as is known here: by now somebody else may have it.
func (r *Recorder) TimedOut(run string) bool {
	task, _ := r.tasks.Get(run)
	return task.timedOut()
}

// Predecessor returns the identity of the worker that had a run's last task before
// this process was handed the one that it has; "" where there was none.
func (r *Recorder) Predecessor(run string) (worker string) {
	task, _ := r.tasks.Get(run)
	return task.predecessor
}

// Take waits for the turn of a run's task, unless ctx or the task ends first, and
// takes it ahead: what the SDK does between here and the end of the task needs the
// processor, and the tasks of a herd that has rung would take it from those that
// ring next. A task that timed out needs none: nothing is recorded of it. A turn
// that is not used within 2 s lapses.
func (r *Recorder) Take(ctx context.Context, run string) {
	task, _ := r.tasks.Get(run)
	if task.timedOut() {
		return
	}
	ctx, cancel := context.WithDeadline(ctx, task.until())
	defer cancel()
	waited, ok := r.turns.take(ctx, task.timesOut)
	if !ok {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	// The task was handed out twice, or the SDK ends it to ask for more time, and
	// that end is the next in the line.
	if _, taken := r.ahead[run]; taken || r.ending[run] > 0 {
		r.turns.giveBack()
		return
	}
	r.ahead[run] = turn{waited, time.AfterFunc(unusedFor, func() {
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
	if ends(request) {
		waited, ok := r.await(ctx, request)
		if began := time.Now(); ok {
			defer func() { r.leave(time.Since(began), waited, err) }()
		}
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

// leave ends a turn. A refusal tells nothing of how long it takes to record a task.
func (r *Recorder) leave(took time.Duration, waited bool, err error) {
	if err != nil {
		r.turns.giveBack()
		return
	}
	r.turns.leave(took)
	r.rate.recorded(waited)
}

// ends tells whether a request ends a task.
func ends(request any) bool {
	switch request.(type) {
	case *workflowservice.RespondWorkflowTaskCompletedRequest,
		*workflowservice.RespondActivityTaskCompletedRequest, *workflowservice.RespondActivityTaskFailedRequest:
		return true
	default:
		return false
	}
}

// await waits for the turn of what ends a task, unless it was taken ahead. Shortly
// before the task times out it goes without one: ok is false.
func (r *Recorder) await(ctx context.Context, request any) (waited, ok bool) {
	ended := task{timesOut: time.Now().Add(longestWait)}
	if completed, ok := request.(*workflowservice.RespondWorkflowTaskCompletedRequest); ok {
		token := string(completed.GetTaskToken())
		run, _ := r.runs.Get(token)
		r.runs.Remove(token)
		if taken, ok := r.redeem(run); ok {
			return taken.waited, true
		}
		ended, _ = r.tasks.Get(run)
		r.lineUp(run, 1)
		defer r.lineUp(run, -1)
	}
	ctx, cancel := context.WithDeadline(context.WithoutCancel(ctx), ended.until())
	defer cancel()
	return r.turns.take(ctx, ended.timesOut)
}

// lineUp counts an end of a run's task that begins or ceases to wait.
func (r *Recorder) lineUp(run string, n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ending[run] += n; r.ending[run] == 0 {
		delete(r.ending, run)
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
	before, _ := r.tasks.Get(run)
	handed := task{
		timeout:     cmp.Or(timeoutOf(poll), before.timeout),
		predecessor: cmp.Or(predecessorIn(poll), before.predecessor),
	}
	if handed.timeout > 0 {
		// By this process's clock, which Temporal's may differ from.
		handed.timesOut = time.Now().Add(handed.timeout)
	}
	r.tasks.Add(run, handed)
}

// predecessorIn is the worker that had the task before the one that is handed out.
func predecessorIn(poll *workflowservice.PollWorkflowTaskQueueResponse) (worker string) {
	for _, event := range poll.GetHistory().GetEvents() {
		if started := event.GetWorkflowTaskStartedEventAttributes(); started != nil && event.GetEventId() < poll.GetStartedEventId() {
			worker = started.GetIdentity()
		}
	}
	return worker
}

// timeoutOf is the timeout of a run's tasks, where the history tells: it is sent
// with the first.
func timeoutOf(poll *workflowservice.PollWorkflowTaskQueueResponse) time.Duration {
	for _, event := range poll.GetHistory().GetEvents() {
		if began := event.GetWorkflowExecutionStartedEventAttributes(); began != nil {
			return began.GetWorkflowTaskTimeout().AsDuration()
		}
	}
	return 0
}
