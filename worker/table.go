package worker

import (
	"go.temporal.io/sdk/activity"
	sdkworker "go.temporal.io/sdk/worker"

	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/workflows"
)

// queue is a task queue that a process polls, with its limits and its activities by stored name.
type queue struct {
	name       string
	slots      sdkworker.Options
	activities map[string]any
}

// queuesOf returns the queues of a process, in the order of their start: the maker of attempts
// must answer queries about them. The queues of business types come and go with the policies.
func queuesOf(options Options) []queue {
	attempts, control := options.Attempter, options.Controller
	return []queue{
		{
			name: workflows.ReceiptQueue(options.Identity), // queries that only this process can answer
			slots: sdkworker.Options{
				DisableWorkflowWorker:            true,
				MaxConcurrentActivityTaskPollers: tuning.ReceiptPollers,
			},
			activities: map[string]any{workflows.ActivityAsk: attempts.OwnReceipt, workflows.ActivityRecheck: attempts.Recheck},
		},
		{
			name: workflows.ControlQueue,
			slots: sdkworker.Options{
				DisableWorkflowWorker:              true,
				MaxConcurrentActivityTaskPollers:   tuning.ControlPollers,
				MaxConcurrentActivityExecutionSize: tuning.ControlSlots,
			},
			activities: map[string]any{workflows.ActivitySetQueueRate: control.SetQueueRate, workflows.ActivityAlert: control.Alert},
		},
		{
			name: workflows.JobQueue,
			slots: sdkworker.Options{
				DisableWorkflowWorker:              true,
				MaxConcurrentActivityTaskPollers:   tuning.JobPollers,
				MaxConcurrentActivityExecutionSize: tuning.JobTasks,
				MaxHeartbeatThrottleInterval:       tuning.JobHeartbeat,
			},
			activities: map[string]any{workflows.BulkJob.Activity: control.Bulk},
		},
		{
			name: workflows.DispatchQueue,
			slots: sdkworker.Options{
				DisableWorkflowWorker:              true,
				MaxConcurrentActivityTaskPollers:   tuning.DispatchPollers,
				MaxConcurrentActivityExecutionSize: tuning.DispatchTasks,
				DisableEagerActivities:             true,
			},
			activities: map[string]any{
				workflows.ActivityDispatch: options.Dispatcher.Run,
				workflows.ActivityCleanup:  options.Dispatcher.CleanUp,
				workflows.ActivityPutBack:  options.Dispatcher.PutBack,
			},
		},
		{
			name: workflows.TaskQueue, // workflow tasks, and the attempts inside them
			slots: sdkworker.Options{
				MaxConcurrentWorkflowTaskPollers:        tuning.WorkflowPollers,
				MaxConcurrentWorkflowTaskExecutionSize:  workflowSlots(memoryLimit),
				MaxConcurrentLocalActivityExecutionSize: workflowSlots(memoryLimit),
				LocalActivityWorkerOnly:                 true,
				DeadlockDetectionTimeout:                tuning.DeadlockTimeout,
			},
			activities: map[string]any{
				workflows.ActivityFirstAttempt:  attempts.FirstAttempt,
				workflows.ActivityReceipt:       attempts.Receipt,
				workflows.ActivityRunState:      attempts.State,
				workflows.ActivityLastHeartbeat: control.LastHeartbeat,
			},
		},
		{
			name: workflows.DefaultDeliveryQueue, // the attempts that the server paces, of types without a policy
			slots: sdkworker.Options{
				DisableWorkflowWorker:              true,
				MaxConcurrentActivityTaskPollers:   tuning.DeliveryPollers,
				MaxConcurrentActivityExecutionSize: tuning.DeliverySlots,
				DisableEagerActivities:             true,
			},
			activities: map[string]any{workflows.ActivityDeliver: attempts.Deliver, workflows.ActivityWatchStream: attempts.WatchStream},
		},
	}
}

// worker returns a worker for the queue.
func (q queue) worker(options Options) sdkworker.Worker {
	q.slots.WorkerStopTimeout = options.StopTimeout
	w := sdkworker.New(options.Client, q.name, q.slots)
	if !q.slots.DisableWorkflowWorker {
		workflows.Register(w)
	}
	for name, function := range q.activities {
		register(w, name, function)
	}
	return w
}

func register(w sdkworker.Worker, name string, function any) {
	w.RegisterActivityWithOptions(function, activity.RegisterOptions{Name: name})
}
