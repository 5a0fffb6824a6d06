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

// Sender sends messages, to whatever kind of destination.
type Sender interface {
	Send(ctx context.Context, m send.Message) send.Outcome
}

// Policies tells the policy of a business type, its secrets opened. A type
// without a policy is [wire.NotFound].
type Policies interface {
	Policy(ctx context.Context, businessType string) (policy.Policy, error)
	// HoldBack makes a receiver's wish for patience hold for its whole type.
	HoldBack(ctx context.Context, businessType string, wish policy.BackPressure) error
}

// Emergencies tell whether somebody has paused the callbacks of a business type.
type Emergencies interface {
	Paused(ctx context.Context, businessType string) (bool, error)
}

// Opener opens values that were sealed before they reached Temporal.
type Opener interface {
	Open(sealed string) (string, error)
}

// Observer is told of every attempt, and of what is preloaded.
type Observer interface {
	preload.Observer
	Attempted(businessType string, report delivery.Report, took time.Duration)
	// Repeated counts tasks that came again after their timer had been called.
	Repeated()
}

// AckTokens makes what a receiver needs to acknowledge one delivery.
type AckTokens interface {
	// AckToken is that of an attempt; "" where there is no key to make one with.
	AckToken(of timer.Spec, attempt int) string
}

// Runs tells what Temporal knows of the run of a timer.
type Runs interface {
	preload.Runs
	// Holder is the worker that had the run's first workflow task before.
	Holder(ctx context.Context, key wire.Key, runID string) (worker string, err error)
	// SettledState is how its delivery stands, once the workflow has taken whatever
	// happened to it. State is the same as of now, for the workflow itself.
	SettledState(ctx context.Context, key wire.Key, runID string) (timer.RunState, error)
	State(ctx context.Context, key wire.Key, runID string) (timer.RunState, error)
	// LeaveReceipt tells a run the report of its first attempt, for whichever worker has its
	// next task.
	LeaveReceipt(ctx context.Context, workflowID, runID string, report delivery.Report) error
}

// Bulkhead keeps one business type from taking every slot of the fast path.
type Bulkhead interface {
	// Enter takes a slot of the type's share, or reports that none became free
	// in time.
	Enter(ctx context.Context, businessType string, share, limit int) (leave func(), ok bool)
	// EnterQueue counts an attempt on the type's queue, or reports that both paths
	// together made as many as they may.
	EnterQueue(ctx context.Context, businessType string, limit int) (leave func(), ok bool)
}

// Tasks are those that this process has. A run has one at most.
type Tasks interface {
	preload.Tasks
	// Predecessor is the worker that had the run's task before this one; "" for none.
	Predecessor(run string) (worker string)
	// Unrecorded are the runs whose last task ended here without being recorded, with the
	// ids of their workflows.
	Unrecorded() map[string]string
	// Reserve waits until the completion of a run's task may be sent, unless ctx
	// ends first.
	Reserve(ctx context.Context, run string)
}

// Config is what an [Attempter] needs.
type Config struct {
	// Worker is the identity of this process.
	Worker string
	// Queue names the queue on which the attempts of a business type are made: that of
	// everybody for a policy without a version, and that of the stream where receivers
	// connect by themselves.
	Queue    func(policy policy.Policy, stream bool) string
	Runs     Runs
	Policies Policies
	// Emergencies tell which types somebody has paused.
	Emergencies Emergencies
	Bulkhead    Bulkhead
	Preload     preload.Places
	Tasks       Tasks
	Opener      Opener
	AckTokens   AckTokens
	Observer    Observer
	Sender      Sender
	// Polled tells when a gateway last asked for attempts at receivers of a type that are
	// connected to it; zero for not of late. Nil in a gateway.
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
	})
	return &Attempter{Config: config, receipts: store, links: links, preloader: preloader}, nil
}

// Recheck makes a timer that is preloaded here be rechecked at once.
func (a *Attempter) Recheck(_ context.Context, run string) error {
	a.preloader.Recheck(run)
	return nil
}

// ReleaseAll releases every preloaded timer to other workers, now and from now on. It
// must be called once.
func (a *Attempter) ReleaseAll() { a.preloader.ReleaseAll() }

func runOf(ctx context.Context) string { return activity.GetInfo(ctx).WorkflowExecution.RunID }
