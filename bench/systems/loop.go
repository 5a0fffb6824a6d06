package systems

import (
	"context"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/wakecall/wakecall/bench/stage"
)

// loop is a bare Temporal program: the limit of an engine's performance, without any of
// Wakecall's promises.
type loop struct {
	engine temporalEngine
	// start defines how a timer waits.
	start  func(Timer) (client.StartWorkflowOptions, any)
	client client.Client
	caller *caller
	worker worker.Worker
}

const queue = "bench"

// Pollers and slots are those of Wakecall's worker.
const (
	workflowPollers = 16
	activityPollers = 8
	slots           = 1000
)

// Start starts the engine and a worker in this process.
func (l *loop) Start(s *stage.Stage, receiver string) error {
	addr, err := l.engine.start(s)
	if err != nil {
		return err
	}
	l.caller = newCaller(receiver)
	l.client, err = dial(s.Context(), addr)
	if err != nil {
		return err
	}
	l.worker = worker.New(l.client, queue, worker.Options{
		MaxConcurrentWorkflowTaskPollers:        workflowPollers,
		MaxConcurrentActivityTaskPollers:        activityPollers,
		MaxConcurrentWorkflowTaskExecutionSize:  slots,
		MaxConcurrentActivityExecutionSize:      slots,
		MaxConcurrentLocalActivityExecutionSize: slots,
	})
	for name, program := range map[string]any{sleeping: sleepingLoop, calling: callingLoop, local: localLoop, scheduled: scheduledLoop} {
		l.worker.RegisterWorkflowWithOptions(program, workflow.RegisterOptions{Name: name})
	}
	l.worker.RegisterActivityWithOptions(l.ring, activity.RegisterOptions{Name: ringing})
	return l.worker.Start()
}

// dial waits for a freshly started Temporal.
func dial(ctx context.Context, addr string) (client.Client, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	return client.DialContext(ctx, client.Options{
		HostPort: addr, Namespace: client.DefaultNamespace, Logger: log.NewStructuredLogger(quiet),
		ConnectionOptions: client.ConnectionOptions{GrpcCompression: &client.GrpcCompressionNone{}}, // as Wakecall's
	})
}

// ring is the activity of every loop.
func (l *loop) ring(ctx context.Context, call Call) error {
	return l.caller.call(ctx, call.ID, call.Due)
}

// Add starts a workflow.
func (l *loop) Add(ctx context.Context, timer Timer) error {
	options, program := l.start(timer)
	options.ID, options.TaskQueue = timer.ID, queue
	_, err := l.client.ExecuteWorkflow(ctx, options, program, Call{ID: timer.ID, Due: timer.Due})
	return err
}

// AddBatch adds timers concurrently: Temporal has no call for batches.
func (l *loop) AddBatch(ctx context.Context, timers []Timer) (int, error) {
	return each(ctx, timers, l.Add)
}

// Counters are the engine's.
func (l *loop) Counters(ctx context.Context) (Counters, error) { return l.engine.counters(ctx) }

// Trail describes the timer's workflow.
func (l *loop) Trail(ctx context.Context, timer Timer) (Trail, error) {
	return trail(ctx, l.client, timer.ID)
}

// Open counts workflows.
func (l *loop) Open(ctx context.Context) (int64, error) { return open(ctx, l.client) }

// Close stops the worker.
func (l *loop) Close() error {
	if l.worker != nil {
		l.worker.Stop()
	}
	if l.client != nil {
		l.client.Close()
	}
	return nil
}
