package activities

import (
	"math/rand/v2"
	"time"

	"go.temporal.io/sdk/converter"

	"github.com/wakecall/wakecall/timer"
)

// try is one attempt to be made.
type try struct {
	delivery timer.Delivery
	payload  converter.RawValue
	number   int
	// last is the report of the attempt before, nil if there is none.
	last *timer.Report
}

// report begins the record of an attempt under this plan.
func (p plan) report(result timer.Result) timer.Report {
	return timer.Report{
		Result: result, PolicyVersion: p.policy.Version, Timeout: p.callback.Timeout,
		Latest: p.latest, Alert: p.policy.Alert != nil,
	}
}

// skip is the report of a try that calls nobody: what the one before left, under
// a new result.
func (t try) skip(p plan, result timer.Result) timer.Report {
	report := p.report(result)
	report.Attempt = t.number - 1
	if t.last != nil {
		report.LatenessMS, report.Failure, report.Skipped = t.last.LatenessMS, t.last.Failure, t.last.Skipped
	}
	return report
}

// postponeFor is how long a try waits that could not begin.
const postponeFor = time.Second

// wait is the report of a try that comes too soon. It counts as none.
func (t try) wait(p plan, d time.Duration) timer.Report {
	report := t.skip(p, timer.ResultRetry)
	report.Skipped++
	report.EndedAt, report.RetryIn = timer.At(time.Now()), timer.Duration(d)
	return report
}

// postpone is the report of a try that could not begin. It counts as none.
func (t try) postpone(cause error) timer.Report {
	report := t.wait(plan{}, postponeFor)
	if report.Failure == nil {
		report.Failure = &timer.Failure{Message: timer.Excerpt(cause.Error()), At: report.EndedAt}
	}
	return report
}

// judge is the report of an attempt: what the receiver's answer means.
func (p plan) judge(t try, sent exchange) timer.Report {
	report := p.report(timer.ResultDelivered)
	report.Attempt, report.EndedAt = t.number, timer.At(sent.ended)
	if t.last != nil {
		report.LatenessMS, report.Skipped = t.last.LatenessMS, t.last.Skipped
	}
	if !sent.firstByte.IsZero() {
		report.SentAt = timer.At(sent.firstByte)
		if t.number == 1 {
			late := sent.firstByte.Sub(t.delivery.Spec.RingsAt().Time()).Milliseconds()
			report.LatenessMS = &late
		}
	}
	verdict := timer.Judge(sent.answer, sent.ended)
	if verdict.Ruling == timer.RuleDelivered {
		return report
	}
	report.Failure = sent.answer.Failure(report.EndedAt)
	wait, more := p.retry.NextWait(t.number, verdict.RetryAfter, rand.Float64())
	if verdict.Ruling == timer.RuleStop || !more {
		report.Result = timer.ResultFailed
		return report
	}
	report.Result = timer.ResultRetry
	report.RetryIn = timer.Duration(timer.CutTo(p.latest, wait, sent.ended))
	return report
}

// pressure is the wish for patience in an answer. A timer that calls elsewhere
// than its type says nothing of the type's receiver.
func (p plan) pressure(report timer.Report, sent exchange) (wish timer.BackPressure, ok bool) {
	asked := timer.Judge(sent.answer, sent.ended).RetryAfter
	if asked == 0 || p.policy.Version == 0 || p.callback.URL != p.policy.Callback.URL {
		return wish, false
	}
	return timer.BackPressure{
		Since: report.EndedAt, Until: report.EndedAt.Add(asked), Status: sent.answer.Status,
	}, true
}
