package worker

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"sync"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	sdkworker "go.temporal.io/sdk/worker"

	"github.com/wakecall/wakecall/activities"
	"github.com/wakecall/wakecall/activities/delivery"
	"github.com/wakecall/wakecall/activities/dispatch"
	coredelivery "github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/workflows"
)

// Options is what the workers of one process need.
type Options struct {
	// Identity is unique to the process.
	Identity   string
	Client     client.Client
	Attempter  *delivery.Attempter
	Controller *activities.Controller
	Dispatcher *dispatch.Executor
	Policies   Policies
	Queues     Queues
	// Emergencies tell what somebody has paused.
	Emergencies Emergencies
	Reconciler  Reconciler
	Alerts      Alerts
	Observer    Observer
	Logger      *slog.Logger
	// PolicyInterval is the time between two readings of which types have a queue.
	PolicyInterval time.Duration
	// ReconcileInterval is the time between two searches for overdue timers; 0 for
	// none.
	ReconcileInterval time.Duration
	// Answer gives a receiver's answer to a ring of this process, and fails where that is
	// over; nil where no receiver connects.
	Answer func(ctx context.Context, answer coredelivery.RingAnswer) error
	// StopTimeout is how long a stopping worker waits for attempts in flight.
	// Below the attempt timeout, a deploy makes duplicates.
	StopTimeout time.Duration
}

// Observer is told of what a worker sees of the whole deployment.
type Observer interface {
	// PoliciesListed is told of the policies in force, each time they were listed.
	PoliciesListed(policies []policy.Policy)
	// Paused is told of what somebody has paused, each time that was listed.
	Paused(emergencies []policy.Emergency)
	// Overdue counts timers that were overdue with nothing under way for them.
	Overdue(businessType string, timers int)
	// StreamsWait is told how many attempts of each type whose receivers connect wait
	// for one.
	StreamsWait(attempts map[string]int)
	// Unreadable counts overdue timers whose run could not be read.
	Unreadable(timers int)
}

// Workers are the pollers of one process: for workflow tasks and the attempts
// inside them, for the attempts that the server paces, for control work (queue
// rates, alerts), for jobs, for dispatches, and for questions that only this process can answer.
type Workers struct {
	timers, defaults, receipts, control, jobs, dispatches sdkworker.Worker

	attempter *delivery.Attempter

	queues     *queueWorkers
	reconciler *reconciler
}

// New registers everything on its queue. Nothing is polled before Start.
func New(options Options) *Workers {
	sdkworker.SetStickyWorkflowCacheSize(tuning.WorkflowSlots) // a preloaded timer must not be evicted
	expectLongTasks()
	w := &Workers{
		attempter: options.Attempter,
		timers: sdkworker.New(options.Client, workflows.TaskQueue, sdkworker.Options{
			MaxConcurrentWorkflowTaskPollers:        tuning.WorkflowPollers,
			MaxConcurrentWorkflowTaskExecutionSize:  tuning.WorkflowSlots,
			MaxConcurrentLocalActivityExecutionSize: tuning.WorkflowSlots,
			LocalActivityWorkerOnly:                 true,
			DeadlockDetectionTimeout:                tuning.DeadlockTimeout,
			WorkerStopTimeout:                       options.StopTimeout,
		}),
		defaults: sdkworker.New(options.Client, workflows.DefaultDeliveryQueue, sdkworker.Options{
			DisableWorkflowWorker:              true,
			MaxConcurrentActivityTaskPollers:   tuning.DeliveryPollers,
			MaxConcurrentActivityExecutionSize: tuning.DeliverySlots,
			WorkerStopTimeout:                  options.StopTimeout,
			DisableEagerActivities:             true,
		}),
		control: sdkworker.New(options.Client, workflows.ControlQueue, sdkworker.Options{
			DisableWorkflowWorker:              true,
			MaxConcurrentActivityTaskPollers:   tuning.ControlPollers,
			MaxConcurrentActivityExecutionSize: tuning.ControlSlots,
			WorkerStopTimeout:                  options.StopTimeout,
		}),
		jobs: sdkworker.New(options.Client, workflows.JobQueue, sdkworker.Options{
			DisableWorkflowWorker:              true,
			MaxConcurrentActivityTaskPollers:   tuning.JobPollers,
			MaxConcurrentActivityExecutionSize: tuning.JobTasks,
			MaxHeartbeatThrottleInterval:       tuning.JobHeartbeat,
			WorkerStopTimeout:                  options.StopTimeout,
		}),
		dispatches: sdkworker.New(options.Client, workflows.DispatchQueue, sdkworker.Options{
			DisableWorkflowWorker:              true,
			MaxConcurrentActivityTaskPollers:   tuning.DispatchPollers,
			MaxConcurrentActivityExecutionSize: tuning.DispatchTasks,
			WorkerStopTimeout:                  options.StopTimeout,
			DisableEagerActivities:             true,
		}),
		receipts: sdkworker.New(options.Client, workflows.ReceiptQueue(options.Identity), sdkworker.Options{
			DisableWorkflowWorker:            true,
			MaxConcurrentActivityTaskPollers: tuning.ReceiptPollers,
			WorkerStopTimeout:                options.StopTimeout,
		}),
		queues:     newQueueWorkers(options),
		reconciler: newReconciler(options),
	}
	workflows.Register(w.timers)
	register(w.timers, workflows.ActivityFirstAttempt, options.Attempter.FirstAttempt)
	register(w.timers, workflows.ActivityReceipt, options.Attempter.Receipt)
	register(w.timers, workflows.ActivityRunState, options.Attempter.State)
	register(w.defaults, workflows.ActivityDeliver, options.Attempter.Deliver)
	register(w.defaults, workflows.ActivityWatchStream, options.Attempter.WatchStream)
	register(w.receipts, workflows.ActivityAsk, options.Attempter.OwnReceipt)
	register(w.receipts, workflows.ActivityRecheck, options.Attempter.Recheck)
	register(w.control, workflows.ActivitySetQueueRate, options.Controller.SetQueueRate)
	register(w.control, workflows.ActivityAlert, options.Controller.Alert)
	register(w.jobs, workflows.BulkJob.Activity, options.Controller.Bulk)
	register(w.dispatches, workflows.ActivityDispatch, options.Dispatcher.Run)
	register(w.dispatches, workflows.ActivitySweep, options.Dispatcher.Sweep)
	register(w.dispatches, workflows.ActivityPutBack, options.Dispatcher.PutBack)
	return w
}

// expectLongTasks keeps the SDK from warning of each timer that is preloaded for more than
// 5 s. Only the environment tells it; what stands there is left.
func expectLongTasks() {
	const variable = "TEMPORAL_WORKFLOW_TASK_DURATION_WARN_SECONDS"
	if _, set := os.LookupEnv(variable); !set {
		_ = os.Setenv(variable, strconv.Itoa(taskSeconds)) // fails for no such name
	}
}

func register(w sdkworker.Worker, name string, function any) {
	w.RegisterActivityWithOptions(function, activity.RegisterOptions{Name: name})
}

// Start begins polling. It fails when Temporal cannot be reached.
func (w *Workers) Start() error {
	for i, part := range w.parts() {
		if err := part.Start(); err != nil {
			for _, started := range w.parts()[:i] {
				started.Stop()
			}
			return fmt.Errorf("starting the worker: %w", err)
		}
	}
	w.queues.start()
	w.reconciler.start()
	return nil
}

// Stop ends polling, then releases the preloaded timers to other workers, and waits
// for attempts in flight, on all queues at once.
func (w *Workers) Stop() {
	w.reconciler.close()
	release := time.AfterFunc(tuning.PollsEnd, w.attempter.ReleaseAll)
	defer release.Stop()
	var stopping sync.WaitGroup
	stopping.Go(w.queues.close)
	for _, part := range w.parts() {
		if part != w.receipts {
			stopping.Go(part.Stop)
		}
	}
	stopping.Wait()
	time.Sleep(tuning.LastQuestions) //nolint:forbidigo // nothing tells that no question comes
	ctx, cancel := context.WithTimeout(context.Background(), tuning.LeaveReceipts)
	defer cancel()
	w.attempter.LeaveReceipts(ctx)
	w.receipts.Stop()
}

// parts are in the order of their start: who makes attempts must be there to be asked.
func (w *Workers) parts() []sdkworker.Worker {
	return []sdkworker.Worker{w.receipts, w.control, w.jobs, w.dispatches, w.timers, w.defaults}
}
