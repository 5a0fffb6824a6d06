package embedded

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"
	sdk "go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
)

// lab is a separate task queue on the shared server, with the plain SDK and nothing of
// Wakecall's.
type lab struct {
	client.Client
	t     *testing.T
	queue string
}

func newLab(t *testing.T) *lab {
	t.Helper()
	temporalClient, err := client.DialContext(t.Context(), client.Options{
		HostPort: shared(t), Logger: log.NewStructuredLogger(slog.New(slog.DiscardHandler)),
	})
	require.NoError(t, err)
	t.Cleanup(temporalClient.Close)
	return &lab{Client: temporalClient, t: t, queue: queueOf(t)}
}

// in is the lab for a subtest.
func (l *lab) in(t *testing.T) *lab { return &lab{Client: l.Client, t: t, queue: l.queue} }

// work starts a worker, registered by the given functions. Without one the lab shows the
// server's own behaviour.
func (l *lab) work(register ...func(worker.Registry)) (stop func()) {
	l.t.Helper()
	w := worker.New(l.Client, l.queue, worker.Options{DisableEagerActivities: true})
	w.RegisterWorkflow(wake)
	for _, r := range register {
		r(w)
	}
	require.NoError(l.t, w.Start())
	stopped := false
	stop = func() {
		if !stopped {
			stopped = true
			w.Stop()
		}
	}
	l.t.Cleanup(stop)
	return stop
}

// handOut is the longest a worker keeps a task to itself. A busy machine must not hand a
// task out again. A task that a busy server hands to a departed poll is lost to the lab for
// this long.
const handOut = 20 * time.Second

// cold are options of a run that does not become due within a test.
func (l *lab) cold(id string) client.StartWorkflowOptions { return l.after(id, time.Hour) }

// after are options of a run whose first task comes after a delay.
func (l *lab) after(id string, delay time.Duration) client.StartWorkflowOptions {
	return client.StartWorkflowOptions{
		ID: l.queue + "/" + id, TaskQueue: l.queue, StartDelay: delay, WorkflowExecutionErrorWhenAlreadyStarted: true,
		WorkflowTaskTimeout: handOut,
	}
}

func (l *lab) start(options client.StartWorkflowOptions, args ...any) client.WorkflowRun {
	l.t.Helper()
	run, err := l.ExecuteWorkflow(l.t.Context(), options, wake, args...)
	require.NoError(l.t, err)
	return run
}

// startCold starts a run whose delay outlasts the test.
func (l *lab) startCold(id string) client.WorkflowRun {
	l.t.Helper()
	return l.start(l.cold(id), "")
}

func (l *lab) context() context.Context {
	ctx, cancel := context.WithTimeout(l.t.Context(), 6*handOut) // for a busy machine; what is awaited takes far less
	l.t.Cleanup(cancel)
	return ctx
}

// result waits for the result of a run's first task.
func (l *lab) result(run client.WorkflowRun) (w woken) {
	l.t.Helper()
	require.NoError(l.t, run.Get(l.context(), &w))
	return w
}

func (l *lab) status(run client.WorkflowRun) enumspb.WorkflowExecutionStatus {
	l.t.Helper()
	described, err := l.DescribeWorkflowExecution(l.context(), run.GetID(), run.GetRunID())
	require.NoError(l.t, err)
	return described.GetWorkflowExecutionInfo().GetStatus()
}

// The names that the lab's workflow handles.
const (
	poke    = "poke"
	succeed = "succeed"
	fail    = "fail"
)

// woken is the result of a run's first task.
type woken struct {
	Signals int
	// After is the time from the run's start to its first task.
	After time.Duration
}

// wake ends with its first task, and returns its findings.
func wake(ctx workflow.Context, ending string) (w woken, err error) {
	// An update is only served by a run that outlives its first task.
	if err := workflow.SetUpdateHandler(ctx, poke, func(workflow.Context) error { return nil }); err != nil {
		return w, err
	}
	w.After = workflow.Now(ctx).Sub(workflow.GetInfo(ctx).WorkflowStartTime)
	for workflow.GetSignalChannel(ctx, poke).ReceiveAsync(nil) {
		w.Signals++
	}
	if ctx.Err() != nil {
		return w, ctx.Err()
	}
	if ending == fail {
		return w, sdk.NewNonRetryableApplicationError("as asked", "", nil)
	}
	return w, workflow.Sleep(ctx, time.Millisecond)
}
