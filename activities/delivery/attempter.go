package delivery

import (
	"context"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/wakecall/wakecall/activities/delivery/preload"
	"github.com/wakecall/wakecall/activities/delivery/receipts"
	"github.com/wakecall/wakecall/activities/send"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
)

// Sender sends messages to any kind of destination.
type Sender interface {
	Send(ctx context.Context, m send.Message) send.Outcome
}

// Policies returns the policy of a business type, its secrets opened. A type without a
// policy is [wire.NotFound].
type Policies interface {
	Policy(ctx context.Context, businessType string) (policy.Policy, error)
	// HoldBack applies a receiver's request for back-pressure to its whole type.
	HoldBack(ctx context.Context, businessType string, wish policy.BackPressure) error
}

// Emergencies reports whether an operator has paused the callbacks of a business type.
type Emergencies interface {
	Paused(ctx context.Context, businessType string) (bool, error)
}

// Opener opens values that were sealed before they reached Temporal.
type Opener interface {
	Open(sealed string) (string, error)
}

// Observer observes every attempt and every preloaded timer.
type Observer interface {
	preload.Observer
	Attempted(businessType string, report delivery.Report, took time.Duration)
	// Repeated counts tasks that came again after their timer had rung.
	Repeated()
}

// AckTokens makes the tokens with which receivers acknowledge deliveries.
type AckTokens interface {
	// AckToken is the token of an attempt; "" without a key to make one.
	AckToken(of timer.Spec, attempt int) string
}

// Runs returns what Temporal knows of a timer's run.
type Runs interface {
	preload.Runs
	// Holder is the worker that held the run's first workflow task before.
	Holder(ctx context.Context, key wire.Key, runID string) (worker string, err error)
	// AwaitState is how the delivery stands once the workflow has applied all that
	// happened to it. State returns the present state at once, for the workflow itself.
	AwaitState(ctx context.Context, key wire.Key, runID string) (timer.RunState, error)
	State(ctx context.Context, key wire.Key, runID string) (timer.RunState, error)
	// StoreReceipt stores the report of the first attempt in the run, for the next worker
	// with its task.
	StoreReceipt(ctx context.Context, workflowID, runID string, report delivery.Report) error
}

// Bulkhead keeps one business type from taking every slot of the fast path.
type Bulkhead interface {
	// Enter takes a slot of the type's share, or reports that none became free in time.
	Enter(ctx context.Context, businessType string, share, limit int) (leave func(), ok bool)
	// EnterQueue counts an attempt on the type's queue, or reports that both paths together
	// have reached the limit.
	EnterQueue(ctx context.Context, businessType string, limit int) (leave func(), ok bool)
}

// Tasks are the tasks of this process. A run has one at most.
type Tasks interface {
	preload.Tasks
	// Unrecorded maps the runs whose last task ended here unrecorded to the ids of their
	// workflows.
	Unrecorded() map[string]string
	// Reserve waits until the completion of a run's task may be sent, or until ctx ends. ReserveLast is
	// the same for a timer that has rung for the last time: what has yet to ring goes first.
	Reserve(ctx context.Context, run string)
	ReserveLast(ctx context.Context, run string)
}

// Failover knows which workers have died.
type Failover interface {
	preload.Failover
	// Crashed reports whether a worker is dead, cannot have rung a timer that was due at a moment,
	// and cannot have stored a receipt.
	Crashed(worker string, due time.Time) bool
	// Lives reports whether a worker has lately given a sign of life.
	Lives(worker string) bool
}

// Config configures an [Attempter].
type Config struct {
	// Worker is the identity of this process.
	Worker string
	// Queue names the queue for the attempts of a business type: the shared one for a policy
	// without a version, and the stream's for receivers that connect.
	Queue    func(policy policy.Policy, stream bool) string
	Runs     Runs
	Policies Policies
	// Emergencies reports which types are paused.
	Emergencies Emergencies
	Bulkhead    Bulkhead
	Preload     preload.Places
	Tasks       Tasks
	Failover    Failover
	Opener      Opener
	AckTokens   AckTokens
	Observer    Observer
	Sender      Sender
	// Polled returns when a gateway last asked for attempts at connected receivers of a
	// type; zero if none did lately. Nil in a gateway.
	Polled func(ctx context.Context, businessType string) (time.Time, error)
}

// Attempter makes the attempts of deliveries. Its methods are activities.
type Attempter struct {
	Config

	receipts  *receipts.Store
	links     *links
	preloader *preload.Preloader
}

// NewAttempter returns an Attempter.
func NewAttempter(config Config) (*Attempter, error) {
	store, err := receipts.New()
	if err != nil {
		return nil, err
	}
	links, err := newLinks()
	if err != nil {
		return nil, err
	}
	preloader := preload.New(preload.Config{
		Runs: config.Runs, Tasks: config.Tasks, Policies: config.Policies, Places: config.Preload, Observer: config.Observer,
		Failover: config.Failover,
	})
	return &Attempter{Config: config, receipts: store, links: links, preloader: preloader}, nil
}

// Recheck makes this process recheck a preloaded timer at once.
func (a *Attempter) Recheck(_ context.Context, run string) error {
	a.preloader.Recheck(run)
	return nil
}

// ReleaseAll releases every preloaded timer to other workers, from now on. It must be called
// once.
func (a *Attempter) ReleaseAll() { a.preloader.ReleaseAll() }

func runOf(ctx context.Context) string { return activity.GetInfo(ctx).WorkflowExecution.RunID }
