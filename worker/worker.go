package worker

import (
	"fmt"
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

// Options is what the workers of one process need.
type Options struct {
	Client client.Client
	Ringer *activities.Ringer
	// StopTimeout is how long a stopping worker waits for attempts in flight.
	// Below the attempt timeout, a deploy makes duplicates.
	StopTimeout time.Duration
}

// Workers are the pollers of one process: one for workflow tasks and the
// attempts inside them, one for the attempts that the server paces.
type Workers struct {
	timers, deliveries sdkworker.Worker
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
	}
	workflows.Register(w.timers)
	w.timers.RegisterActivityWithOptions(options.Ringer.Ring, activity.RegisterOptions{Name: workflows.ActivityRing})
	w.deliveries.RegisterActivityWithOptions(options.Ringer.Deliver, activity.RegisterOptions{Name: workflows.ActivityDeliver})
	return w
}

// Start begins polling. It fails when Temporal cannot be reached.
func (w *Workers) Start() error {
	if err := w.timers.Start(); err != nil {
		return fmt.Errorf("starting the timer worker: %w", err)
	}
	if err := w.deliveries.Start(); err != nil {
		w.timers.Stop()
		return fmt.Errorf("starting the delivery worker: %w", err)
	}
	return nil
}

// Stop ends polling and waits for attempts in flight, both queues at once.
func (w *Workers) Stop() {
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.deliveries.Stop()
	}()
	w.timers.Stop()
	<-done
}
