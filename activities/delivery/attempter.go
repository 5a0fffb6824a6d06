package delivery

import (
	"context"
	"time"

	"go.temporal.io/sdk/activity"

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
	Attempted(businessType string, report delivery.Report, took time.Duration)
	// Preloaded counts timers that begin, or cease, to be preloaded here.
	Preloaded(change int)
	// Released counts timers that were released before they were due.
	Released(how delivery.Result)
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
	// Holder is the worker that had the run's first workflow task before.
	Holder(ctx context.Context, key wire.Key, runID string) (worker string, err error)
	// SettledState is how its delivery stands, once the workflow has taken whatever
	// happened to it. State is the same as of now, for the workflow itself.
	SettledState(ctx context.Context, key wire.Key, runID string) (timer.RunState, error)
	State(ctx context.Context, key wire.Key, runID string) (timer.RunState, error)
	// Revoked is why a worker that holds the run's task shall not make its attempt; "" when
	// it shall.
	Revoked(ctx context.Context, key wire.Key, hold timer.Hold) (delivery.Result, error)
	// Cause is why the run was asked to cancel.
	Cause(ctx context.Context, key wire.Key, runID string) (string, error)
	// LeaveReceipt tells a run of a workflow what came of its first attempt, for whichever
	// worker has its next task.
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

// Preload bounds how many timers this process preloads.
type Preload interface {
	// Enter takes a place, or reports that so many are preloaded that Temporal
	// could not record them all before their tasks time out.
	Enter(memo timer.Memo) (leave func(), ok bool)
}

// Tasks are those that this process has, of which each run has one at most.
type Tasks interface {
	// TimedOut is whether Temporal has given a run's task up: somebody else may
	// have it.
	TimedOut(run string) bool
	// Hold is which task of the run this process has, and when it was handed the first of
	// them; zero where that is not known.
	Hold(run string) (attempt int, startedAt, beganAt time.Time)
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
	Preload     Preload
	Tasks       Tasks
	Opener      Opener
	AckTokens   AckTokens
	Observer    Observer
	Sender      Sender
	// Polled tells when a gateway last asked for attempts at receivers of a type that are
	// connected to it; zero for not of late. Nil in a gateway.
	Polled func(ctx context.Context, businessType string) (time.Time, error)
}

// Attempter makes the attempts of deliveries.
type Attempter struct {
	Config

	receipts *receipts
	links    *links
	// wakeups make preloaded timers be rechecked, by run id.
	wakeups wakeups
	// stopping is closed when this process stops.
	stopping chan struct{}
}

// NewAttempter returns an Attempter.
func NewAttempter(config Config) (*Attempter, error) {
	receipts, err := newReceipts()
	if err != nil {
		return nil, err
	}
	links, err := newLinks()
	if err != nil {
		return nil, err
	}
	return &Attempter{Config: config, receipts: receipts, links: links, stopping: make(chan struct{})}, nil
}

// Cause says why the run was asked to cancel.
func (a *Attempter) Cause(ctx context.Context) (string, error) {
	execution := activity.GetInfo(ctx).WorkflowExecution
	key, _ := wire.ParseKey(execution.ID)
	return a.Runs.Cause(ctx, key, execution.RunID)
}

func runOf(ctx context.Context) string { return activity.GetInfo(ctx).WorkflowExecution.RunID }
