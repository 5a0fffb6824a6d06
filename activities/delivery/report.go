package delivery

import (
	"context"
	"errors"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/wakecall/wakecall/activities/send"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/tuning"
)

// report begins the record of an attempt under its settings.
func (s settings) report(result delivery.Result) delivery.Report {
	return delivery.Report{
		Result: result, PolicyVersion: s.policy.Version, Timeout: s.callback.Timeout, Latest: s.latest,
		Alert: s.policy.Alert != nil, OnDelivered: s.policy.OnDelivered != nil, OnFailed: s.policy.OnFailed != nil,
		Stream: s.callback.Stream && s.fallback == nil,
	}
}

// skippedReport is the report of a try that calls no receiver: the previous report under a new result.
func (a attempt) skippedReport(result delivery.Result) delivery.Report {
	report := a.report(result)
	report.Attempt, report.LatenessMS = a.number()-1, a.lateness()
	if a.last != nil {
		report.Failure, report.Skipped = a.last.Failure, a.last.Skipped
		report.Link, report.Fallbacks, report.DownSince = a.last.Link, a.last.Fallbacks, a.last.DownSince
		report.Attempts = a.last.Attempts
		if a.fallback != nil {
			report.Handed = a.last.Handed
		}
	}
	return report
}

// waitReport is the report of a try that comes too soon, with the cause of its wait. It does not
// count as an attempt.
func (a attempt) waitReport(d time.Duration, cause delivery.Waiting) delivery.Report {
	report := a.skippedReport(delivery.ResultRetry)
	report.Skipped++
	report.Waits = cause
	report.EndedAt, report.RetryIn = wire.At(time.Now()), wire.Duration(d)
	return report
}

// expiredReport is the report of a try that comes after the latest time.
func (a attempt) expiredReport(now time.Time) delivery.Report {
	report := a.skippedReport(delivery.ResultExpired)
	report.EndedAt = wire.At(now)
	return report
}

// repeatReport is the report of an attempt that reveals nothing about the receiver. It does not
// count and is made again at once, unless that has happened time and again.
func (a attempt) repeatReport(sent send.Outcome) delivery.Report {
	wait, broken := time.Millisecond, a.skippedReport(delivery.ResultRetry).Skipped
	if broken >= tuning.BrokenAtOnce {
		wait = min(tuning.FirstPostponed<<min(broken-tuning.BrokenAtOnce, 10), tuning.LongestPostponed)
	}
	report := a.waitReport(wait, "")
	report.Failure = sent.Failure(report.EndedAt)
	return report
}

// postponedReport is the report of a try that could not begin. It does not count, and keeps what is
// known of the policy.
func (a attempt) postponedReport(ctx context.Context, cause error) delivery.Report {
	uncalled := errors.Is(cause, errUncalled)
	longest := tuning.LongestPostponed
	if uncalled {
		longest = tuning.LongestUncalled
	}
	a.settings = a.lastSettings()
	skipped := a.skippedReport(delivery.ResultRetry).Skipped
	report := a.waitReport(min(tuning.FirstPostponed<<min(skipped, 10), longest), delivery.WaitsForPolicy)
	if a.last != nil {
		report.Alert, report.OnDelivered, report.OnFailed = a.last.Alert, a.last.OnDelivered, a.last.OnFailed
		report.Handed = a.last.Handed
	}
	switch {
	case report.Failure != nil: // the last attempt's failure says more
	case uncalled:
		report.Failure = delivery.Answer{Class: delivery.NoReceiver}.Failure(report.EndedAt)
	default:
		activity.GetLogger(ctx).Warn("an attempt could not begin", "business_type", a.delivery.Spec.BusinessType, "error", cause)
		report.Failure = shownFault(cause).Failure(report.EndedAt)
	}
	// The policy is unknown; the timer's own latest time holds.
	if latest := a.delivery.Spec.Latest(0); latest != 0 && latest <= report.EndedAt {
		report.Result, report.Latest = delivery.ResultExpired, latest
	}
	return report
}

// lastSettings are the settings as far as the last report shows them.
func (a attempt) lastSettings() (known settings) {
	if a.last != nil {
		known.policy.Version, known.callback.Timeout, known.latest = a.last.PolicyVersion, a.last.Timeout, a.last.Latest
		known.callback.Stream = a.last.Stream
	}
	return known
}

// shownFault is the part of an error that clients may see, when an attempt could not begin.
// Internal details, such as which value of the policy no key opens, are for operators.
func shownFault(cause error) delivery.Fault {
	if ours, ok := errors.AsType[*wire.Error](cause); ok && ours.Code == wire.Internal && ours.Message != "" {
		return delivery.Fault(ours.Message)
	}
	return delivery.PolicyUnread
}

// recorded is the report of an attempt that was made, with the attempt in its record.
func (j *judgement) recorded(worker string, began time.Time) delivery.Report {
	made := delivery.Attempt{
		DueAt: j.delivery.Spec.RingsAt(), TookMS: j.report.EndedAt.Time().Sub(began).Milliseconds(), Worker: worker,
		Status: j.sent.Status, Class: j.sent.Class,
	}
	if !j.policy.DiscardAnswers {
		made.Answer = j.sent.Text
	}
	for _, secret := range j.policy.Secrets(began) {
		made.KeyIDs = append(made.KeyIDs, delivery.KeyID(secret))
	}
	if j.last == nil {
		return j.report.Record(nil, made)
	}
	if j.last.EndedAt != 0 {
		made.DueAt = j.last.EndedAt.Add(j.last.RetryIn.D())
	}
	return j.report.Record(j.last.Attempts, made)
}
