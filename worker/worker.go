package worker

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"sync"
	"time"

	"go.temporal.io/sdk/client"
	sdkworker "go.temporal.io/sdk/worker"

	"github.com/wakecall/wakecall/activities"
	"github.com/wakecall/wakecall/activities/delivery"
	"github.com/wakecall/wakecall/activities/dispatch"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/workflows"
)

// Options are the dependencies of the workers of one process.
type Options struct {
	// Identity is unique to the process.
	Identity   string
	Client     client.Client
	Attempter  *delivery.Attempter
	Controller *activities.Controller
	Dispatcher *dispatch.Executor
	Policies   Policies
	Queues     Queues
	// Emergencies lists the emergencies in force.
	Emergencies Emergencies
	Reconciler  Reconciler
	Failover    Failover
	Alerts      Alerts
	Observer    Observer
	Logger      *slog.Logger
	Intervals   Intervals
	// StopTimeout is how long a stopping worker waits for attempts in flight. Below the attempt
	// timeout, a deploy makes duplicates.
	StopTimeout time.Duration
}

// Intervals are the times between two rounds of background work.
type Intervals struct {
	// Policies is the time between two readings of the types with a queue.
	Policies time.Duration
	// Reconcile is the time between two searches for overdue timers; 0 for none.
	Reconcile time.Duration
}

// Observer gets a worker's observations of the whole deployment.
type Observer interface {
	// PoliciesListed gets the policies in force after each list.
	PoliciesListed(policies []policy.Policy)
	// Paused gets the emergencies in force after each list.
	Paused(emergencies []policy.Emergency)
	// Overdue counts overdue timers without a delivery in progress.
	Overdue(businessType string, timers int)
	// StreamsWait gets the number of attempts that wait for a receiver, by type.
	StreamsWait(attempts map[string]int)
	// Unreadable counts overdue timers whose run could not be read.
	Unreadable(timers int)
}

// Workers are the pollers of one process; see [queuesOf] for their queues.
type Workers struct {
	// parts are in the order of their start.
	parts []sdkworker.Worker
	// receipts is the part that answers queries about this process. It stops last.
	receipts sdkworker.Worker

	attempter *delivery.Attempter

	queues     *queueWorkers
	reconciler *reconciler
	lifeline   *lifeline

	stopTimeout time.Duration
}

// New registers everything on its queue. It polls nothing before Start.
func New(options Options) *Workers {
	sdkworker.SetStickyWorkflowCacheSize(workflowSlots(memoryLimit)) // a preloaded timer must not be evicted
	expectLongTasks()
	w := &Workers{
		attempter: options.Attempter, queues: newQueueWorkers(options), reconciler: newReconciler(options),
		lifeline: &lifeline{failover: options.Failover, logger: options.Logger}, stopTimeout: options.StopTimeout,
	}
	for _, queue := range queuesOf(options) {
		part := queue.worker(options)
		if queue.name == workflows.ReceiptQueue(options.Identity) {
			w.receipts = part
		}
		w.parts = append(w.parts, part)
	}
	return w
}

// expectLongTasks keeps the SDK from warning about each timer that is preloaded for more than 5
// s. Only the environment can set this; an existing value is kept.
func expectLongTasks() {
	const variable = "TEMPORAL_WORKFLOW_TASK_DURATION_WARN_SECONDS"
	if _, set := os.LookupEnv(variable); !set {
		_ = os.Setenv(variable, strconv.Itoa(taskSeconds)) // fails only for an invalid name
	}
}

// Start begins polling. It fails if Temporal cannot be reached.
func (w *Workers) Start() error {
	w.lifeline.start()
	for i, part := range w.parts {
		if err := part.Start(); err != nil {
			for _, started := range w.parts[:i] {
				started.Stop()
			}
			w.lifeline.close()
			return fmt.Errorf("starting the worker: %w", err)
		}
	}
	w.queues.start()
	w.reconciler.start()
	return nil
}

// Stop ends polling, then releases the preloaded timers to other workers, and waits for attempts
// in flight, on all queues at once and no longer than the stop timeout. The SDK would wait twice as
// long for a first attempt: for the workflow task that it is part of, and then for the attempt alone,
// whose result it drops.
func (w *Workers) Stop() {
	defer w.lifeline.close()
	w.lifeline.failover.Stop()
	w.reconciler.close()
	release := time.AfterFunc(tuning.PollsEnd, w.attempter.ReleaseAll)
	defer release.Stop()
	stops := []func(){w.queues.close}
	for _, part := range w.parts {
		if part != w.receipts {
			stops = append(stops, part.Stop)
		}
	}
	stopWithin(w.stopTimeout+tuning.PollsEnd, stops)
	time.Sleep(tuning.LastQuestions) //nolint:forbidigo // nothing tells that no question comes
	ctx, cancel := context.WithTimeout(context.Background(), tuning.StoreReceipts)
	defer cancel()
	w.attempter.StoreReceipts(ctx)
	w.receipts.Stop()
}

// stopWithin stops everything at once, and waits for it no longer than a time.
func stopWithin(most time.Duration, stops []func()) {
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		var stopping sync.WaitGroup
		for _, stop := range stops {
			stopping.Go(stop)
		}
		stopping.Wait()
	}()
	patience := time.NewTimer(most)
	defer patience.Stop()
	select {
	case <-stopped:
	case <-patience.C:
	}
}
