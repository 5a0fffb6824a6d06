package activities

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"

	"github.com/wakecall/wakecall/timer"
)

// Policies tells the policy of a business type, its secrets opened. A type
// without a policy is [timer.NotFound].
type Policies interface {
	Policy(ctx context.Context, businessType string) (timer.Policy, error)
}

// Opener opens values that were sealed before they reached Temporal.
type Opener interface {
	Open(sealed string) (string, error)
}

// Observer is told of every attempt.
type Observer interface {
	Attempted(businessType string, report timer.Report, took time.Duration)
}

// Runs tells what Temporal knows of the run of a timer.
type Runs interface {
	// Holder is the worker that had the run's first workflow task before.
	Holder(ctx context.Context, key timer.Key, runID string) (worker string, err error)
	// Wanted is whether no cancel or change has called the next attempt off.
	Wanted(ctx context.Context, key timer.Key, runID string) (bool, error)
}

// Config is what a [Ringer] needs.
type Config struct {
	// Worker is the identity of this process.
	Worker   string
	Runs     Runs
	Policies Policies
	Opener   Opener
	Observer Observer
	Caller   *Caller
}

// Ringer makes the attempts of deliveries.
type Ringer struct {
	Config

	receipts *receipts
}

// NewRinger returns a Ringer.
func NewRinger(config Config) (*Ringer, error) {
	receipts, err := newReceipts()
	if err != nil {
		return nil, err
	}
	return &Ringer{Config: config, receipts: receipts}, nil
}

// Ring makes the first attempt of a run, once: a workflow task that is handed
// out again to this worker finds what it did. It waits for the due time if
// that is not quite reached.
func (r *Ringer) Ring(ctx context.Context, delivery timer.Delivery, payload converter.RawValue) (timer.Report, error) {
	return r.receipts.once(runOf(ctx), func() (timer.Report, error) {
		if err := sleepUntil(ctx, delivery.Spec.DueAt); err != nil {
			return timer.Report{}, err
		}
		return r.attempt(ctx, delivery, payload, 1)
	})
}

// Receipt says what this worker knows of a run's first attempt, or which other
// worker had the task.
func (r *Ringer) Receipt(ctx context.Context, delivery timer.Delivery) (timer.Report, error) {
	report, err := r.Ask(ctx, delivery)
	if err != nil || report.Result != timer.ResultAside {
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

// Ask says what this worker knows of a run's first attempt. One that is under
// way is waited for.
func (r *Ringer) Ask(ctx context.Context, _ timer.Delivery) (timer.Report, error) {
	return r.receipts.find(ctx, runOf(ctx))
}

func runOf(ctx context.Context) string { return activity.GetInfo(ctx).WorkflowExecution.RunID }

// Deliver makes the next attempt, and fails with the wait until the one after
// it. Its own first attempt repeats the verdict of the fast path's, so that
// Temporal counts and shows attempts as the receiver sees them.
func (r *Ringer) Deliver(ctx context.Context, delivery timer.Delivery, payload converter.RawValue) (timer.Report, error) {
	number := int(activity.GetInfo(ctx).Attempt)
	if prior := delivery.Prior; prior != nil && number == prior.Attempt {
		return timer.Report{}, failure(*prior)
	}
	// A cancel or change that is durable by now comes before this attempt, even
	// if the workflow has not heard of it yet.
	wanted, err := r.Runs.Wanted(ctx, delivery.Spec.Key, runOf(ctx))
	if err != nil {
		return timer.Report{}, err
	}
	if !wanted {
		return timer.Report{}, temporal.NewCanceledError()
	}
	report, err := r.attempt(ctx, delivery, payload, number)
	if err != nil {
		return timer.Report{}, err
	}
	if delivery.Prior != nil {
		report.LatenessMS = delivery.Prior.LatenessMS
	}
	if report.Result != timer.ResultDelivered {
		return timer.Report{}, failure(report)
	}
	return report, nil
}

// attempt calls the receiver once, unless the latest time has passed. Its
// error means that no attempt could be made.
func (r *Ringer) attempt(
	ctx context.Context, delivery timer.Delivery, payload converter.RawValue, number int,
) (timer.Report, error) {
	plan, err := r.plan(ctx, delivery.Spec)
	if err != nil {
		return timer.Report{}, err
	}
	report := timer.Report{Attempt: number, PolicyVersion: plan.policy.Version, Timeout: plan.callback.Timeout}
	began := time.Now()
	if plan.latest != 0 && plan.latest.Until(began) <= 0 {
		report.Result, report.EndedAt, report.Attempt = timer.ResultExpired, timer.At(began), number-1
		return report, nil
	}
	sent := r.Caller.call(ctx, plan.request(delivery.Spec, payload, number))
	if errors.Is(ctx.Err(), context.Canceled) {
		return timer.Report{}, ctx.Err()
	}
	report = plan.judge(report, sent)
	if number == 1 && !sent.firstByte.IsZero() {
		late := sent.firstByte.Sub(delivery.Spec.DueAt.Time()).Milliseconds()
		report.LatenessMS = &late
	}
	r.Observer.Attempted(delivery.Spec.BusinessType, report, time.Since(began))
	return report, nil
}

func sleepUntil(ctx context.Context, due timer.Instant) error {
	wait := time.NewTimer(due.Until(time.Now()))
	defer wait.Stop()
	select {
	case <-wait.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// judge completes a report with what the receiver's answer means.
func (p plan) judge(report timer.Report, sent exchange) timer.Report {
	report.EndedAt = timer.At(sent.ended)
	if !sent.firstByte.IsZero() {
		report.SentAt = timer.At(sent.firstByte)
	}
	verdict := timer.Judge(sent.answer, sent.ended)
	if verdict.Ruling == timer.RuleDelivered {
		report.Result = timer.ResultDelivered
		return report
	}
	report.Failure = &timer.Failure{
		Status: sent.answer.Status, Message: sent.answer.Describe(), At: report.EndedAt,
	}
	wait, more := p.retry.NextWait(report.Attempt, verdict.RetryAfter, rand.Float64())
	if verdict.Ruling == timer.RuleStop || !more {
		report.Result = timer.ResultFailed
		return report
	}
	report.Result = timer.ResultRetry
	report.RetryIn = timer.Duration(timer.CutTo(p.latest, wait, sent.ended))
	return report
}
