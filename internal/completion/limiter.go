package completion

import (
	"context"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"

	"github.com/wakecall/wakecall/internal/limiter"
	"github.com/wakecall/wakecall/internal/tuning"
)

// Limiter paces the completions of one connection.
type Limiter struct {
	concurrency *limiter.Limiter
	tasks       tasks
	// unrecorded are the workflow ids of the runs whose last task ended here without being
	// recorded.
	unrecorded *lru.Cache[string, string]

	mu sync.Mutex
	// reserved are the places of completions that are still to be sent, and waiting
	// counts the completions that wait for a place of their own, by run.
	reserved map[string]*time.Timer // which lets it lapse
	waiting  map[string]int
}

// New returns a Limiter for one connection.
func New() (*Limiter, error) {
	tasks, err := newTasks()
	if err != nil {
		return nil, err
	}
	unrecorded, err := lru.New[string, string](tuning.KnownTasks)
	return &Limiter{
		concurrency: limiter.New(tuning.MinCompletions, tuning.CompletionSlowdown), tasks: tasks, unrecorded: unrecorded,
		reserved: map[string]*time.Timer{}, waiting: map[string]int{},
	}, err
}

// Rate is how many tasks a second Temporal was seen to record when it had all
// to do.
func (l *Limiter) Rate() float64 { return l.concurrency.Rate() }

// TimedOut reports whether the task that this process has of a run was given up by
// Temporal, as far as is known here: by now somebody else may have it.
func (l *Limiter) TimedOut(run string) bool { return l.tasks.of(run).timedOut() }

// Predecessor returns the identity of the worker that had a run's last task before
// this process was handed the one that it has; "" where there was none.
func (l *Limiter) Predecessor(run string) (worker string) { return l.tasks.of(run).predecessor }

// Hold returns which task of a run this process has, and when it was handed the first of
// them: the SDK exchanges one that takes long for the next. All is zero where it is not known.
func (l *Limiter) Hold(run string) (attempt int, startedAt, beganAt time.Time) {
	held := l.tasks.of(run).hold
	return held.attempt, held.startedAt, held.beganAt
}

// Unrecorded are the runs whose last task ended here and was refused, as one that collides
// with a new event is, or was not answered; by run id, with the ids of their workflows.
func (l *Limiter) Unrecorded() map[string]string {
	runs := map[string]string{}
	for _, run := range l.unrecorded.Keys() {
		if id, ok := l.unrecorded.Peek(run); ok {
			runs[run] = id
		}
	}
	return runs
}

// ended notes whether the end of a run's task was recorded.
func (l *Limiter) ended(run string, err error) {
	switch {
	case run == "":
	case err == nil:
		l.unrecorded.Remove(run)
	default:
		l.unrecorded.Add(run, l.tasks.of(run).workflow)
	}
}

// Reserve waits for a place for the completion of a run's task, unless ctx or the task
// ends first, and keeps it for 2 s: what the SDK does between here and the completion
// needs the processor, and the tasks of a herd that has rung would take it from those
// that ring next. A task that timed out needs no place: nothing is recorded of it.
func (l *Limiter) Reserve(ctx context.Context, run string) {
	task := l.tasks.of(run)
	if task.timedOut() {
		return
	}
	ctx, cancel := context.WithDeadline(ctx, task.until())
	defer cancel()
	if _, ok := l.concurrency.Acquire(ctx, task.timesOut); !ok {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	// The task was handed out twice, or the SDK completes it to ask for more time, and
	// that completion is the next to go.
	if _, taken := l.reserved[run]; taken || l.waiting[run] > 0 {
		l.concurrency.Discard()
		return
	}
	l.reserved[run] = time.AfterFunc(tuning.ReservedFor, func() {
		if l.claim(run) {
			l.concurrency.Discard()
		}
	})
}

// claim takes the place that is reserved for a run.
func (l *Limiter) claim(run string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	lapses, ok := l.reserved[run]
	if ok {
		lapses.Stop()
		delete(l.reserved, run)
	}
	return ok
}

// DialOption puts the limiter into a connection.
func (l *Limiter) DialOption() grpc.DialOption { return grpc.WithChainUnaryInterceptor(l.intercept) }

//nolint:revive // gRPC's signature
func (l *Limiter) intercept(
	ctx context.Context, method string, request, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, options ...grpc.CallOption,
) (err error) {
	if run := l.tasks.ending(request); run != "" {
		defer func() { l.ended(run, err) }()
	}
	if completes(request) {
		ok := l.acquire(ctx, request)
		if began := time.Now(); ok {
			defer func() { l.release(time.Since(began), err) }()
		}
		// The SDK's deadline began before the wait.
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), tuning.CallTimeout)
		defer cancel()
	}
	if err = invoke(ctx, method, request, reply, conn, options...); err == nil {
		l.tasks.note(reply)
	}
	return err
}

// completes tells whether a request ends a task.
func completes(request any) bool {
	switch request.(type) {
	case *workflowservice.RespondWorkflowTaskCompletedRequest,
		*workflowservice.RespondActivityTaskCompletedRequest, *workflowservice.RespondActivityTaskFailedRequest:
		return true
	default:
		return false
	}
}

// acquire waits for a place, unless one is reserved. Shortly before its task times out
// a completion goes without one: ok is false.
func (l *Limiter) acquire(ctx context.Context, request any) (ok bool) {
	ended := task{timesOut: time.Now().Add(tuning.CompletionWait)}
	if completed, ok := request.(*workflowservice.RespondWorkflowTaskCompletedRequest); ok {
		run := l.tasks.take(completed.GetTaskToken())
		if l.claim(run) {
			return true
		}
		ended = l.tasks.of(run)
		l.wait(run, 1)
		defer l.wait(run, -1)
	}
	ctx, cancel := context.WithDeadline(context.WithoutCancel(ctx), ended.until())
	defer cancel()
	_, ok = l.concurrency.Acquire(ctx, ended.timesOut)
	return ok
}

// wait counts a completion of a run's task that begins or ceases to wait.
func (l *Limiter) wait(run string, n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.waiting[run] += n; l.waiting[run] == 0 {
		delete(l.waiting, run)
	}
}

// release gives a place back. A refusal tells nothing of how long it takes to record
// a task.
func (l *Limiter) release(took time.Duration, err error) {
	if err != nil {
		l.concurrency.Discard()
		return
	}
	l.concurrency.Release(took)
}
