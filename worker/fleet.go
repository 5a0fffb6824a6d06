package worker

import (
	"context"
	"sync"
	"time"

	sdkworker "go.temporal.io/sdk/worker"

	"github.com/wakecall/wakecall/timer"
	"github.com/wakecall/wakecall/workflows"
)

// Policies tells which business types have a queue of their own.
type Policies interface {
	// Registered lists the types whose queues may hold deliveries, and Known the
	// policies that are at hand: neither asks Temporal's visibility.
	Registered(ctx context.Context) (businessTypes []string, err error)
	Known() []timer.Policy
	Policy(ctx context.Context, businessType string) (timer.Policy, error)
	// Governed lists all policies, and Mend makes the register of them whole.
	Governed(ctx context.Context) ([]timer.Policy, error)
	Mend(ctx context.Context, listed []timer.Policy) error
}

// Queue names the queue that the attempts of a business type are paced by.
func Queue(businessType string) string { return workflows.DeliveryQueue(businessType) }

// Pollers of one business type's queue. The server asks for more while there is
// a backlog, and an idle queue costs one.
const (
	minTypePollers = 1
	maxTypePollers = 8
)

// fleet polls a queue for each business type that has a policy, so that a limit,
// a pause, or a receiver that hangs concerns one type and nobody else.
type fleet struct {
	options Options
	// every is the time between two looks at the policies.
	every time.Duration

	mu    sync.Mutex
	berth map[string]*berth

	stop    context.CancelFunc
	stopped sync.WaitGroup
}

// berth is where the attempts of one business type are made.
type berth struct {
	worker sdkworker.Worker
	share  *share
}

func newFleet(options Options) *fleet {
	return &fleet{options: options, every: options.FleetInterval, berth: map[string]*berth{}}
}

// start begins to look which queues there are, and beside that at the list of
// policies, which may hang. What cannot be read now is read later: the queues hold
// what is due.
func (f *fleet) start() {
	ctx, cancel := context.WithCancel(context.Background())
	f.stop = cancel
	for _, look := range []func(context.Context) error{f.look, f.survey} {
		f.stopped.Go(func() { f.repeat(ctx, look) })
	}
}

func (f *fleet) repeat(ctx context.Context, look func(context.Context) error) {
	next := time.NewTicker(f.every)
	defer next.Stop()
	for {
		if err := look(ctx); err != nil && ctx.Err() == nil {
			f.options.Logger.Warn("the policies could not be read", "error", err)
		}
		select {
		case <-next.C:
		case <-ctx.Done():
			return
		}
	}
}

// close stops polling and waits for attempts in flight.
func (f *fleet) close() {
	f.stop()
	f.stopped.Wait()
	f.leave()
}

// look serves the queues of every registered type. It asks nothing of Temporal's
// visibility: deliveries must not depend on it.
func (f *fleet) look(ctx context.Context) error {
	for _, policy := range f.options.Policies.Known() {
		f.serve(policy)
	}
	types, err := f.options.Policies.Registered(ctx)
	for _, businessType := range types {
		if f.serves(businessType) {
			continue
		}
		// Without a policy, or an answer, the queue may hold deliveries all the same.
		policy, _ := f.options.Policies.Policy(ctx, businessType)
		policy = policy.WithDefaults()
		policy.BusinessType = businessType
		f.serve(policy)
	}
	return err
}

// survey looks at the list of all policies, for what is shown of them and to mend
// the register.
func (f *fleet) survey(ctx context.Context) error {
	policies, err := f.options.Policies.Governed(ctx)
	if err != nil {
		return err
	}
	f.options.Observer.Governed(policies)
	for _, policy := range policies {
		f.serve(policy)
	}
	return f.options.Policies.Mend(ctx, policies)
}

func (f *fleet) serves(businessType string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.berth[businessType] != nil
}

// serve polls the queue of a policy's type, with the slots that the policy
// gives it.
func (f *fleet) serve(policy timer.Policy) {
	f.mu.Lock()
	defer f.mu.Unlock()
	size := policy.Limits.QueueShare()
	if known, ok := f.berth[policy.BusinessType]; ok {
		known.share.resize(size)
		return
	}
	b := &berth{share: newShare(size)}
	b.worker = sdkworker.New(f.options.Client, Queue(policy.BusinessType), berthOptions(f.options, b.share))
	register(b.worker, workflows.ActivityDeliver, f.options.Ringer.Deliver)
	if err := b.worker.Start(); err != nil {
		f.options.Logger.Warn("a queue could not be polled", "business_type", policy.BusinessType, "error", err)
		return
	}
	f.berth[policy.BusinessType] = b
}

func berthOptions(options Options, slots *share) sdkworker.Options {
	unused, _ := sdkworker.NewFixedSizeSlotSupplier(1) // fails for no slots only
	tuner, _ := sdkworker.NewCompositeTuner(sdkworker.CompositeTunerOptions{
		ActivitySlotSupplier: slots, WorkflowSlotSupplier: unused, LocalActivitySlotSupplier: unused,
		NexusSlotSupplier: unused, SessionActivitySlotSupplier: unused,
	}) // never fails
	return sdkworker.Options{
		DisableWorkflowWorker: true,
		Tuner:                 tuner,
		ActivityTaskPollerBehavior: sdkworker.NewPollerBehaviorAutoscaling(sdkworker.PollerBehaviorAutoscalingOptions{
			MinimumNumberOfPollers: minTypePollers, InitialNumberOfPollers: minTypePollers, MaximumNumberOfPollers: maxTypePollers,
		}),
		WorkerStopTimeout: options.StopTimeout,
		// An eager activity would bypass the limit of its queue.
		DisableEagerActivities: true,
	}
}

func (f *fleet) leave() {
	var stopping sync.WaitGroup
	for _, b := range f.berth {
		stopping.Go(b.worker.Stop)
	}
	stopping.Wait()
}
