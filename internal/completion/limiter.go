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
	// unrecorded are the workflow ids of the runs whose last task ended here without a record.
	unrecorded *lru.Cache[string, string]
	// observer learns how each task ended; it may be nil.
	observer Observer

	mu sync.Mutex
	// reserved are the places of completions still to be sent. waiting counts the completions
	// that wait for a place, by run.
	reserved map[string]*time.Timer // ends the reservation
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

// Observe has an observer told how each task ends. It is set before the connection is used.
func (l *Limiter) Observe(observer Observer) { l.observer = observer }

// Rate returns how many tasks a second Temporal records under full load.
func (l *Limiter) Rate() float64 { return l.concurrency.Rate() }

// TimedOut reports whether Temporal has given up this process's task of a run, as far as is
// known here. Another worker may have it.
func (l *Limiter) TimedOut(run string) bool { return l.tasks.newestOf(run).timedOut() }

// Predecessor returns the identity of the worker that had a run's task before this process; ""
// if there was none.
func (l *Limiter) Predecessor(run string) (worker string) { return l.tasks.newestOf(run).predecessor }

// Hold returns this process's task of a run, and when it got the first of them: the SDK
// exchanges a long task for the next. All values are zero if unknown.
func (l *Limiter) Hold(run string) (attempt int, startedAt, beganAt time.Time) {
	held := l.tasks.newestOf(run).hold
	return held.attempt, held.startedAt, held.beganAt
}

// Has reports whether this process has a task of a run that is neither complete nor timed out, and
// when it got the task.
func (l *Limiter) Has(run string) (since time.Time, ok bool) { return l.tasks.has(run) }

// Got reports whether this process got a task of a run, which it started by an event, and none
// of the run since.
func (l *Limiter) Got(run string, startedID int64) bool {
	return l.tasks.newestOf(run).hold.startedID == startedID
}

// Unrecorded returns the runs whose last task ended here but was not recorded, by run id, with
// their workflow ids. The end was unanswered, or refused because of a new event.
func (l *Limiter) Unrecorded() map[string]string {
	runs := map[string]string{}
	for _, run := range l.unrecorded.Keys() {
		if id, ok := l.unrecorded.Peek(run); ok {
			runs[run] = id
		}
	}
	return runs
}

// ended records the result of a try to complete a run's task.
func (l *Limiter) ended(run string, request *workflowservice.RespondWorkflowTaskCompletedRequest, err error) {
	workflowID := l.tasks.newestOf(run).workflow
	if err == nil {
		l.unrecorded.Remove(run)
	} else {
		l.unrecorded.Add(run, workflowID)
	}
	switch unanswered := l.tasks.unanswered(request.GetTaskToken(), run, err); {
	case l.observer == nil:
	case err == nil:
		l.observer.Completed(workflowID, run, request.GetCommands())
	case unanswered:
		l.observer.Unanswered(workflowID, run, request.GetCommands())
	}
}

// Reserve waits for a place for the completion of a run's task, unless ctx or the task ends
// first, and reserves it for 2 s. The SDK needs the processor before the completion, and the
// tasks of a herd that has rung would take it from the next ones. A task that timed out needs no
// place, because nothing of it is recorded.
func (l *Limiter) Reserve(ctx context.Context, run string) {
	task := l.tasks.newestOf(run)
	l.reserve(ctx, run, task, task.soon())
}

// ReserveLast is [Limiter.Reserve] for a timer that has rung for the last time. Tasks that Temporal
// hands out late go first, as long as this one does not time out: their timers have yet to ring.
func (l *Limiter) ReserveLast(ctx context.Context, run string) {
	task := l.tasks.newestOf(run)
	l.reserve(ctx, run, task, task.timesOut)
}

func (l *Limiter) reserve(ctx context.Context, run string, task task, deadline time.Time) {
	if task.timedOut() {
		return
	}
	ctx, cancel := context.WithDeadline(ctx, task.until())
	defer cancel()
	if _, ok := l.concurrency.Acquire(ctx, deadline); !ok {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	// The task was handed out twice, or the SDK completes it to ask for more time. That
	// completion goes next.
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

// claim takes the place reserved for a run.
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

// DialOption returns the option that adds the limiter to a connection.
func (l *Limiter) DialOption() grpc.DialOption { return grpc.WithChainUnaryInterceptor(l.intercept) }

//nolint:revive // gRPC's signature
func (l *Limiter) intercept(
	ctx context.Context, method string, request, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, options ...grpc.CallOption,
) (err error) {
	if run, completed := l.tasks.ending(request); run != "" {
		defer func() { l.ended(run, completed, err) }()
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
		l.tasks.record(reply)
		if handedOutLate(reply) {
			l.concurrency.Defer(tuning.HandOutsFirst)
		}
	}
	return err
}

// completes reports whether a request ends a task.
func completes(request any) bool {
	switch request.(type) {
	case *workflowservice.RespondWorkflowTaskCompletedRequest,
		*workflowservice.RespondActivityTaskCompletedRequest, *workflowservice.RespondActivityTaskFailedRequest:
		return true
	default:
		return false
	}
}

// acquire waits for a place, unless one is reserved. Shortly before its task times out, a
// completion goes without one: ok is false.
func (l *Limiter) acquire(ctx context.Context, request any) (ok bool) {
	ended := task{timesOut: time.Now().Add(tuning.CompletionWait)}
	if completed, ok := request.(*workflowservice.RespondWorkflowTaskCompletedRequest); ok {
		run := l.tasks.pop(completed.GetTaskToken())
		if l.claim(run) {
			return true
		}
		ended = l.tasks.newestOf(run)
		l.wait(run, 1)
		defer l.wait(run, -1)
	}
	ctx, cancel := context.WithDeadline(context.WithoutCancel(ctx), ended.until())
	defer cancel()
	_, ok = l.concurrency.Acquire(ctx, ended.soon())
	return ok
}

// wait adds n to the completions of a run that wait.
func (l *Limiter) wait(run string, n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.waiting[run] += n; l.waiting[run] == 0 {
		delete(l.waiting, run)
	}
}

// release frees a place. The duration of a refusal says nothing about that of a record.
func (l *Limiter) release(took time.Duration, err error) {
	if err != nil {
		l.concurrency.Discard()
		return
	}
	l.concurrency.Release(took)
}
