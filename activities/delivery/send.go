package delivery

import (
	"context"
	"errors"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/wakecall/wakecall/activities/send"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
)

// try is one try of this worker to make an attempt.
type try struct {
	*Attempter
	attempt
	route route
	// askedAt is when this worker last asked whether the try is still its own, and answeredAt when Temporal
	// had answered.
	askedAt, answeredAt time.Time
}

// call calls the receiver once, unless the latest time has passed. It never calls for a
// paused timer: the engine hands that out at its latest time, by the engine's own clock. The
// error means that no attempt could be made, or that its end is unknown.
func (t *try) call(ctx context.Context) (delivery.Report, error) {
	began := time.Now()
	if t.latest != 0 && t.latest.Until(began) <= 0 || t.delivery.Spec.Suspended {
		return t.expiredReport(began), nil
	}
	way := t.withRoute(t.route)
	sent := t.send(ctx, way)
	if errors.Is(ctx.Err(), context.Canceled) && !sent.Answered() { // it was cut off
		return delivery.Report{}, ctx.Err()
	}
	if sent.NoVerdict {
		return t.repeatReport(sent), nil
	}
	j := way.judge(sent, t.links.record(t.settings, t.route, sent.Answer, began))
	t.Observer.Attempted(t.delivery.Spec.BusinessType, j.observed(), time.Since(began))
	j.log(ctx)
	if wish, ok := j.backPressure(); ok && t.holdBack(ctx, wish) {
		j.shortenWait()
	}
	return j.recorded(t.Worker, began), nil
}

// send calls the receiver, unless a header of the booking cannot be opened: such an attempt
// fails, and the ladder leaves time to configure the key again.
func (t *try) send(ctx context.Context, way attempt) send.Outcome {
	if way.unopened != nil {
		return send.Outcome{
			Answer: delivery.Answer{Class: delivery.SealedHeader, Detail: way.unopened.Error()}, Ended: time.Now(),
		}
	}
	m := way.message()
	if way.acknowledged() {
		if token := t.AckTokens.AckToken(t.delivery.Spec, t.number()); token != "" {
			m.Headers[send.HeaderAckToken] = token
		}
	}
	return t.Sender.Send(ctx, m)
}

// holdBack passes a receiver's request on to its type. If that fails, this timer still
// honours it, and the next answer repeats it.
func (t *try) holdBack(ctx context.Context, wish policy.BackPressure) (passedOn bool) {
	err := t.Policies.HoldBack(ctx, t.policy.BusinessType, wish)
	if err != nil {
		activity.GetLogger(ctx).Warn("back-pressure was not passed on", "business_type", t.policy.BusinessType, "error", err)
	}
	return err == nil
}

// log writes one line for an attempt that failed.
func (j *judgement) log(ctx context.Context) {
	report, key := j.report, j.delivery.Spec.Key
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
