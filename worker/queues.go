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

// Policies tells how business types are called. Known are those at hand.
type Policies interface {
	Known() []policy.Policy
	Policy(ctx context.Context, businessType string) (policy.Policy, error)
}

// Queues tells which business types have a queue of their own.
type Queues interface {
	// Registered lists the types whose queues may hold deliveries, and when each was
	// registered last. It does not ask Temporal's visibility.
	Registered(ctx context.Context) (workflows.Registered, error)
	// Policies lists the policies in force, and the deleted ones whose queues may still hold
	// deliveries. RepairRegistry brings the registry in line with both.
	Policies(ctx context.Context) (inForce, deleted []policy.Policy, err error)
	// Waiting tells how many attempts of a type wait for a receiver that is connected and
	// has room, and for how long the first of them has.
	Waiting(ctx context.Context, businessType string) (attempts int, longest time.Duration, err error)
	RepairRegistry(ctx context.Context, listed []policy.Policy) error
	// Needed is whether a type has a policy in force, or attempts that wait on its queues.
	// It does not ask Temporal's visibility.
	Needed(ctx context.Context, businessType string) (bool, error)
	// Outlived is whether a type has timers or dispatches that are open.
	Outlived(ctx context.Context, businessType string) (bool, error)
}

// Emergencies list what somebody has paused.
type Emergencies interface {
	List(ctx context.Context) ([]policy.Emergency, error)
}

// Queue names the queue on which the attempts of a business type are made.
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

// queueWorkers poll a queue for each business type that has a policy, so that a
// limit, a pause, or a receiver that hangs concerns one type and nobody else.
type queueWorkers struct {
	options Options

	mu    sync.Mutex
	types map[string]*typeWorker
	// drains takes what still waits for receivers to connect where the policy leads
	// elsewhere by now.
	drains *Streams
	// paused are the types, "" for all of them, whose tasks are left where they are.
	paused map[string]bool
	watch  *streamWatch
	// retired are the types whose queues are not polled.
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
		options: options, types: map[string]*typeWorker{}, drains: NewStreams(options), retired: newRetired(),
		watch: &streamWatch{
			waiting: options.Queues.Waiting, alerts: options.Alerts, observer: options.Observer, logger: options.Logger,
		},
	}
}

// start begins to read which queues there are, and beside that the list of all
// policies: the list comes from Temporal's visibility, which may hang. What cannot
// be read now is read later, and the queues hold what is due until then.
func (q *queueWorkers) start() {
	ctx, cancel := context.WithCancel(context.Background())
	q.stop = cancel
	for _, read := range []func(context.Context) error{q.readRegistered, q.readAll, q.readPaused, q.readRetired} {
		q.stopped.Go(func() { q.repeat(ctx, read) })
	}
}

func (q *queueWorkers) repeat(ctx context.Context, read func(context.Context) error) {
	next := time.NewTicker(q.options.PolicyInterval)
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

// readRegistered serves the queues of every registered type. It asks nothing of
// Temporal's visibility: deliveries must not depend on it.
func (q *queueWorkers) readRegistered(ctx context.Context) error {
	for _, policy := range q.options.Policies.Known() {
		q.serve(policy)
	}
	types, err := q.options.Queues.Registered(ctx)
	for businessType, registered := range types {
		if !q.serves(businessType) && !q.retired.since(businessType, registered) {
			q.serveUnlisted(ctx, businessType)
		}
	}
	return err
}

// serveUnlisted serves a type of which only the name is at hand. Without a policy, or an
// answer, its queue may hold deliveries all the same.
func (q *queueWorkers) serveUnlisted(ctx context.Context, businessType string) {
	policy, _ := q.options.Policies.Policy(ctx, businessType)
	policy = policy.WithDefaults()
	policy.BusinessType = businessType
	q.serve(policy)
}

// readPaused lists what somebody has paused, of which no task is taken. An attempt asks
// for itself whether its type is paused, so that this may lag behind.
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

// readAll lists all policies, to show those in force in the metrics and to mend the
// register.
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

// serve polls the queue of a policy's type, with the slots that the policy
// gives it.
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
	if err := t.worker.Start(); err != nil {
		q.options.Logger.Warn("a queue could not be polled", "business_type", policy.BusinessType, "error", err)
		return
	}
	t.slots.hold(q.paused[""] || q.paused[policy.BusinessType])
	q.types[policy.BusinessType] = t
}

// drained is whether the queue of a type's stream may hold attempts that wait there as the
// policy does not say any more.
func (q *queueWorkers) drained(policy policy.Policy) bool {
	if policy.Streams() {
		return q.watch.outdated(policy.BusinessType)
	}
	return policy.Version == 0 || policy.StreamedUntil != 0
}

func typeWorkerOptions(options Options, slots *typeSlots) sdkworker.Options {
	unused, _ := sdkworker.NewFixedSizeSlotSupplier(1) // fails for no slots only
	tuner, _ := sdkworker.NewCompositeTuner(sdkworker.CompositeTunerOptions{
		ActivitySlotSupplier: slots, WorkflowSlotSupplier: unused, LocalActivitySlotSupplier: unused,
		NexusSlotSupplier: unused, SessionActivitySlotSupplier: unused,
	}) // never fails
	return sdkworker.Options{
		DisableWorkflowWorker: true,
		Tuner:                 tuner,
		ActivityTaskPollerBehavior: sdkworker.NewPollerBehaviorAutoscaling(sdkworker.PollerBehaviorAutoscalingOptions{
			MinimumNumberOfPollers: tuning.MinTypePollers, InitialNumberOfPollers: tuning.MinTypePollers, MaximumNumberOfPollers: tuning.MaxTypePollers,
		}),
		WorkerStopTimeout: options.StopTimeout,
		// An eager activity would bypass the limit of its queue.
		DisableEagerActivities: true,
	}
}
