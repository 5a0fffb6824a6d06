package completion

import (
	"cmp"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/wakecall/wakecall/internal/identity"
	"github.com/wakecall/wakecall/internal/tuning"
)

// tasks are the workflow tasks that this process was handed, as far as the answers
// that brought them tell.
type tasks struct {
	// runs are the runs by the token of their task, and newest the task of each run.
	runs   *lru.Cache[string, string]
	newest *lru.Cache[string, task]
}

func newTasks() (tasks, error) {
	runs, err := lru.New[string, string](tuning.KnownTasks)
	if err != nil {
		return tasks{}, err
	}
	newest, err := lru.New[string, task](tuning.KnownTasks)
	return tasks{runs: runs, newest: newest}, err
}

// task is what is known of one.
type task struct {
	workflow string // its id
	timeout  time.Duration
	// timesOut is zero where the timeout is not known.
	timesOut time.Time
	// predecessor is the worker that had the task before this one of the run, as
	// far as the history tells that came with it.
	predecessor string
	hold        hold
}

// hold is the time for which this process has the task of a run: which one it has now, and
// when it was handed the first one.
type hold struct {
	attempt            int
	startedAt, beganAt time.Time
}

// of is the newest task of a run.
func (t tasks) of(run string) task {
	known, _ := t.newest.Get(run)
	return known
}

// ending is the run whose workflow task a request ends; "" for any other request.
func (t tasks) ending(request any) (run string) {
	if completed, ok := request.(*workflowservice.RespondWorkflowTaskCompletedRequest); ok {
		run, _ = t.runs.Get(string(completed.GetTaskToken()))
	}
	return run
}

// take returns the run whose task ends, and forgets the task's token.
func (t tasks) take(token []byte) (run string) {
	run, _ = t.runs.Get(string(token))
	t.runs.Remove(string(token))
	return run
}

// note notes the task that an answer brings, if it does.
func (t tasks) note(reply any) {
	var poll *workflowservice.PollWorkflowTaskQueueResponse
	goesOn := false
	switch reply := reply.(type) {
	case *workflowservice.PollWorkflowTaskQueueResponse:
		poll = reply
	case *workflowservice.RespondWorkflowTaskCompletedResponse: // the next one of the same run
		poll, goesOn = reply.GetWorkflowTask(), true
	case *workflowservice.StartWorkflowExecutionResponse: // the first one of a run that was started eagerly
		poll = reply.GetEagerWorkflowTask()
	}
	if len(poll.GetTaskToken()) == 0 {
		return
	}
	run := poll.GetWorkflowExecution().GetRunId()
	t.runs.Add(string(poll.GetTaskToken()), run)
	before := t.of(run)
	noted := task{
		workflow:    poll.GetWorkflowExecution().GetWorkflowId(),
		timeout:     cmp.Or(timeoutIn(poll), before.timeout),
		predecessor: cmp.Or(predecessorIn(poll), before.predecessor),
		hold:        holdIn(poll),
	}
	if goesOn {
		noted.hold.beganAt = before.hold.beganAt
	}
	if noted.timeout > 0 {
		// By this process's clock, which Temporal's may differ from.
		noted.timesOut = time.Now().Add(noted.timeout)
	}
	t.newest.Add(run, noted)
}

// timedOut is whether Temporal has given the task up, and hands out a new one.
func (t task) timedOut() bool { return !t.timesOut.IsZero() && time.Now().After(t.timesOut) }

// until is how long the completion of the task may wait: one that waits longer takes
// the place of a task that can still be recorded.
func (t task) until() time.Time {
	if t.timesOut.IsZero() {
		return time.Now().Add(tuning.CompletionWait)
	}
	return t.timesOut.Add(-tuning.LastTry)
}

// holdIn is the hold that begins with a task.
func holdIn(poll *workflowservice.PollWorkflowTaskQueueResponse) hold {
	h := hold{attempt: int(poll.GetAttempt())}
	if started := poll.GetStartedTime(); started != nil {
		h.startedAt, h.beganAt = started.AsTime(), started.AsTime()
	}
	return h
}

// predecessorIn is the worker that had the task before the one that is handed out.
func predecessorIn(poll *workflowservice.PollWorkflowTaskQueueResponse) (worker string) {
	for _, event := range poll.GetHistory().GetEvents() {
		if started := event.GetWorkflowTaskStartedEventAttributes(); started != nil && event.GetEventId() < poll.GetStartedEventId() {
			worker = identity.Process(started.GetIdentity())
		}
	}
	return worker
}

// timeoutIn is the timeout of a run's tasks, where the history tells: it is sent
// with the first.
func timeoutIn(poll *workflowservice.PollWorkflowTaskQueueResponse) time.Duration {
	for _, event := range poll.GetHistory().GetEvents() {
		if began := event.GetWorkflowExecutionStartedEventAttributes(); began != nil {
			return began.GetWorkflowTaskTimeout().AsDuration()
		}
	}
	return 0
}
