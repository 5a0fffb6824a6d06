package worker

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	sdkworker "go.temporal.io/sdk/worker"

	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/workflows"
)

// Policies reads the policies of business types. Known returns the cached ones.
type Policies interface {
	Known() []policy.Policy
	Policy(ctx context.Context, businessType string) (policy.Policy, error)
}

// Queues reads which business types have their own queue.
type Queues interface {
	// Registered lists the types whose queues may hold deliveries, with the last registration of
	// each. It does not use Temporal's visibility.
	Registered(ctx context.Context) (workflows.Registered, error)
	// Policies lists the policies in force, and the deleted ones whose queues may still hold
	// deliveries. RepairRegistry updates the registry by both.
	Policies(ctx context.Context) (inForce, deleted []policy.Policy, err error)
	// Waiting counts the attempts of a type that wait for a connected receiver with room, and
	// returns the longest wait.
	Waiting(ctx context.Context, businessType string) (attempts int, longest time.Duration, err error)
	RepairRegistry(ctx context.Context, listed []policy.Policy) error
	// Needed reports whether a type has a policy in force, or attempts on its queues. It does
	// not use Temporal's visibility.
	Needed(ctx context.Context, businessType string) (bool, error)
	// Outlived reports whether a type has open timers or dispatches.
	Outlived(ctx context.Context, businessType string) (bool, error)
}

// Emergencies lists the emergencies in force.
type Emergencies interface {
	List(ctx context.Context) ([]policy.Emergency, error)
}

// Queue returns the queue for the attempts of a business type.
func Queue(policy policy.Policy, stream bool) string {
	switch {
	case stream:
		return workflows.StreamQueue(policy.BusinessType)
	case policy.Version != 0:
		return workflows.DeliveryQueue(policy.BusinessType)
	default:
		return workflows.DefaultDeliveryQueue
	}
}

// queueWorkers poll a queue for each business type with a policy. So a limit, a pause, or a
// receiver that hangs affects one type only.
type queueWorkers struct {
	options Options

	mu    sync.Mutex
	types map[string]*typeWorker
	// drains takes the attempts that wait for receivers under an older version of the policy.
	drains *Streams
	// paused are the types whose tasks are not taken, "" for all of them.
	paused map[string]bool
	watch  *streamWatch
	// retired are the types with unpolled queues.
	retired *retired

	stop    context.CancelFunc
	stopped sync.WaitGroup
}

// typeWorker makes the attempts on the queue of one business type.
type typeWorker struct {
	worker sdkworker.Worker
	slots  *typeSlots
}

func newQueueWorkers(options Options) *queueWorkers {
	return &queueWorkers{
		options: options, types: map[string]*typeWorker{}, drains: NewStreams(options, nil), retired: newRetired(),
		watch: &streamWatch{
			waiting: options.Queues.Waiting, alerts: options.Alerts, observer: options.Observer, logger: options.Logger,
		},
	}
}

// start begins to read the registered queues and, separately, the list of all policies. The list
// comes from Temporal's visibility, and may hang. A failed read is repeated later; until that
// time the queues hold the due attempts.
func (q *queueWorkers) start() {
	ctx, cancel := context.WithCancel(context.Background())
	q.stop = cancel
	for _, read := range []func(context.Context) error{q.readRegistered, q.readAll, q.readPaused, q.readRetired} {
		q.stopped.Go(func() { q.repeat(ctx, read) })
	}
}

func (q *queueWorkers) repeat(ctx context.Context, read func(context.Context) error) {
	next := time.NewTicker(q.options.Intervals.Policies)
	defer next.Stop()
	for {
		if err := read(ctx); err != nil && ctx.Err() == nil {
			q.options.Logger.Warn("the policies could not be read", "error", err)
		}
		select {
		case <-next.C:
		case <-ctx.Done():
			return
		}
	}
}

// close stops polling and waits for attempts in flight.
func (q *queueWorkers) close() {
	q.stop()
	q.stopped.Wait()
	var stopping sync.WaitGroup
	stopping.Go(q.drains.Stop)
	for _, t := range q.types {
		stopping.Go(t.worker.Stop)
	}
	stopping.Wait()
}

// readRegistered serves the queues of every registered type. It does not use Temporal's
// visibility: deliveries must not depend on it.
func (q *queueWorkers) readRegistered(ctx context.Context) error {
	for _, policy := range q.options.Policies.Known() {
		q.serve(policy)
	}
	types, err := q.options.Queues.Registered(ctx)
	for businessType, registered := range types {
		if !q.serves(businessType) && !q.retired.hasSince(businessType, registered) {
			q.serveUnlisted(ctx, businessType)
		}
	}
	return err
}

// serveUnlisted serves a type known only by name. Its queue may hold deliveries even without a
// policy, or without an answer.
func (q *queueWorkers) serveUnlisted(ctx context.Context, businessType string) {
	policy, _ := q.options.Policies.Policy(ctx, businessType)
	policy = policy.WithDefaults()
	policy.BusinessType = businessType
	q.serve(policy)
}

// readPaused lists the emergencies, whose tasks are not taken. An attempt checks its own type,
// so this may lag behind.
func (q *queueWorkers) readPaused(ctx context.Context) error {
	emergencies, err := q.options.Emergencies.List(ctx)
	if err != nil {
		return err
	}
	q.options.Observer.Paused(emergencies)
	paused := map[string]bool{}
	for _, emergency := range emergencies {
		paused[emergency.BusinessType] = true
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.paused = paused
	for businessType, t := range q.types {
		t.slots.hold(paused[""] || paused[businessType])
	}
	return nil
}

// readAll lists all policies, to show those in force in the metrics and to repair the registry.
func (q *queueWorkers) readAll(ctx context.Context) error {
	inForce, deleted, err := q.options.Queues.Policies(ctx)
	if err != nil {
		return err
	}
	q.options.Observer.PoliciesListed(inForce)
	policies := slices.Concat(inForce, deleted)
	q.watch.look(ctx, policies)
	for _, policy := range inForce {
		q.serve(policy)
	}
	for _, policy := range deleted {
		if !q.retired.has(policy.BusinessType) {
			q.serve(policy)
		}
	}
	return errors.Join(q.retire(ctx, inForce), q.options.Queues.RepairRegistry(ctx, policies))
}

func (q *queueWorkers) serves(businessType string) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.types[businessType] != nil
}

// serve polls the queue of a policy's type, with the policy's number of slots.
func (q *queueWorkers) serve(policy policy.Policy) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.retired.end(policy.BusinessType)
	size := policy.Limits.QueueShare()
	if q.drained(policy) {
		q.drains.SetPlaces(policy.BusinessType, size)
	} else {
		q.drains.SetPlaces(policy.BusinessType, 0)
	}
	if known, ok := q.types[policy.BusinessType]; ok {
		known.slots.resize(size)
		return
	}
	t := &typeWorker{slots: newTypeSlots(size)}
	t.worker = sdkworker.New(q.options.Client, workflows.DeliveryQueue(policy.BusinessType), typeWorkerOptions(q.options, t.slots))
	register(t.worker, workflows.ActivityDeliver, q.options.Attempter.Deliver)
	register(t.worker, workflows.ActivityTestRing, q.options.Controller.TestRing)
	if err := t.worker.Start(); err != nil {
		q.options.Logger.Warn("a queue could not be polled", "business_type", policy.BusinessType, "error", err)
		return
	}
	t.slots.hold(q.paused[""] || q.paused[policy.BusinessType])
	q.types[policy.BusinessType] = t
}

// drained reports whether the stream queue of a type may hold attempts from an older version of
// its policy.
func (q *queueWorkers) drained(policy policy.Policy) bool {
	if policy.Streams() {
		return q.watch.outdated(policy.BusinessType)
	}
	return policy.Version == 0 || policy.StreamedUntil != 0
}

func typeWorkerOptions(options Options, slots *typeSlots) sdkworker.Options {
	unused, _ := sdkworker.NewFixedSizeSlotSupplier(1) // fails only for zero slots
	tuner, _ := sdkworker.NewCompositeTuner(sdkworker.CompositeTunerOptions{
		ActivitySlotSupplier: slots, WorkflowSlotSupplier: unused, LocalActivitySlotSupplier: unused,
		NexusSlotSupplier: unused, SessionActivitySlotSupplier: unused,
	}) // never fails
	return sdkworker.Options{
		DisableWorkflowWorker: true,
		Tuner:                 tuner,
		ActivityTaskPollerBehavior: sdkworker.NewPollerBehaviorAutoscaling(sdkworker.PollerBehaviorAutoscalingOptions{
			MinimumNumberOfPollers: tuning.MinTypePollers, InitialNumberOfPollers: tuning.MinTypePollers,
			MaximumNumberOfPollers: tuning.MaxTypePollers,
		}),
		WorkerStopTimeout: options.StopTimeout,
		// An eager activity would bypass the limit of its queue.
		DisableEagerActivities: true,
	}
}
