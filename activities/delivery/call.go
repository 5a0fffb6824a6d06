package delivery

import (
	"context"
	"errors"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/wakecall/wakecall/activities/send"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/wire"
)

// call calls the receiver once, unless the latest time has passed. A paused timer is never
// called: the engine hands it out when its latest time has come, and then by its own clock. The
// error means that no attempt could be made, or that nobody knows what came of it.
func (a *Attempter) call(ctx context.Context, config attemptConfig, next attempt, r route) (delivery.Report, error) {
	began := time.Now()
	if config.latest != 0 && config.latest.Until(began) <= 0 || next.delivery.Spec.Suspended {
		report := next.skip(config, delivery.ResultExpired)
		report.EndedAt = wire.At(began)
		return report, nil
	}
	way := config.by(r)
	sent := a.send(ctx, way, next)
	if errors.Is(ctx.Err(), context.Canceled) && !sent.Answered() { // it was cut off
		return delivery.Report{}, ctx.Err()
	}
	if sent.NoVerdict {
		return next.again(config, sent), nil
	}
	report := way.judge(next, sent, a.links.tell(config, r, sent.Answer, began))
	a.Observer.Attempted(next.delivery.Spec.BusinessType, report, time.Since(began))
	logFailure(ctx, next.delivery.Spec.Key, report)
	if wish, ok := way.pressure(report, sent); ok && a.holdBack(ctx, config.policy, wish) {
		report = way.leaveToType(report)
	}
	return next.record(way, report, recording{worker: a.Worker, began: began, answer: sent.Answer}), nil
}

// logFailure writes one line for an attempt that failed.
func logFailure(ctx context.Context, key wire.Key, report delivery.Report) {
	failed := report.Result == delivery.ResultRetry || report.Result == delivery.ResultFailed
	if !failed || !activity.IsActivity(ctx) {
		return
	}
	line := []any{"business_type", key.BusinessType, "business_id", key.BusinessID, "attempt", report.Attempt, "verdict", report.Result}
	if failure := report.Failure; failure != nil {
		line = append(line, "status", failure.Status, "class", failure.Class)
	}
	if report.Result == delivery.ResultRetry {
		line = append(line, "retry_in", report.RetryIn.D())
	}
	activity.GetLogger(ctx).Warn("a callback failed", line...)
}

// recording is what is to be recorded of an attempt beside its report.
type recording struct {
	worker string
	began  time.Time
	answer delivery.Answer
}

// record is the report with this attempt in its record.
func (a attempt) record(c attemptConfig, report delivery.Report, r recording) delivery.Report {
	made := delivery.Attempt{
		DueAt: a.delivery.Spec.RingsAt(), TookMS: report.EndedAt.Time().Sub(r.began).Milliseconds(), Worker: r.worker,
		Status: r.answer.Status, Class: r.answer.Class,
	}
	if !c.policy.DiscardAnswers {
		made.Answer = r.answer.Text
	}
	for _, secret := range c.policy.Secrets(r.began) {
		made.KeyIDs = append(made.KeyIDs, delivery.KeyID(secret))
	}
	if a.last == nil {
		return report.Record(nil, made)
	}
	if a.last.EndedAt != 0 {
		made.DueAt = a.last.EndedAt.Add(a.last.RetryIn.D())
	}
	return report.Record(a.last.Attempts, made)
}

// send calls the receiver, unless that cannot be done as it was booked: such an
// attempt fails, and the ladder leaves time to configure the key again.
func (a *Attempter) send(ctx context.Context, config attemptConfig, next attempt) send.Outcome {
	if config.unopened != nil {
		return send.Outcome{
			Answer: delivery.Answer{Class: delivery.SealedHeader, Detail: config.unopened.Error()}, Ended: time.Now(),
		}
	}
	m := config.message(next)
	if config.acknowledges(next) {
		if token := a.AckTokens.AckToken(next.delivery.Spec, next.number()); token != "" {
			m.Headers[send.HeaderAckToken] = token
		}
	}
	return a.Sender.Send(ctx, m)
}

// holdBack passes on a receiver's wish. If that fails the one timer keeps to
// it all the same, and the next answer will repeat it.
func (a *Attempter) holdBack(ctx context.Context, policy policy.Policy, wish policy.BackPressure) (passedOn bool) {
	err := a.Policies.HoldBack(ctx, policy.BusinessType, wish)
	if err != nil {
		activity.GetLogger(ctx).Warn("back-pressure was not passed on", "business_type", policy.BusinessType, "error", err)
	}
	return err == nil
}
