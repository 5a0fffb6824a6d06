package delivery

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"

	"github.com/wakecall/wakecall/activities/send"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/tuning"
)

// attempt is one that is to be made.
type attempt struct {
	delivery timer.Delivery
	payload  converter.RawValue
	// last is the report before, nil if there is none.
	last *delivery.Report
	// patient is whether its workflow waits for word of a receiver that accepted it.
	patient bool
}

// number is the attempt's, from 1. Only attempts that left a report count: one
// whose worker died gave no verdict, and a try that called nobody was none.
func (a attempt) number() int {
	if a.last == nil {
		return 1
	}
	return a.last.Attempt + 1
}

// report begins the record of an attempt under this configuration.
func (c attemptConfig) report(result delivery.Result) delivery.Report {
	return delivery.Report{
		Result: result, PolicyVersion: c.policy.Version, Timeout: c.callback.Timeout,
		Latest: c.latest, Alert: c.policy.Alert != nil, OnDelivered: c.policy.OnDelivered != nil, OnFailed: c.policy.OnFailed != nil, Stream: c.callback.Stream && c.fallback == nil,
	}
}

// skip is the report of a try that calls nobody: what the one before left, under
// a new result.
func (a attempt) skip(c attemptConfig, result delivery.Result) delivery.Report {
	report := c.report(result)
	report.Attempt = a.number() - 1
	if a.last != nil {
		report.LatenessMS, report.Failure, report.Skipped = a.last.LatenessMS, a.last.Failure, a.last.Skipped
		report.Link, report.Fallbacks, report.DownSince = a.last.Link, a.last.Fallbacks, a.last.DownSince
		report.Attempts = a.last.Attempts
		if c.fallback != nil {
			report.Handed = a.last.Handed
		}
	}
	return report
}

// wait is the report of a try that comes too soon, because of what cause says. It counts as
// none.
func (a attempt) wait(c attemptConfig, d time.Duration, cause delivery.Waiting) delivery.Report {
	report := a.skip(c, delivery.ResultRetry)
	report.Skipped++
	report.Waits = cause
	report.EndedAt, report.RetryIn = wire.At(time.Now()), wire.Duration(d)
	return report
}

// postpone is the report of a try that could not begin. It counts as none, and
// leaves what is known of the policy.
func (a attempt) postpone(ctx context.Context, cause error) delivery.Report {
	uncalled := errors.Is(cause, errUncalled)
	longest := tuning.LongestPostponed
	if uncalled {
		longest = tuning.LongestUncalled
	}
	var known attemptConfig
	if a.last != nil {
		known.policy.Version, known.callback.Timeout, known.latest = a.last.PolicyVersion, a.last.Timeout, a.last.Latest
		known.callback.Stream = a.last.Stream
	}
	skipped := a.skip(known, delivery.ResultRetry).Skipped
	report := a.wait(known, min(tuning.FirstPostponed<<min(skipped, 10), longest), delivery.WaitsForPolicy)
	if a.last != nil {
		report.Alert, report.OnDelivered, report.OnFailed = a.last.Alert, a.last.OnDelivered, a.last.OnFailed
		report.Handed = a.last.Handed
	}
	switch {
	case report.Failure != nil: // the last attempt's says more
	case uncalled:
		report.Failure = delivery.Answer{Class: delivery.NoReceiver}.Failure(report.EndedAt)
	default:
		activity.GetLogger(ctx).Warn("an attempt could not begin", "business_type", a.delivery.Spec.BusinessType, "error", cause)
		report.Failure = unread(cause).Failure(report.EndedAt)
	}
	// What the policy says cannot be told; what the timer itself says holds.
	if latest := a.delivery.Spec.Latest(0); latest != 0 && latest <= report.EndedAt {
		report.Result, report.Latest = delivery.ResultExpired, latest
	}
	return report
}

// unread is what may be shown of an error for which an attempt could not begin. What we say
// of the policy ourselves, such as which of its values no key opens, is for whoever mends it.
func unread(cause error) delivery.Fault {
	if ours, ok := errors.AsType[*wire.Error](cause); ok && ours.Code == wire.Internal && ours.Message != "" {
		return delivery.Fault(ours.Message)
	}
	return delivery.PolicyUnread
}

// again is the report of an attempt that says nothing of the receiver. It counts as none
// and is made once more at once, unless that has happened to it time and again.
func (a attempt) again(c attemptConfig, sent send.Outcome) delivery.Report {
	wait, broken := time.Millisecond, a.skip(c, delivery.ResultRetry).Skipped
	if broken >= tuning.BrokenAtOnce {
		wait = min(tuning.FirstPostponed<<min(broken-tuning.BrokenAtOnce, 10), tuning.LongestPostponed)
	}
	report := a.wait(c, wait, "")
	report.Failure = sent.Failure(report.EndedAt)
	return report
}

// judge is the report of an attempt: what the receiver's answer means. downSince is since
// when the callback of the type has failed, zero when it has not.
func (c attemptConfig) judge(a attempt, sent send.Outcome, downSince time.Time) delivery.Report {
	report := c.report(delivery.ResultDelivered)
	report.Attempt, report.EndedAt, report.Link = a.number(), wire.At(sent.Ended), c.link
	if a.last != nil {
		report.LatenessMS, report.Fallbacks = a.last.LatenessMS, a.last.Fallbacks
	}
	if c.link == delivery.LinkFallback {
		report.Fallbacks++
	}
	if !downSince.IsZero() {
		report.DownSince = wire.At(downSince)
	}
	if !sent.FirstByte.IsZero() {
		report.SentAt = wire.At(sent.FirstByte)
		if report.Attempt == 1 {
			late := sent.FirstByte.Sub(a.delivery.Spec.RingsAt().Time()).Milliseconds()
			report.LatenessMS = &late
		}
	}
	report.Stop = sent.Stop
	verdict := delivery.Judge(sent.Answer)
	if verdict.Decision == delivery.DecisionDelivered {
		if sent.Deferred && c.acknowledges(a) {
			if a.last != nil {
				report.Failure = a.last.Failure
			}
			return c.accepted(report)
		}
		return report
	}
	report.Failure = sent.Failure(report.EndedAt)
	asked := c.asked(verdict)
	wait, more := c.nextWait(report, asked)
	if verdict.Decision == delivery.DecisionStop || !more {
		report.Result = delivery.ResultFailed
		return report
	}
	report.Result, report.RetryIn = delivery.ResultRetry, wire.Duration(wait)
	if asked > 0 && wait == asked { // else the ladder's step is longer
		report.Waits = delivery.WaitsForRetryAfter
	}
	return report
}

// acknowledges is whether who accepts the attempt has to say later what became of it.
func (c attemptConfig) acknowledges(a attempt) bool {
	return c.policy.Ack != nil && a.patient && !c.callback.Stream
}

// accepted is the report of an attempt whose receiver says later what became of it.
func (c attemptConfig) accepted(report delivery.Report) delivery.Report {
	wait, more := c.nextWait(report, 0)
	report.Result, report.AckUntil = delivery.ResultAccepted, report.EndedAt.Add(c.policy.Ack.Within.D())
	report.RetryIn, report.Exhausted = wire.Duration(wait), !more
	return report
}

// nextWait is the time until the attempt that follows a failed one, if there is one. Where
// the callback is down, it is not longer than until the type goes over to the fallback.
func (c attemptConfig) nextWait(report delivery.Report, asked time.Duration) (wait time.Duration, more bool) {
	if c.link == "" {
		return c.retry.NextWait(report.Attempt-report.Fallbacks, asked, rand.Float64())
	}
	wait, more = c.retry.NextByLinks(report, asked, rand.Float64())
	if c.link == delivery.LinkCallback && report.DownSince != 0 && report.Fallbacks < c.retry.Attempts() {
		goesOver := report.DownSince.Add(c.fallback.After.D()).Until(report.EndedAt.Time())
		wait = min(wait, max(goesOver, 0))
	}
	return wait, more
}

// asked is the patience that an answer asks for, as far as the policy grants it.
func (c attemptConfig) asked(verdict delivery.Verdict) time.Duration {
	return min(verdict.RetryAfter, c.policy.Patience())
}

// pressure is the wish for patience in an answer. A timer that calls elsewhere
// than its type says nothing of the type's receiver, and one of many that are connected
// speaks for itself.
func (c attemptConfig) pressure(report delivery.Report, sent send.Outcome) (wish policy.BackPressure, ok bool) {
	asked := c.asked(delivery.Judge(sent.Answer))
	if c.fallback != nil && sent.Down() { // then the type goes over to the fallback
		return wish, false
	}
	if asked == 0 || c.callback.Stream || c.policy.Version == 0 || c.callback.Destination != c.policy.Callback.Routed(c.policy.BusinessType) {
		return wish, false
	}
	return policy.BackPressure{
		Since: report.EndedAt, Until: report.EndedAt.Add(asked), Status: sent.Status,
	}, true
}

// leaveToType is a report once its type keeps to what the receiver asked for: the
// timer waits by itself until that is known everywhere, so that a wish that is
// lifted is lifted for it as well.
func (c attemptConfig) leaveToType(report delivery.Report) delivery.Report {
	if report.Result != delivery.ResultRetry || report.RetryIn.D() <= tuning.BackPressureHeard {
		return report
	}
	step, _ := c.retry.Wait(report.Attempt-report.Fallbacks, rand.Float64())
	report.RetryIn = min(report.RetryIn, wire.Duration(max(step, tuning.BackPressureHeard)))
	report.Waits = ""
	return report
}
