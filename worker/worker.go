package worker

import (
	"fmt"
	"sync"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	sdkworker "go.temporal.io/sdk/worker"

	"github.com/wakecall/wakecall/activities"
	"github.com/wakecall/wakecall/workflows"
)

// Pollers wait at Temporal for tasks; each dispatch occupies one for a round
// trip. Two, the SDK's default, would hold a burst to a few hundred a second.
const (
	workflowPollers = 16
	activityPollers = 8
)

// Slots bound what one worker process does at once. Attempts spend their time
// waiting for receivers, so slots cost memory and not processor time.
const (
	workflowSlots = 1000
	ringSlots     = 1000
	deliverySlots = 1000
)

// askPollers hear the rare question what this process did.
const askPollers = 2

// Options is what the workers of one process need.
type Options struct {
	// Identity is unique to the process.
	Identity string
	Client   client.Client
	Ringer   *activities.Ringer
	// StopTimeout is how long a stopping worker waits for attempts in flight.
	// Below the attempt timeout, a deploy makes duplicates.
	StopTimeout time.Duration
}

// Workers are the pollers of one process: for workflow tasks and the attempts
// inside them, for the attempts that the server paces, and for questions that
// only this process can answer.
type Workers struct {
	timers, deliveries, receipts sdkworker.Worker
}

// New registers everything on its queue. Nothing is polled before Start.
func New(options Options) *Workers {
	w := &Workers{
		timers: sdkworker.New(options.Client, workflows.TaskQueue, sdkworker.Options{
			MaxConcurrentWorkflowTaskPollers:        workflowPollers,
			MaxConcurrentWorkflowTaskExecutionSize:  workflowSlots,
			MaxConcurrentLocalActivityExecutionSize: ringSlots,
			LocalActivityWorkerOnly:                 true,
			WorkerStopTimeout:                       options.StopTimeout,
		}),
		deliveries: sdkworker.New(options.Client, workflows.DeliveryQueue, sdkworker.Options{
			DisableWorkflowWorker:              true,
			MaxConcurrentActivityTaskPollers:   activityPollers,
			MaxConcurrentActivityExecutionSize: deliverySlots,
			WorkerStopTimeout:                  options.StopTimeout,
			// An eager activity would bypass the limits of its queue.
			DisableEagerActivities: true,
		}),
		receipts: sdkworker.New(options.Client, workflows.ReceiptQueue(options.Identity), sdkworker.Options{
			DisableWorkflowWorker:            true,
			MaxConcurrentActivityTaskPollers: askPollers,
			WorkerStopTimeout:                options.StopTimeout,
		}),
	}
	workflows.Register(w.timers)
	w.timers.RegisterActivityWithOptions(options.Ringer.Ring, activity.RegisterOptions{Name: workflows.ActivityRing})
	w.timers.RegisterActivityWithOptions(options.Ringer.Receipt, activity.RegisterOptions{Name: workflows.ActivityReceipt})
	w.deliveries.RegisterActivityWithOptions(options.Ringer.Deliver, activity.RegisterOptions{Name: workflows.ActivityDeliver})
	w.receipts.RegisterActivityWithOptions(options.Ringer.Ask, activity.RegisterOptions{Name: workflows.ActivityAsk})
	return w
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
	return nil
}

// Stop ends polling and waits for attempts in flight, on all queues at once.
func (w *Workers) Stop() {
	var stopping sync.WaitGroup
	for _, part := range w.parts() {
		stopping.Go(part.Stop)
	}
	stopping.Wait()
}

// parts are in the order of their start: who rings must be there to be asked.
func (w *Workers) parts() []sdkworker.Worker {
	return []sdkworker.Worker{w.receipts, w.timers, w.deliveries}
}
