package enginetest

import (
	"context"
	_ "embed" // the answers of a server
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	commandpb "go.temporal.io/api/command/v1"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	failurepb "go.temporal.io/api/failure/v1"
	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/wakecall/wakecall/workflows"
)

//go:embed answers.txt
var recorded string

// Recorded has a server's answers to the calls of [Answers].
func Recorded() []string { return strings.Split(strings.TrimSpace(recorded), "\n") }

// Answers makes the calls of the engine to a namespace, one after the other, and returns the
// answers, one a line. A [Temporal] must give the same answers as a server. The engine's tests
// depend on it. Each caller needs a unique name: the task queue has this name, and all ids begin
// with it. Nothing else may poll that queue. The search attributes of Wakecall must be registered,
// and no others.
func Answers(tb testing.TB, of client.Client, namespace, name string) []string {
	s := &script{tb: tb, Client: of, namespace: namespace, name: name}
	s.starts()
	s.signals()
	s.cancels()
	s.ends()
	s.tasks()
	s.requests()
	s.histories()
	s.lists()
	s.deletions()
	return s.said
}

// script is a sequence of calls to one namespace.
type script struct {
	client.Client
	tb              testing.TB
	namespace, name string
	said            []string
	// firstCompleted is the run of completed before its last one.
	firstCompleted string
}

// say adds a line to the answers.
func (s *script) say(call string, err error, facts ...any) {
	line := call + ":"
	if err != nil {
		line += " " + errorText(err)
		facts = nil
	}
	for _, fact := range facts {
		line += fmt.Sprintf(" %v", fact)
	}
	s.said = append(s.said, line)
}

// errorText returns the type of an error and of its causes.
func errorText(err error) string {
	kinds := []string{}
	for ; err != nil; err = errors.Unwrap(err) {
		kind := fmt.Sprintf("%T", err)
		kinds = append(kinds, kind[strings.LastIndex(kind, ".")+1:])
	}
	return strings.Join(kinds, " < ")
}

func (s *script) id(name string) string { return s.name + "/" + name }

// options returns the options of a timer's start. A start with the id of an open run fails.
func (s *script) options(id string) client.StartWorkflowOptions {
	return client.StartWorkflowOptions{
		ID: s.id(id), TaskQueue: s.name, WorkflowExecutionErrorWhenAlreadyStarted: true,
		WorkflowIDReusePolicy: enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE_FAILED_ONLY,
	}
}

// start starts a workflow under a free id, and returns its run.
func (s *script) start(options client.StartWorkflowOptions) string {
	run, err := s.ExecuteWorkflow(s.tb.Context(), options, workflows.TypeCheck)
	if err != nil {
		s.tb.Fatalf("starting %s: %v", options.ID, err)
	}
	return run.GetRunID()
}

// tries starts a workflow, and adds the answer. same is a run that the answer may have.
func (s *script) tries(call string, options client.StartWorkflowOptions, same string) {
	run, err := s.ExecuteWorkflow(s.tb.Context(), options, workflows.TypeCheck)
	if err != nil {
		s.say(call, err)
		return
	}
	s.say(call, nil, "the same run:", run.GetRunID() == same)
}

// described returns the state of a run.
func (s *script) described(id, run string) *workflowservice.DescribeWorkflowExecutionResponse {
	described, err := s.DescribeWorkflowExecution(s.tb.Context(), s.id(id), run)
	if err != nil {
		s.tb.Fatalf("describing %s: %v", id, err)
	}
	return described
}

// stands adds the state of a run.
func (s *script) stands(call, id string) {
	d := s.described(id, "")
	info := d.GetWorkflowExecutionInfo()
	s.say(call, nil, info.GetStatus(), d.GetPendingWorkflowTask().GetState(), "asked to cancel:",
		d.GetWorkflowExtendedInfo().GetCancelRequested(),
		"closed:", info.GetCloseTime() != nil, "delayed by",
		info.GetExecutionTime().AsTime().Sub(info.GetStartTime().AsTime()).Round(time.Minute))
}

// A server refuses a poll without a deadline.
const pollTimeout = 20 * time.Second

// poll polls for a task.
func (s *script) poll() *workflowservice.PollWorkflowTaskQueueResponse {
	ctx, cancel := context.WithTimeout(s.tb.Context(), pollTimeout)
	defer cancel()
	task, err := s.WorkflowService().PollWorkflowTaskQueue(ctx, &workflowservice.PollWorkflowTaskQueueRequest{
		Namespace: s.namespace, TaskQueue: &taskqueuepb.TaskQueue{Name: s.name, Kind: enumspb.TASK_QUEUE_KIND_NORMAL}, Identity: "poller",
	})
	if err != nil || len(task.GetTaskToken()) == 0 {
		s.tb.Fatalf("no task came: %v", err)
	}
	return task
}

// respond ends a task by a command, nil for none.
func (s *script) respond(task *workflowservice.PollWorkflowTaskQueueResponse, command *commandpb.Command) error {
	r := &workflowservice.RespondWorkflowTaskCompletedRequest{Namespace: s.namespace, TaskToken: task.GetTaskToken(), Identity: "poller"}
	if command != nil {
		r.Commands = []*commandpb.Command{command}
	}
	_, err := s.WorkflowService().RespondWorkflowTaskCompleted(s.tb.Context(), r)
	return err
}

// Commands that end a run.
var (
	completed = &commandpb.Command{
		CommandType: enumspb.COMMAND_TYPE_COMPLETE_WORKFLOW_EXECUTION,
		Attributes: &commandpb.Command_CompleteWorkflowExecutionCommandAttributes{
			CompleteWorkflowExecutionCommandAttributes: &commandpb.CompleteWorkflowExecutionCommandAttributes{},
		},
	}
	failed = &commandpb.Command{
		CommandType: enumspb.COMMAND_TYPE_FAIL_WORKFLOW_EXECUTION,
		Attributes: &commandpb.Command_FailWorkflowExecutionCommandAttributes{
			FailWorkflowExecutionCommandAttributes: &commandpb.FailWorkflowExecutionCommandAttributes{Failure: &failurepb.Failure{
				Message: "given up", FailureInfo: &failurepb.Failure_ApplicationFailureInfo{
					ApplicationFailureInfo: &failurepb.ApplicationFailureInfo{Type: "failed"},
				},
			}},
		},
	}
	cancelled = &commandpb.Command{
		CommandType: enumspb.COMMAND_TYPE_CANCEL_WORKFLOW_EXECUTION,
		Attributes: &commandpb.Command_CancelWorkflowExecutionCommandAttributes{
			CancelWorkflowExecutionCommandAttributes: &commandpb.CancelWorkflowExecutionCommandAttributes{},
		},
	}
)

// ended starts a workflow, and ends its run with a command.
func (s *script) ended(id string, by *commandpb.Command) {
	s.start(s.options(id))
	if err := s.respond(s.poll(), by); err != nil {
		s.tb.Fatalf("ending %s: %v", id, err)
	}
}

func (s *script) starts() {
	later := s.options("later")
	later.StartDelay = time.Hour
	run := s.start(later)
	s.stands("a run with a delay", "later")
	s.tries("an id in use", later, run)
	silent := later
	silent.WorkflowExecutionErrorWhenAlreadyStarted = false
	s.tries("an id in use, without an error", silent, run)
	existing := later
	existing.WorkflowIDConflictPolicy = enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING
	s.tries("an id in use, and the run will do", existing, run)
	replacing := later
	replacing.WorkflowIDConflictPolicy = enumspb.WORKFLOW_ID_CONFLICT_POLICY_TERMINATE_EXISTING
	replacing.WorkflowIDReusePolicy = enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE
	s.tries("an id in use, to be replaced", replacing, run)
	s.say("the run that was replaced", nil, s.described("later", run).GetWorkflowExecutionInfo().GetStatus())
	_, err := s.DescribeWorkflowExecution(s.tb.Context(), s.id("nothing"), "")
	s.say("describing nothing", err)
	_, err = s.DescribeWorkflowExecution(s.tb.Context(), s.id("later"), "01a20703-04c6-72c3-8ac2-698c429e0b00")
	s.say("describing another run", err)
	strange := s.options("strange")
	strange.TypedSearchAttributes = temporal.NewSearchAttributes(temporal.NewSearchAttributeKeyKeyword("WakecallUnheardOf").ValueSet("x"))
	s.tries("an attribute that is not registered", strange, "")
}

func (s *script) signals() {
	ctx := s.tb.Context()
	s.say("a signal", s.SignalWorkflow(ctx, s.id("later"), "", "hello", 1))
	s.stands("a signal ends no delay", "later")
	s.say("a signal to nothing", s.SignalWorkflow(ctx, s.id("nothing"), "", "hello", 1))
	run, err := s.SignalWithStartWorkflow(ctx, s.id("later"), "hello", 2, s.options("later"), workflows.TypeCheck)
	if err != nil {
		s.tb.Fatal(err)
	}
	s.say("a signal that may start", nil, "the same run:",
		run.GetRunID() == s.described("later", "").GetWorkflowExecutionInfo().GetExecution().GetRunId())
	s.stands("it ends a delay", "later")
	s.endNext("later", nil)
	_, err = s.SignalWithStartWorkflow(ctx, s.id("signalled"), "hello", 2, s.options("signalled"), workflows.TypeCheck)
	s.say("a signal that starts", err)
	s.endNext("signalled", completed)
	_, err = s.SignalWithStartWorkflow(ctx, s.id("signalled"), "hello", 2, s.options("signalled"), workflows.TypeCheck)
	s.say("a signal that may start what was completed", err)
}

// endNext polls for the next task, which must be of a workflow, and completes it with a command.
func (s *script) endNext(id string, by *commandpb.Command) {
	task := s.poll()
	if task.GetWorkflowExecution().GetWorkflowId() != s.id(id) {
		s.tb.Fatalf("the task is one of %s, and not of %s", task.GetWorkflowExecution().GetWorkflowId(), id)
	}
	if err := s.respond(task, by); err != nil {
		s.tb.Fatalf("ending %s: %v", id, err)
	}
}

func (s *script) cancels() {
	ctx := s.tb.Context()
	s.say("a cancel", s.CancelWorkflow(ctx, s.id("later"), ""))
	s.stands("a run that was asked to", "later")
	s.say("a cancel once more", s.CancelWorkflow(ctx, s.id("later"), ""))
	s.say("they are recorded", nil, s.recorded("later", enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_CANCEL_REQUESTED))
	task := s.poll()
	s.stands("a run whose task a worker has", "later")
	s.say("its end", s.respond(task, cancelled))
	s.say("its end once more", s.respond(task, cancelled))
	s.stands("a cancelled run", "later")
	s.say("a cancel of a run that has ended", s.CancelWorkflow(ctx, s.id("later"), ""))
	s.say("a cancel of nothing", s.CancelWorkflow(ctx, s.id("nothing"), ""))
	s.say("a signal to a run that has ended", s.SignalWorkflow(ctx, s.id("later"), "", "hello", 1))
	s.say("the end of a run that has ended", s.TerminateWorkflow(ctx, s.id("later"), "", "x"))
	_, err := s.UpdateWorkflow(ctx, client.UpdateWorkflowOptions{
		WorkflowID: s.id("later"), UpdateName: workflows.UpdateProbe, WaitForStage: client.WorkflowUpdateStageCompleted,
	})
	s.say("an update of a run that has ended", err)
	_, err = s.UpdateWorkflow(ctx, client.UpdateWorkflowOptions{
		WorkflowID: s.id("nothing"), UpdateName: workflows.UpdateProbe, WaitForStage: client.WorkflowUpdateStageCompleted,
	})
	s.say("an update of nothing", err)
}

// recorded counts the events of a type in the history of a run.
func (s *script) recorded(id string, kind enumspb.EventType) (n int) {
	history := s.GetWorkflowHistory(s.tb.Context(), s.id(id), "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for history.HasNext() {
		event, err := history.Next()
		if err != nil {
			s.tb.Fatal(err)
		}
		if event.GetEventType() == kind {
			n++
		}
	}
	return n
}

// ends adds when an id is free again, and what a caller sees of an end.
func (s *script) ends() {
	ctx := s.tb.Context()
	s.ended("completed", completed)
	s.firstCompleted = s.described("completed", "").GetWorkflowExecutionInfo().GetExecution().GetRunId()
	s.ended("failed", failed)
	s.start(s.options("terminated"))
	s.say("an end by force", s.TerminateWorkflow(ctx, s.id("terminated"), "", "by hand"))
	for _, id := range []string{"completed", "failed", "terminated", "later"} {
		err := s.GetWorkflow(ctx, s.id(id), "").Get(ctx, nil)
		s.say("the end of "+id, err)
		never, always := s.options(id), s.options(id)
		never.WorkflowIDReusePolicy = enumspb.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE
		always.WorkflowIDReusePolicy = enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE
		always.StartDelay = time.Hour
		again := s.options(id)
		again.StartDelay = time.Hour
		s.tries("never again: "+id, never, "")
		s.tries("again, where it failed: "+id, again, "")
		s.tries("again: "+id, always, "")
		s.say("put away", s.TerminateWorkflow(ctx, s.id(id), "", "put away"))
	}
	s.say("the end of nothing", s.GetWorkflow(ctx, s.id("nothing"), "").Get(ctx, nil))
}

func (s *script) tasks() {
	first := s.start(s.options("again"))
	next := s.poll()
	s.say("it goes on as another run", s.respond(next, &commandpb.Command{
		CommandType: enumspb.COMMAND_TYPE_CONTINUE_AS_NEW_WORKFLOW_EXECUTION,
		Attributes: &commandpb.Command_ContinueAsNewWorkflowExecutionCommandAttributes{
			ContinueAsNewWorkflowExecutionCommandAttributes: &commandpb.ContinueAsNewWorkflowExecutionCommandAttributes{
				WorkflowType: &commonpb.WorkflowType{Name: workflows.TypeCheck}, TaskQueue: &taskqueuepb.TaskQueue{Name: s.name},
				BackoffStartInterval: durationpb.New(time.Hour),
			},
		},
	}))
	s.say("the run before", nil, s.described("again", first).GetWorkflowExecutionInfo().GetStatus())
	second := s.described("again", "").GetWorkflowExecutionInfo()
	s.stands("the run after", "again")
	s.say("they belong together", nil, second.GetFirstRunId() == first, second.GetExecution().GetRunId() != first)

	s.start(s.options("freed"))
	held := s.poll()
	free := func(token []byte) error {
		_, err := s.WorkflowService().RespondWorkflowTaskFailed(s.tb.Context(), &workflowservice.RespondWorkflowTaskFailedRequest{
			Namespace: s.namespace, TaskToken: token, Cause: enumspb.WORKFLOW_TASK_FAILED_CAUSE_FAILOVER_CLOSE_COMMAND,
		})
		return err
	}
	s.say("a task that is given back", free(held.GetTaskToken()))
	s.say("a task that was given back", free(held.GetTaskToken()))
	s.say("no token", free([]byte("?")))
	s.say("its end by who had it", s.respond(held, completed))
	s.say("its end by who has it", s.respond(s.poll(), completed))
}

// requests adds the effects of raw requests.
func (s *script) requests() {
	ctx, service := s.tb.Context(), s.WorkflowService()
	mark := func(id string) error {
		_, err := service.StartWorkflowExecution(ctx, &workflowservice.StartWorkflowExecutionRequest{
			Namespace: s.namespace, WorkflowId: s.id(id), RequestId: s.name + "-mark",
			WorkflowType: &commonpb.WorkflowType{Name: workflows.TypeCheck}, TaskQueue: &taskqueuepb.TaskQueue{Name: s.name},
			WorkflowIdConflictPolicy: enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
			WorkflowIdReusePolicy:    enumspb.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE,
			OnConflictOptions:        &workflowpb.OnConflictOptions{AttachRequestId: true},
		})
		return err
	}
	s.say("a mark", mark("again"))
	_, marked := s.described("again", "").GetWorkflowExtendedInfo().GetRequestIdInfos()[s.name+"-mark"]
	s.say("it is shown", nil, marked)
	s.say("a mark of a run that has ended", mark("freed"))
	first := s.described("again", "").GetWorkflowExecutionInfo().GetFirstRunId()
	cancel := func(id, first string) error {
		_, err := service.RequestCancelWorkflowExecution(ctx, &workflowservice.RequestCancelWorkflowExecutionRequest{
			Namespace: s.namespace, WorkflowExecution: &commonpb.WorkflowExecution{WorkflowId: s.id(id)}, FirstExecutionRunId: first,
		})
		return err
	}
	end := func(id, first string) error {
		_, err := service.TerminateWorkflowExecution(ctx, &workflowservice.TerminateWorkflowExecutionRequest{
			Namespace: s.namespace, WorkflowExecution: &commonpb.WorkflowExecution{WorkflowId: s.id(id)}, FirstExecutionRunId: first,
		})
		return err
	}
	const other = "01a20703-04c6-72c3-8ac2-698c429e0b00"
	s.say("a cancel of another booking", cancel("again", other))
	s.say("the end of another booking", end("again", other))
	s.say("a cancel of this booking", cancel("again", first))
	s.stands("it was asked to", "again")
	s.say("the end of this booking", end("again", first))
	s.say("a cancel of a booking that has ended", cancel("again", first))
	s.say("the end of a booking that has ended", end("again", first))
}
