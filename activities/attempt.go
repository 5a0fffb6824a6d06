package activities

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"

	"github.com/wakecall/wakecall/activities/send"
	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/timer"
)

// attempt is one that is to be made.
type attempt struct {
	delivery timer.Delivery
	payload  converter.RawValue
	// last is the report before, nil if there is none.
	last *timer.Report
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
func (c attemptConfig) report(result timer.Result) timer.Report {
	return timer.Report{
		Result: result, PolicyVersion: c.policy.Version, Timeout: c.callback.Timeout,
		Latest: c.latest, Alert: c.policy.Alert != nil, OnDelivered: c.policy.OnDelivered != nil, OnFailed: c.policy.OnFailed != nil, Stream: c.callback.Stream && c.fallback == nil,
	}
}

// skip is the report of a try that calls nobody: what the one before left, under
// a new result.
func (a attempt) skip(c attemptConfig, result timer.Result) timer.Report {
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
func (a attempt) wait(c attemptConfig, d time.Duration, cause timer.Waiting) timer.Report {
	report := a.skip(c, timer.ResultRetry)
	report.Skipped++
	report.Waits = cause
	report.EndedAt, report.RetryIn = timer.At(time.Now()), timer.Duration(d)
	return report
}

// postpone is the report of a try that could not begin. It counts as none, and
// leaves what is known of the policy.
func (a attempt) postpone(ctx context.Context, cause error) timer.Report {
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
	skipped := a.skip(known, timer.ResultRetry).Skipped
	report := a.wait(known, min(tuning.FirstPostponed<<min(skipped, 10), longest), timer.WaitsForPolicy)
	if a.last != nil {
		report.Alert, report.OnDelivered, report.OnFailed = a.last.Alert, a.last.OnDelivered, a.last.OnFailed
		report.Handed = a.last.Handed
	}
	switch {
	case report.Failure != nil: // the last attempt's says more
	case uncalled:
		report.Failure = timer.Answer{Class: timer.NoReceiver}.Failure(report.EndedAt)
	default:
		activity.GetLogger(ctx).Warn("an attempt could not begin", "business_type", a.delivery.Spec.BusinessType, "error", cause)
		report.Failure = unread(cause).Failure(report.EndedAt)
	}
	// What the policy says cannot be told; what the timer itself says holds.
	if latest := a.delivery.Spec.Latest(0); latest != 0 && latest <= report.EndedAt {
		report.Result, report.Latest = timer.ResultExpired, latest
	}
	return report
}

// unread is what may be shown of an error for which an attempt could not begin. What we say
// of the policy ourselves, such as which of its values no key opens, is for whoever mends it.
func unread(cause error) timer.Fault {
	if ours, ok := errors.AsType[*timer.Error](cause); ok && ours.Code == timer.Internal && ours.Message != "" {
		return timer.Fault(ours.Message)
	}
	return timer.PolicyUnread
}

// again is the report of an attempt that says nothing of the receiver. It counts as none
// and is made once more at once, unless that has happened to it time and again.
func (a attempt) again(c attemptConfig, sent send.Outcome) timer.Report {
	wait, broken := time.Millisecond, a.skip(c, timer.ResultRetry).Skipped
	if broken >= tuning.BrokenAtOnce {
		wait = min(tuning.FirstPostponed<<min(broken-tuning.BrokenAtOnce, 10), tuning.LongestPostponed)
	}
	report := a.wait(c, wait, "")
	report.Failure = sent.Failure(report.EndedAt)
	return report
}

// judge is the report of an attempt: what the receiver's answer means. downSince is since
// when the callback of the type has failed, zero when it has not.
func (c attemptConfig) judge(a attempt, sent send.Outcome, downSince time.Time) timer.Report {
	report := c.report(timer.ResultDelivered)
	report.Attempt, report.EndedAt, report.Link = a.number(), timer.At(sent.Ended), c.link
	if a.last != nil {
		report.LatenessMS, report.Fallbacks = a.last.LatenessMS, a.last.Fallbacks
	}
	if c.link == timer.LinkFallback {
		report.Fallbacks++
	}
	if !downSince.IsZero() {
		report.DownSince = timer.At(downSince)
	}
	if !sent.FirstByte.IsZero() {
		report.SentAt = timer.At(sent.FirstByte)
		if report.Attempt == 1 {
			late := sent.FirstByte.Sub(a.delivery.Spec.RingsAt().Time()).Milliseconds()
			report.LatenessMS = &late
		}
	}
	report.Stop = sent.Stop
	verdict := timer.Judge(sent.Answer)
	if verdict.Decision == timer.DecisionDelivered {
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
	if verdict.Decision == timer.DecisionStop || !more {
		report.Result = timer.ResultFailed
		return report
	}
	report.Result, report.RetryIn = timer.ResultRetry, timer.Duration(wait)
	if asked > 0 && wait == asked { // else the ladder's step is longer
		report.Waits = timer.WaitsForRetryAfter
	}
	return report
}

// acknowledges is whether who accepts the attempt has to say later what became of it.
func (c attemptConfig) acknowledges(a attempt) bool {
	return c.policy.Ack != nil && a.patient && !c.callback.Stream
}

// accepted is the report of an attempt whose receiver says later what became of it.
func (c attemptConfig) accepted(report timer.Report) timer.Report {
	wait, more := c.nextWait(report, 0)
	report.Result, report.AckUntil = timer.ResultAccepted, report.EndedAt.Add(c.policy.Ack.Within.D())
	report.RetryIn, report.Exhausted = timer.Duration(wait), !more
	return report
}

// nextWait is the time until the attempt that follows a failed one, if there is one. Where
// the callback is down, it is not longer than until the type goes over to the fallback.
func (c attemptConfig) nextWait(report timer.Report, asked time.Duration) (wait time.Duration, more bool) {
	if c.link == "" {
		return c.retry.NextWait(report.Attempt-report.Fallbacks, asked, rand.Float64())
	}
	wait, more = c.retry.NextByLinks(report, asked, rand.Float64())
	if c.link == timer.LinkCallback && report.DownSince != 0 && report.Fallbacks < c.retry.Attempts() {
		goesOver := report.DownSince.Add(c.fallback.After.D()).Until(report.EndedAt.Time())
		wait = min(wait, max(goesOver, 0))
	}
	return wait, more
}

// asked is the patience that an answer asks for, as far as the policy grants it.
func (c attemptConfig) asked(verdict timer.Verdict) time.Duration {
	return min(verdict.RetryAfter, c.policy.Patience())
}

// pressure is the wish for patience in an answer. A timer that calls elsewhere
// than its type says nothing of the type's receiver, and one of many that are connected
// speaks for itself.
func (c attemptConfig) pressure(report timer.Report, sent send.Outcome) (wish timer.BackPressure, ok bool) {
	asked := c.asked(timer.Judge(sent.Answer))
	if c.fallback != nil && sent.Down() { // then the type goes over to the fallback
		return wish, false
	}
	if asked == 0 || c.callback.Stream || c.policy.Version == 0 || c.callback.Destination != c.policy.Callback.Routed(c.policy.BusinessType) {
		return wish, false
	}
	return timer.BackPressure{
		Since: report.EndedAt, Until: report.EndedAt.Add(asked), Status: sent.Status,
	}, true
}

// leaveToType is a report once its type keeps to what the receiver asked for: the
// timer waits by itself until that is known everywhere, so that a wish that is
// lifted is lifted for it as well.
func (c attemptConfig) leaveToType(report timer.Report) timer.Report {
	if report.Result != timer.ResultRetry || report.RetryIn.D() <= tuning.BackPressureHeard {
		return report
	}
	step, _ := c.retry.Wait(report.Attempt-report.Fallbacks, rand.Float64())
	report.RetryIn = min(report.RetryIn, timer.Duration(max(step, tuning.BackPressureHeard)))
	report.Waits = ""
	return report
}
