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

// Workers are the pollers of one process. See queuesOf for what each of them polls.
type Workers struct {
	// parts are in the order of their start.
	parts []sdkworker.Worker
	// receipts is the part that answers what this process did. It stops last.
	receipts sdkworker.Worker

	attempter *delivery.Attempter

	queues     *queueWorkers
	reconciler *reconciler
}

// New registers everything on its queue. Nothing is polled before Start.
func New(options Options) *Workers {
	sdkworker.SetStickyWorkflowCacheSize(tuning.WorkflowSlots) // a preloaded timer must not be evicted
	expectLongTasks()
	w := &Workers{attempter: options.Attempter, queues: newQueueWorkers(options), reconciler: newReconciler(options)}
	for _, queue := range queuesOf(options) {
		part := queue.worker(options)
		if queue.name == workflows.ReceiptQueue(options.Identity) {
			w.receipts = part
		}
		w.parts = append(w.parts, part)
	}
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

// Start begins polling. It fails when Temporal cannot be reached.
func (w *Workers) Start() error {
	for i, part := range w.parts {
		if err := part.Start(); err != nil {
			for _, started := range w.parts[:i] {
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
	for _, part := range w.parts {
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
