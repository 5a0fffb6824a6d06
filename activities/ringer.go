package activities

import (
	"context"
	"errors"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"

	"github.com/wakecall/wakecall/timer"
)

// Policies tells the policy of a business type, its secrets opened. A type
// without a policy is [timer.NotFound].
type Policies interface {
	Policy(ctx context.Context, businessType string) (timer.Policy, error)
	// HoldBack makes a receiver's wish for patience hold for its whole type.
	HoldBack(ctx context.Context, businessType string, wish timer.BackPressure) error
}

// Opener opens values that were sealed before they reached Temporal.
type Opener interface {
	Open(sealed string) (string, error)
}

// Observer is told of every attempt, and of what is held until its time.
type Observer interface {
	Attempted(businessType string, report timer.Report, took time.Duration)
	// Held counts timers that this process begins, or ceases, to hold.
	Held(change int)
	// Unrung counts timers that were let go before their time.
	Unrung(how timer.Result)
	// Repeated counts tasks that came again after their timer had been rung.
	Repeated()
}

// Runs tells what Temporal knows of the run of a timer.
type Runs interface {
	// Holder is the worker that had the run's first workflow task before.
	Holder(ctx context.Context, key timer.Key, runID string) (worker string, err error)
	// Standing is how its delivery stands, once the workflow has heard of whatever
	// happened to it. Progress is the same as of now, for the workflow itself.
	Standing(ctx context.Context, key timer.Key, runID string) (timer.RunState, error)
	Progress(ctx context.Context, key timer.Key, runID string) (timer.RunState, error)
	// Wanted is whether the run is open and nobody has asked it to cancel.
	Wanted(ctx context.Context, key timer.Key, runID string) (bool, error)
	// Cause is why the run was asked to cancel.
	Cause(ctx context.Context, key timer.Key, runID string) (string, error)
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

// Hold bounds how many timers this process holds until their time.
type Hold interface {
	// Enter takes a place, or reports that so many are held that Temporal could
	// not record them all before their tasks time out.
	Enter(recordTime time.Duration) (leave func(), ok bool)
}

// Tasks are those that this process has, of which each run has one at most.
type Tasks interface {
	// TimedOut is whether Temporal has given a run's task up: somebody else may
	// have it.
	TimedOut(run string) bool
	// Predecessor is the worker that had the run's task before this one; "" for none.
	Predecessor(run string) (worker string)
	// Reserve waits until the completion of a run's task may be sent, unless ctx
	// ends first.
	Reserve(ctx context.Context, run string)
}

// Config is what a [Ringer] needs.
type Config struct {
	// Worker is the identity of this process.
	Worker string
	// Queue names the queue of a business type that has a policy.
	Queue    func(businessType string) string
	Runs     Runs
	Policies Policies
	Bulkhead Bulkhead
	Hold     Hold
	Tasks    Tasks
	Opener   Opener
	Observer Observer
	Caller   *Caller
}

// Ringer makes the attempts of deliveries.
type Ringer struct {
	Config

	receipts *receipts
	// looks wakes what is held to look whether it is still wanted, by run id.
	looks looks
	// leaving is closed when this process stops.
	leaving chan struct{}
}

// NewRinger returns a Ringer.
func NewRinger(config Config) (*Ringer, error) {
	receipts, err := newReceipts()
	if err != nil {
		return nil, err
	}
	return &Ringer{Config: config, receipts: receipts, leaving: make(chan struct{})}, nil
}

// Ring makes the first attempt of a run, at its time and once: a workflow task
// that is handed out again to this worker finds what it did, and one that another
// worker had before names that worker, unless it has been asked. It steps aside
// when the server must pace the attempt, or when the type's share of this
// worker is used up.
func (r *Ringer) Ring(ctx context.Context, delivery timer.Delivery, payload converter.RawValue) (timer.Report, error) {
	if other := r.Tasks.Predecessor(runOf(ctx)); other != "" && other != r.Worker && !delivery.Asked && !r.receipts.has(runOf(ctx)) {
		return timer.Report{Result: timer.ResultElsewhere, Worker: other}, nil
	}
	report, repeated, err := r.receipts.once(runOf(ctx), func() (timer.Report, error) {
		if result, err := r.hold(ctx, delivery.Spec); result != "" || err != nil {
			return timer.Report{Result: result}, err
		}
		return r.ring(ctx, delivery, payload)
	})
	if repeated {
		r.Observer.Repeated()
	}
	r.awaitCompletion(ctx)
	return report, err
}

// completionSlack is for the way of a report into the workflow. One that came after the
// activity has timed out would be lost, and the receiver called again.
const completionSlack = 5 * time.Second

// awaitCompletion keeps the tasks of a herd from ending all at once.
func (r *Ringer) awaitCompletion(ctx context.Context) {
	if end, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, end.Add(-completionSlack))
		defer cancel()
	}
	r.Tasks.Reserve(ctx, runOf(ctx))
}

func (r *Ringer) ring(ctx context.Context, delivery timer.Delivery, payload converter.RawValue) (timer.Report, error) {
	plan, err := r.plan(ctx, delivery.Spec)
	if errors.Is(err, errUncalled) { // it waits on the queue
		return timer.Report{Result: timer.ResultUseQueue}, nil
	}
	if err != nil {
		return timer.Report{}, err
	}
	leave, ok := r.enter(ctx, plan.policy)
	if !ok {
		return plan.report(timer.ResultUseQueue), nil
	}
	defer leave()
	return r.attempt(ctx, plan, try{delivery: delivery, payload: payload})
}

// enter takes the fast path, where it is open.
func (r *Ringer) enter(ctx context.Context, policy timer.Policy) (leave func(), ok bool) {
	if policy.Rate(time.Now()) != nil {
		return nil, false
	}
	return r.Bulkhead.Enter(ctx, policy.BusinessType, policy.Limits.FastShare(), policy.Limits.InFlight)
}

// Receipt says what this worker knows of a run's first attempt, or which other
// worker had the task.
func (r *Ringer) Receipt(ctx context.Context, delivery timer.Delivery) (timer.Report, error) {
	report, err := r.Ask(ctx, delivery)
	if err != nil || report.Result != timer.ResultUseQueue {
		return report, err
	}
	holder, err := r.Runs.Holder(ctx, delivery.Spec.Key, runOf(ctx))
	if err != nil {
		return timer.Report{}, err
	}
	if holder != r.Worker && holder != "" {
		return timer.Report{Result: timer.ResultElsewhere, Worker: holder}, nil
	}
	return report, nil
}

// askBeat is the time between two signs of life while an attempt is waited for.
const askBeat = time.Second

// Ask says what this worker knows of a run's first attempt. One that is under
// way is waited for, with signs of life: a worker that is frozen has to be told
// from one that waits.
func (r *Ringer) Ask(ctx context.Context, _ timer.Delivery) (report timer.Report, err error) {
	found := make(chan struct{})
	go func() {
		defer close(found)
		report, err = r.receipts.find(ctx, runOf(ctx))
	}()
	beat := time.NewTicker(askBeat)
	defer beat.Stop()
	for {
		select {
		case <-found:
			return report, err
		case <-beat.C:
			activity.RecordHeartbeat(ctx)
		}
	}
}

func runOf(ctx context.Context) string { return activity.GetInfo(ctx).WorkflowExecution.RunID }

// attempt calls the receiver once, unless the latest time has passed. Its
// error means that no attempt could be made.
func (r *Ringer) attempt(ctx context.Context, plan plan, t try) (timer.Report, error) {
	began := time.Now()
	if plan.latest != 0 && plan.latest.Until(began) <= 0 {
		report := t.skip(plan, timer.ResultExpired)
		report.EndedAt = timer.At(began)
		return report, nil
	}
	sent := r.send(ctx, plan, t)
	if errors.Is(ctx.Err(), context.Canceled) {
		return timer.Report{}, ctx.Err()
	}
	report := plan.judge(t, sent)
	r.Observer.Attempted(t.delivery.Spec.BusinessType, report, time.Since(began))
	if wish, ok := plan.pressure(report, sent); ok && r.holdBack(ctx, plan.policy, wish) {
		report = plan.leaveToType(report)
	}
	return report, nil
}

// send calls the receiver, unless that cannot be done as it was booked: such an
// attempt fails, and the ladder leaves time to configure the key again.
func (r *Ringer) send(ctx context.Context, plan plan, t try) exchange {
	if plan.unopened != nil {
		return exchange{ended: time.Now(), answer: timer.Answer{Trouble: timer.SealedHeader, Detail: plan.unopened.Error()}}
	}
	return r.Caller.call(ctx, plan.request(t))
}

// holdBack passes on a receiver's wish. If that fails the one timer keeps to
// it all the same, and the next answer will repeat it.
func (r *Ringer) holdBack(ctx context.Context, policy timer.Policy, wish timer.BackPressure) (passedOn bool) {
	err := r.Policies.HoldBack(ctx, policy.BusinessType, wish)
	if err != nil {
		activity.GetLogger(ctx).Warn("back-pressure was not passed on", "business_type", policy.BusinessType, "error", err)
	}
	return err == nil
}

// Cause says why the run was asked to cancel.
func (r *Ringer) Cause(ctx context.Context) (string, error) {
	execution := activity.GetInfo(ctx).WorkflowExecution
	key, _ := timer.ParseKey(execution.ID)
	return r.Runs.Cause(ctx, key, execution.RunID)
}
