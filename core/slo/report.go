package slo

import (
	"time"

	"github.com/wakecall/wakecall/core/wire"
)

// Target is the default share of timers that are to ring on time.
const Target = 0.999

// Objective is what the timers of a business type are measured by.
type Objective struct {
	// OnTime is how late a first attempt may be, by the policy as it is now.
	OnTime wire.Duration `json:"on_time"`
	// JudgedBy is the on_time in force when the timers ended, which the share is by. It is left
	// out if no timer was to ring.
	JudgedBy Promises `json:"judged_by,omitzero"`
	// Target is the share of timers that are to be on time, above 0 and below 1.
	Target float64 `json:"target"`
}

// Report sums up a window of a series. A figure that is not known is left out.
type Report struct {
	BusinessType string `json:"business_type"`
	// From is the begin of the first hour that was counted, or of the day or the ten days if its hours
	// were joined. To is the time of the report.
	From      wire.Instant `json:"from"`
	To        wire.Instant `json:"to"`
	Objective Objective    `json:"objective"`
	// Share is the share of timers that rang on time. BudgetLeft is the share of the error budget
	// that is left; below 0 it is overspent. Both are nil if no timer was to ring.
	Share      *float64 `json:"share,omitempty"`
	BudgetLeft *float64 `json:"budget_left,omitempty"`
	// P50MS and P99MS are quantiles of the lateness of first attempts, in milliseconds. They are
	// exact below 32 ms and at most 6.25 % too high above. WorstMS is the greatest lateness. A first
	// attempt that could not be sent has none.
	P50MS   *int64 `json:"p50_ms,omitempty"`
	P99MS   *int64 `json:"p99_ms,omitempty"`
	WorstMS *int64 `json:"worst_ms,omitempty"`
	// The others are described with [Counts].
	Booked int64 `json:"booked"`
	Bytes  int64 `json:"bytes"`
	Rung   int64 `json:"rung"`
	OnTime int64 `json:"on_time"`
	// Unsent is how many of the first attempts could not be sent.
	Unsent    int64 `json:"unsent"`
	Missed    int64 `json:"missed"`
	Delivered int64 `json:"delivered"`
	Failed    int64 `json:"failed"`
	Expired   int64 `json:"expired"`
	Attempts  int64 `json:"attempts"`
	// Open is how many timers have not ended.
	Open *int64 `json:"open,omitempty"`
}

// Report sums up the intervals that end after now minus the window.
func (s Series) Report(businessType string, objective Objective, now wire.Instant, window time.Duration) Report {
	from := wire.At(now.Add(-window).Time().Truncate(time.Hour))
	within, c := s.Since(from), Counts{}
	if len(within) > 0 {
		from = min(from, within[0].From)
	}
	for _, interval := range within {
		c.Add(interval.Counts)
	}
	objective.JudgedBy = c.JudgedBy
	r := Report{
		BusinessType: businessType, Objective: objective, From: from, To: now,
		Booked: c.Booked, Bytes: c.Bytes, Rung: c.Rung, OnTime: c.OnTime, Unsent: c.Rung - c.Lateness.Total(), Missed: c.Missed,
		Delivered: c.Delivered, Failed: c.Failed, Expired: c.Expired, Attempts: c.Attempts,
	}
	if p50, ok := c.Lateness.Quantile(0.5); ok {
		p99, _ := c.Lateness.Quantile(0.99)
		p50, p99 = min(p50, c.WorstMS), min(p99, c.WorstMS)
		r.P50MS, r.P99MS, r.WorstMS = &p50, &p99, &c.WorstMS
	}
	if due := c.Rung + c.Missed; due > 0 {
		share := float64(c.OnTime) / float64(due)
		left := 1 - (1-share)/(1-objective.Target)
		r.Share, r.BudgetLeft = &share, &left
	}
	return r
}
