package completion

import (
	"cmp"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/wakecall/wakecall/internal/identity"
	"github.com/wakecall/wakecall/internal/tuning"
)

// tasks are the workflow tasks of this process, as known from Temporal's answers.
type tasks struct {
	// runs maps the token of a task to its run, and newest a run to its task.
	runs   *lru.Cache[string, string]
	newest *lru.Cache[string, task]
	// tried maps the token of a task to its run, after a completion without an answer: the SDK
	// tries again.
	tried *lru.Cache[string, string]
}

func newTasks() (tasks, error) {
	runs, err := lru.New[string, string](tuning.KnownTasks)
	if err != nil {
		return tasks{}, err
	}
	newest, err := lru.New[string, task](tuning.KnownTasks)
	if err != nil {
		return tasks{}, err
	}
	tried, err := lru.New[string, string](tuning.KnownTasks)
	return tasks{runs: runs, newest: newest, tried: tried}, err
}

// task holds the known facts about a task.
type task struct {
	workflow string // its id
	token    string
	timeout  time.Duration
	// timesOut is zero if the timeout is unknown.
	timesOut time.Time
	// predecessor is the worker that had the run's task before, according to the history of this
	// one.
	predecessor string
	hold        hold
}

// hold is the time in which this process has the task of a run: the present task, and when it
// got the first one.
type hold struct {
	attempt            int
	startedID          int64 // of the event by which this process got the task
	startedAt, beganAt time.Time
}

// newestOf returns the newest task of a run.
func (t tasks) newestOf(run string) task {
	known, _ := t.newest.Get(run)
	return known
}

// ending returns the run whose workflow task a request ends, and the request; "" for any other
// request.
func (t tasks) ending(request any) (run string, completed *workflowservice.RespondWorkflowTaskCompletedRequest) {
	completed, ok := request.(*workflowservice.RespondWorkflowTaskCompletedRequest)
	if !ok {
		return "", nil
	}
	token := string(completed.GetTaskToken())
	if run, ok = t.runs.Get(token); !ok {
		run, _ = t.tried.Get(token)
	}
	return run, completed
}

// unanswered reports whether it is not known if a task was recorded, after a try to complete it
// with a result.
func (t tasks) unanswered(token []byte, run string, err error) bool {
	if !mayBeRecorded(err) {
		t.tried.Remove(string(token))
		return false
	}
	t.tried.Add(string(token), run)
	return true
}

// has reports whether the newest task of a run is neither complete nor timed out, and when this
// process got it.
func (t tasks) has(run string) (since time.Time, ok bool) {
	known, ok := t.newest.Peek(run)
	return known.hold.startedAt, ok && t.runs.Contains(known.token) && !known.timedOut()
}

// pop returns the run of an ending task, and forgets the task's token.
func (t tasks) pop(token []byte) (run string) {
	run, _ = t.runs.Get(string(token))
	t.runs.Remove(string(token))
	return run
}

// record records the task in an answer, if there is one.
func (t tasks) record(reply any) {
	var poll *workflowservice.PollWorkflowTaskQueueResponse
	sameRun := false
	switch reply := reply.(type) {
	case *workflowservice.PollWorkflowTaskQueueResponse:
		poll = reply
	case *workflowservice.RespondWorkflowTaskCompletedResponse: // the next one of the same run
		poll, sameRun = reply.GetWorkflowTask(), true
	case *workflowservice.StartWorkflowExecutionResponse: // the first one of an eagerly started run
		poll = reply.GetEagerWorkflowTask()
	}
	if len(poll.GetTaskToken()) == 0 {
		return
	}
	run := poll.GetWorkflowExecution().GetRunId()
	t.runs.Add(string(poll.GetTaskToken()), run)
	before := t.newestOf(run)
	recorded := task{
		workflow:    poll.GetWorkflowExecution().GetWorkflowId(),
		token:       string(poll.GetTaskToken()),
		timeout:     cmp.Or(timeoutIn(poll), before.timeout),
		predecessor: cmp.Or(predecessorIn(poll), before.predecessor),
		hold:        holdIn(poll),
	}
	if sameRun {
		recorded.hold.beganAt = before.hold.beganAt
	}
	if recorded.timeout > 0 {
		// By this process's clock, which may differ from Temporal's.
		recorded.timesOut = time.Now().Add(recorded.timeout)
	}
	t.newest.Add(run, recorded)
}

// timedOut reports whether Temporal has given up the task, and hands out a new one.
func (t task) timedOut() bool { return !t.timesOut.IsZero() && time.Now().After(t.timesOut) }

// until returns how long the completion of the task may wait. A later one would take the place
// of a task that can still be recorded.
func (t task) until() time.Time {
	if t.timesOut.IsZero() {
		return time.Now().Add(tuning.CompletionWait)
	}
	return t.timesOut.Add(-tuning.LastTry)
}

// soon is a deadline for a completion that others wait for: a timer is handed back, changed, or begins
// again. It is near enough not to be deferred.
func (t task) soon() time.Time {
	soon := time.Now().Add(tuning.CompletionWait)
	if t.timesOut.Before(soon) {
		return t.timesOut
	}
	return soon
}

// holdIn returns the hold that begins with a task.
func holdIn(poll *workflowservice.PollWorkflowTaskQueueResponse) hold {
	h := hold{attempt: int(poll.GetAttempt()), startedID: poll.GetStartedEventId()}
	if started := poll.GetStartedTime(); started != nil {
		h.startedAt, h.beganAt = started.AsTime(), started.AsTime()
	}
	return h
}

// predecessorIn returns the worker that had the task before this one.
func predecessorIn(poll *workflowservice.PollWorkflowTaskQueueResponse) (worker string) {
	for _, event := range poll.GetHistory().GetEvents() {
		if started := event.GetWorkflowTaskStartedEventAttributes(); started != nil && event.GetEventId() < poll.GetStartedEventId() {
			worker = identity.Process(started.GetIdentity())
		}
	}
	return worker
}

// timeoutIn returns the timeout of a run's tasks. Only the history of the first task has it.
func timeoutIn(poll *workflowservice.PollWorkflowTaskQueueResponse) time.Duration {
	for _, event := range poll.GetHistory().GetEvents() {
		if began := event.GetWorkflowExecutionStartedEventAttributes(); began != nil {
			return began.GetWorkflowTaskTimeout().AsDuration()
		}
	}
	return 0
}

// handedOutLate reports whether an answer has the first task of a run that has waited for it, or a
// task that a dead worker had. Temporal then has more such tasks: their timers have yet to ring, and
// those of completions have rung.
func handedOutLate(reply any) bool {
	if started, ok := reply.(*workflowservice.StartWorkflowExecutionResponse); ok {
		return started.GetEagerWorkflowTask().GetPreviousStartedEventId() > 0
	}
	poll, ok := reply.(*workflowservice.PollWorkflowTaskQueueResponse)
	if !ok || poll.GetPreviousStartedEventId() != 0 || poll.GetAttempt() > 1 {
		return false
	}
	for _, event := range poll.GetHistory().GetEvents() {
		if began := event.GetWorkflowExecutionStartedEventAttributes(); began != nil {
			due := event.GetEventTime().AsTime().Add(began.GetFirstWorkflowTaskBackoff().AsDuration())
			return time.Since(due) > tuning.LateHandOut
		}
	}
	return false
}
