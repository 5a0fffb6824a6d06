package delivery

import (
	"math/rand/v2"
	"time"

	"github.com/wakecall/wakecall/activities/send"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/tuning"
)

// judgement is the meaning of the answer to an attempt.
type judgement struct {
	attempt
	sent send.Outcome
	// report is the report that follows from the answer.
	report delivery.Report
}

// judge judges the answer to an attempt. downSince is since when the type's callback has
// failed, zero if it works.
func (a attempt) judge(sent send.Outcome, downSince time.Time) *judgement {
	j := &judgement{attempt: a, sent: sent, report: a.report(delivery.ResultDelivered)}
	j.describe(downSince)
	verdict := delivery.Judge(sent.Answer)
	switch {
	case verdict.Decision != delivery.DecisionDelivered:
		j.fail(verdict)
	case sent.Deferred && a.acknowledged():
		j.accept()
	}
	return j
}

// describe records the facts that hold for every answer.
func (j *judgement) describe(downSince time.Time) {
	report := &j.report
	report.Attempt, report.EndedAt, report.Link = j.number(), wire.At(j.sent.Ended), j.link
	report.Stop, report.LatenessMS = j.sent.Stop, j.lateness()
	if j.last != nil {
		report.Fallbacks = j.last.Fallbacks
	}
	if j.link == delivery.LinkFallback {
		report.Fallbacks++
	}
	if !downSince.IsZero() {
		report.DownSince = wire.At(downSince)
	}
	if j.sent.FirstByte.IsZero() {
		return
	}
	report.SentAt = wire.At(j.sent.FirstByte)
	if j.first() {
		late := j.sent.FirstByte.Sub(j.delivery.Spec.RingsAt().Time()).Milliseconds()
		report.LatenessMS = &late
	}
}

// observed is the report for the counts of this process. Only the first attempt has a lateness
// there: each timer is late once.
func (j *judgement) observed() delivery.Report {
	report := j.report
	if !j.first() {
		report.LatenessMS = nil
	}
	return report
}

// accept records that the receiver acknowledges the attempt later.
func (j *judgement) accept() {
	report := &j.report
	if j.last != nil {
		report.Failure = j.last.Failure
	}
	wait, more := j.nextWait(0)
	report.Result, report.AckUntil = delivery.ResultAccepted, report.EndedAt.Add(j.policy.Ack.Within.D())
	report.RetryIn, report.Exhausted = wire.Duration(wait), !more
}

// fail records that the receiver did not take the attempt, and when the next one is due if
// there is one.
func (j *judgement) fail(verdict delivery.Verdict) {
	report := &j.report
	report.Failure = j.sent.Failure(report.EndedAt)
	asked := j.retryAfter(verdict)
	wait, more := j.nextWait(asked)
	if verdict.Decision == delivery.DecisionStop || !more {
		report.Result = delivery.ResultFailed
		return
	}
	report.Result, report.RetryIn = delivery.ResultRetry, wire.Duration(wait)
	if asked > 0 && wait == asked { // else the ladder's step is longer
		report.Waits = delivery.WaitsForRetryAfter
	}
}

// nextWait is the time until the attempt after a failed one, if there is one. While the
// callback is down, it ends no later than the type's switch to the fallback.
func (j *judgement) nextWait(asked time.Duration) (wait time.Duration, more bool) {
	report := j.report
	if j.link == "" {
		return j.retry.NextWait(report.Attempt-report.Fallbacks, asked, rand.Float64())
	}
	wait, more = j.retry.NextByLinks(report, asked, rand.Float64())
	if j.link == delivery.LinkCallback && report.DownSince != 0 && report.Fallbacks < j.retry.Attempts() {
		goesOver := report.DownSince.Add(j.fallback.After.D()).Until(report.EndedAt.Time())
		wait = min(wait, max(goesOver, 0))
	}
	return wait, more
}

// backPressure is the receiver's request for patience, if it is for the whole type. Two
// receivers do not speak for the type: a timer's own receiver, and one of many connected
// receivers.
func (j *judgement) backPressure() (wish policy.BackPressure, ok bool) {
	asked := j.retryAfter(delivery.Judge(j.sent.Answer))
	if j.fallback != nil && j.sent.Down() { // then the type switches to the fallback
		return wish, false
	}
	if asked == 0 || j.callback.Stream || j.policy.Version == 0 || j.callback.Destination != j.policy.Callback.Routed(j.policy.BusinessType) {
		return wish, false
	}
	return policy.BackPressure{
		Since: j.report.EndedAt, Until: j.report.EndedAt.Add(asked), Status: j.sent.Status,
	}, true
}

// shortenWait leaves the rest of a wait to the type, which honours the receiver's request.
// The timer waits by itself until the request is known everywhere, so that lifting the
// back-pressure frees this timer too.
func (j *judgement) shortenWait() {
	report := &j.report
	if report.Result != delivery.ResultRetry || report.RetryIn.D() <= tuning.BackPressureHeard {
		return
	}
	step, _ := j.retry.Wait(report.Attempt-report.Fallbacks, rand.Float64())
	report.RetryIn = min(report.RetryIn, wire.Duration(max(step, tuning.BackPressureHeard)))
	report.Waits = ""
}
