package namespace

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/google/uuid"
	commandpb "go.temporal.io/api/command/v1"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/workflows"
)

// startupCheck starts workflows without a worker, on a separate queue, to observe what
// Temporal does with them.
type startupCheck struct {
	kernel  *kernel.Kernel
	queue   string
	started []*commonpb.WorkflowExecution
}

// start starts a workflow that gives its first task after a delay.
func (t *startupCheck) start(ctx context.Context, id, fairness string, delay time.Duration) error {
	run, err := t.kernel.Client.WorkflowService().StartWorkflowExecution(ctx, &workflowservice.StartWorkflowExecutionRequest{
		Namespace: t.kernel.Namespace, WorkflowId: id, RequestId: uuid.NewString(),
		WorkflowType:             &commonpb.WorkflowType{Name: workflows.TypeCheck},
		TaskQueue:                t.taskQueue(),
		WorkflowExecutionTimeout: durationpb.New(tuning.TrialLife),
		WorkflowStartDelay:       durationpb.New(delay),
		Priority:                 &commonpb.Priority{FairnessKey: fairness},
	})
	t.started = append(t.started, &commonpb.WorkflowExecution{WorkflowId: id, RunId: run.GetRunId()})
	return err
}

// clean deletes the started workflows.
func (t *startupCheck) clean(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), tuning.CleanTimeout)
	defer cancel()
	for _, run := range t.started {
		_, _ = t.kernel.Client.WorkflowService().DeleteWorkflowExecution(ctx, &workflowservice.DeleteWorkflowExecutionRequest{
			Namespace: t.kernel.Namespace, WorkflowExecution: run,
		})
	}
}

// clock compares the start time that Temporal gives a workflow.
func (t *startupCheck) clock(ctx context.Context) (wrong string, unknown error) {
	id, before := t.queue+":clock", time.Now()
	if err := t.start(ctx, id, "", tuning.TrialLife); err != nil {
		return "", err
	}
	after := time.Now()
	run, err := t.kernel.Client.DescribeWorkflowExecution(ctx, id, "")
	if err != nil {
		return "", err
	}
	return kernel.DescribeClock(before, run.GetWorkflowExecutionInfo().GetStartTime().AsTime(), after), nil
}

// The fairness keys of three tasks, in the order of their arrival in the queue.
const keyOne, keyOther = "one", "other"

// settling is how long tasks wait before they are polled, at each try. A task is counted a
// moment before it has its place in the queue. A freshly started server may need a while.
var settling = []time.Duration{10 * time.Millisecond, 100 * time.Millisecond, 500 * time.Millisecond}

// fairness reports whether business types never take turns.
func (t *startupCheck) fairness(ctx context.Context) (wrong string, unknown error) {
	for n, settle := range settling {
		one := &startupCheck{kernel: t.kernel, queue: t.queue + "-" + strconv.Itoa(n)}
		fair, err := one.turns(ctx, settle)
		t.started = append(t.started, one.started...)
		if fair || err != nil {
			return "", err
		}
	}
	return "business types do not share the workflow queue fairly: a burst of one makes the others late; " +
		"set matching.enableFairness to true", nil
}

// turns lets two tasks of one key and then one of another wait in the queue. With fairness
// the other one comes second, and without it last.
func (t *startupCheck) turns(ctx context.Context, settle time.Duration) (fair bool, unknown error) {
	last := ""
	for i, key := range []string{keyOne, keyOne, keyOther} {
		last = t.queue + ":" + strconv.Itoa(i)
		if err := t.start(ctx, last, key, 0); err != nil {
			return false, err
		}
		if err := t.awaitBacklog(ctx, int64(i+1)); err != nil {
			return false, err
		}
	}
	select {
	case <-time.After(settle):
	case <-ctx.Done():
		return false, ctx.Err()
	}
	for range 2 {
		task, err := t.poll(ctx)
		if err != nil {
			return false, err
		}
		if task.GetWorkflowExecution().GetWorkflowId() == last {
			return true, nil
		}
	}
	return false, nil
}

// awaitBacklog waits until so many tasks are in the queue. Tasks arrive in order only if
// each is waited for.
func (t *startupCheck) awaitBacklog(ctx context.Context, tasks int64) error {
	poll := time.NewTicker(tuning.BacklogPoll)
	defer poll.Stop()
	for {
		queue, err := t.kernel.Client.WorkflowService().DescribeTaskQueue(ctx, &workflowservice.DescribeTaskQueueRequest{
			Namespace: t.kernel.Namespace, TaskQueue: t.taskQueue(), TaskQueueType: enumspb.TASK_QUEUE_TYPE_WORKFLOW,
			IncludeTaskQueueStatus: true, //nolint:staticcheck // what is there in its place is up to five seconds old
		})
		if err != nil {
			return err
		}
		if queue.GetTaskQueueStatus().GetBacklogCountHint() >= tasks { //nolint:staticcheck // as above
			return nil
		}
		select {
		case <-poll.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (t *startupCheck) taskQueue() *taskqueuepb.TaskQueue {
	return &taskqueuepb.TaskQueue{Name: t.queue, Kind: enumspb.TASK_QUEUE_KIND_NORMAL}
}

// poll takes a task from the queue.
func (t *startupCheck) poll(ctx context.Context) (*workflowservice.PollWorkflowTaskQueueResponse, error) {
	task, err := t.kernel.Client.WorkflowService().PollWorkflowTaskQueue(ctx, &workflowservice.PollWorkflowTaskQueueRequest{
		Namespace: t.kernel.Namespace, TaskQueue: t.taskQueue(),
	})
	if err == nil && len(task.GetTaskToken()) == 0 {
		err = errors.New("a task that was started did not come")
	}
	return task, err
}

// reuse continues a workflow as new at once, and measures how long Temporal delays the next run.
func (t *startupCheck) reuse(ctx context.Context) (wrong string, unknown error) {
	id := t.queue + ":again"
	if err := t.start(ctx, id, "", 0); err != nil {
		return "", err
	}
	task, err := t.poll(ctx)
	if err != nil {
		return "", err
	}
	_, err = t.kernel.Client.WorkflowService().RespondWorkflowTaskCompleted(ctx, &workflowservice.RespondWorkflowTaskCompletedRequest{
		Namespace: t.kernel.Namespace, TaskToken: task.GetTaskToken(),
		Commands: []*commandpb.Command{{
			CommandType: enumspb.COMMAND_TYPE_CONTINUE_AS_NEW_WORKFLOW_EXECUTION,
			Attributes: &commandpb.Command_ContinueAsNewWorkflowExecutionCommandAttributes{
				ContinueAsNewWorkflowExecutionCommandAttributes: &commandpb.ContinueAsNewWorkflowExecutionCommandAttributes{
					WorkflowType: &commonpb.WorkflowType{Name: workflows.TypeCheck}, TaskQueue: t.taskQueue(),
				},
			},
		}},
	})
	if err != nil {
		return "", err
	}
	run, err := t.kernel.Client.DescribeWorkflowExecution(ctx, id, "")
	if err != nil {
		return "", err
	}
	info := run.GetWorkflowExecutionInfo()
	t.started = append(t.started, info.GetExecution())
	return describeReuse(info.GetExecutionTime().AsTime().Sub(info.GetStartTime().AsTime())), nil
}
