package activities

import (
	"errors"
	"math/rand/v2"
	"time"

	"go.temporal.io/sdk/converter"

	"github.com/wakecall/wakecall/timer"
)

// try is one attempt to be made.
type try struct {
	delivery timer.Delivery
	payload  converter.RawValue
	// last is the report before, nil if there is none.
	last *timer.Report
}

// number is the attempt's, from 1. Only attempts that left a report count: one
// whose worker died gave no verdict, and a try that called nobody was none.
func (t try) number() int {
	if t.last == nil {
		return 1
	}
	return t.last.Attempt + 1
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
	report.Attempt = t.number() - 1
	if t.last != nil {
		report.LatenessMS, report.Failure, report.Skipped = t.last.LatenessMS, t.last.Failure, t.last.Skipped
	}
	return report
}

// wait is the report of a try that comes too soon. It counts as none.
func (t try) wait(p plan, d time.Duration) timer.Report {
	report := t.skip(p, timer.ResultRetry)
	report.Skipped++
	report.EndedAt, report.RetryIn = timer.At(time.Now()), timer.Duration(d)
	return report
}

const (
	// postponeFor is how long the first of the tries waits that cannot begin. Each
	// one after it waits twice as long, up to longestPostpone: a policy that can be
	// read again is in force soon.
	postponeFor     = time.Second
	longestPostpone = 8 * time.Second
	// longestUncalled bounds the wait of a timer that nobody can be called for. A
	// type whose policy is gone may have very many of them.
	longestUncalled = time.Minute
)

// postpone is the report of a try that could not begin. It counts as none, and
// leaves what is known of the policy.
func (t try) postpone(cause error) timer.Report {
	uncalled := errors.Is(cause, errUncalled)
	longest := longestPostpone
	if uncalled {
		longest = longestUncalled
	}
	var known plan
	if t.last != nil {
		known.policy.Version, known.callback.Timeout, known.latest = t.last.PolicyVersion, t.last.Timeout, t.last.Latest
	}
	skipped := t.skip(known, timer.ResultRetry).Skipped
	report := t.wait(known, min(postponeFor<<min(skipped, 10), longest))
	report.Alert = t.last != nil && t.last.Alert
	switch {
	case report.Failure != nil: // the last attempt's says more
	case uncalled:
		report.Failure = timer.Answer{Trouble: timer.NoReceiver}.Failure(report.EndedAt)
	default:
		report.Failure = &timer.Failure{Message: timer.Excerpt(cause.Error()), At: report.EndedAt}
	}
	// What the policy says cannot be told; what the timer itself says holds.
	if latest := t.delivery.Spec.Latest(0); latest != 0 && latest <= report.EndedAt {
		report.Result, report.Latest = timer.ResultExpired, latest
	}
	return report
}

// judge is the report of an attempt: what the receiver's answer means.
func (p plan) judge(t try, sent exchange) timer.Report {
	report := p.report(timer.ResultDelivered)
	report.Attempt, report.EndedAt = t.number(), timer.At(sent.ended)
	if t.last != nil {
		report.LatenessMS = t.last.LatenessMS
	}
	if !sent.firstByte.IsZero() {
		report.SentAt = timer.At(sent.firstByte)
		if report.Attempt == 1 {
			late := sent.firstByte.Sub(t.delivery.Spec.RingsAt().Time()).Milliseconds()
			report.LatenessMS = &late
		}
	}
	verdict := timer.Judge(sent.answer, sent.ended)
	if verdict.Ruling == timer.RuleDelivered {
		return report
	}
	report.Failure = sent.answer.Failure(report.EndedAt)
	wait, more := p.retry.NextWait(report.Attempt, p.asked(verdict), rand.Float64())
	if verdict.Ruling == timer.RuleStop || !more {
		report.Result = timer.ResultFailed
		return report
	}
	report.Result, report.RetryIn = timer.ResultRetry, timer.Duration(wait)
	return report
}

// asked is the patience that an answer asks for, as far as the policy grants it.
func (p plan) asked(verdict timer.Verdict) time.Duration {
	return min(verdict.RetryAfter, p.policy.Patience())
}

// pressure is the wish for patience in an answer. A timer that calls elsewhere
// than its type says nothing of the type's receiver.
func (p plan) pressure(report timer.Report, sent exchange) (wish timer.BackPressure, ok bool) {
	asked := p.asked(timer.Judge(sent.answer, sent.ended))
	if asked == 0 || p.policy.Version == 0 || p.callback.URL != p.policy.Callback.URL {
		return wish, false
	}
	return timer.BackPressure{
		Since: report.EndedAt, Until: report.EndedAt.Add(asked), Status: sent.answer.Status,
	}, true
}

// heardBy is when every worker has heard of a wish for patience.
const heardBy = 15 * time.Second

// leaveToType is a report once its type keeps to what the receiver asked for: the
// timer waits by itself until that is known everywhere, so that a wish that is
// lifted is lifted for it as well.
func (p plan) leaveToType(report timer.Report) timer.Report {
	if report.Result != timer.ResultRetry || report.RetryIn.D() <= heardBy {
		return report
	}
	step, _ := p.retry.Wait(report.Attempt, rand.Float64())
	report.RetryIn = min(report.RetryIn, timer.Duration(max(step, heardBy)))
	return report
}
