package dispatch

import (
	"time"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/wire"
)

// ShardState is the state of a shard.
type ShardState struct {
	Shard        int
	Begun, Ended bool
	// Unclaimed is since when it has waited for a worker; zero if it has not waited long.
	Unclaimed wire.Instant
	State     State
}

// waitsFor returns the wait of a dispatch without a sending shard.
func waitsFor(shards []ShardState) (all delivery.Wait) {
	for _, shard := range shards {
		switch since, what := shard.waits(); {
		case shard.View().Status != ShardRunning:
		case what == "":
			return delivery.Wait{}
		default:
			all.WaitsFor, all.WaitsSince = what, max(all.WaitsSince, since)
		}
	}
	return all
}

// View returns the view of a dispatch without its shards.
func (m Memo) View() View {
	v := View{
		Key: m.Order.Key, Status: m.Status, PerSecond: m.Plan.PerSecond, DueAt: m.DueAt, WarmUp: m.Order.WarmUp,
		Per: m.Order.Per, PageSize: m.Order.PageSize, Loader: m.Order.Loader, Recurrence: m.Order.Recurrence,
		Occurrence: m.Occurrence, Items: m.Items, CreatedAt: m.CreatedAt, StartedAt: m.StartedAt, FinishedAt: m.FinishedAt, Memo: m,
	}
	if m.Order.LatestAt != nil {
		v.LatestAt = *m.Order.LatestAt
	}
	if m.Last != nil {
		last := m.Last.End
		last.Status = last.Status.With(last.Failed)
		v.Last = &last
	}
	if m.Status.Finished() {
		v.Shards = m.Stopped
	}
	counts := m.Before
	if m.Total != nil {
		counts = *m.Total
	}
	v.count(counts, m.Status.Finished())
	if !m.Status.Finished() {
		return v
	}
	v.Status = m.Status.With(counts.Failed)
	v.BehindSince, v.BehindWhy = m.Behind.Since, m.Behind.Why
	v.Achieved.Whole = rate(counts.Done+counts.Failed-m.Before.Done, m.sending(m.FinishedAt))
	return v
}

// sending returns how long it has sent until a moment, without pauses.
func (m Memo) sending(until wire.Instant) time.Duration {
	if m.StartedAt == 0 {
		return 0
	}
	if m.HeldAt != 0 {
		until = m.HeldAt
	}
	return m.SentFor.D() + max(until.Time().Sub(m.Plan.Began.Time()), 0)
}

// RecordPause records a pause, and the moment when it last sent.
func (m *Memo) RecordPause(at wire.Instant) { m.HeldAt = max(m.HeldAt, at) }

// Release records that sending resumes at a moment.
func (m *Memo) Release(at wire.Instant) {
	m.SentFor = wire.Duration(m.sending(at))
	m.HeldAt, m.Plan.Began = 0, at
}

// count shows the outcomes of the items. If all shards are complete, all items were found.
func (v *View) count(c Counts, complete bool) {
	v.Done, v.Failed, v.Retrying, v.InFlight, v.Callbacks = c.Done, c.Failed, c.Retrying, c.InFlight, c.Callbacks
	if v.Items == nil && complete && v.Status == Done {
		found := c.Found
		v.Items = &found
	}
	if v.Items != nil {
		rest := max(*v.Items-c.Done-c.Failed, 0)
		v.Rest = &rest
	}
}

// Count returns the view of a dispatch with its shards.
func (v View) Count(m Memo, shards []ShardState, holds policy.Holds, now time.Time) View {
	total := m.Before
	v.Shards = make([]ShardView, 0, len(shards))
	for _, shard := range shards {
		if shard.Ended {
			shard.State.InFlight = 0
		}
		total = total.Add(shard.State.Counts)
		v.Shards = append(v.Shards, shard.View())
	}
	v.Effective = holds.DispatchRate(m.Run, m.Plan.PerSecond, now)
	switch v.Status {
	case Paused:
		v.Effective = 0
	case Running:
		if v.Wait = holds.Wait(now); v.WaitsFor == "" {
			v.Wait = waitsFor(shards)
		}
	default:
	}
	v.count(total, false)
	v.Achieved = achieved(shards)
	v.Achieved.Whole = rate(total.Done+total.Failed-m.Before.Done, m.sending(wire.At(now)))
	v.fallBehind(m, shards, holds, now)
	if v.Rest != nil && v.Effective > 0 {
		if takes := wire.Estimate(float64(*v.Rest), v.Effective); takes < wire.MaxEstimate {
			v.EstimatedEnd = wire.At(now.Add(takes))
		}
	}
	return v
}

func rate(items int, over time.Duration) float64 {
	if over <= 0 {
		return 0
	}
	return float64(items) / over.Seconds()
}

// The states of a shard in a view.
const (
	ShardWaiting = "waiting"
	ShardRunning = "running"
	ShardDone    = "done"
	ShardStopped = "stopped"
)

// View returns the shard as readers see it.
func (s ShardState) View() ShardView {
	state := s.State
	v := ShardView{
		Shard: s.Shard, Status: ShardWaiting, Items: state.Found, Done: state.Done, Failed: state.Failed,
		Retrying: state.Retrying, InFlight: state.InFlight, LagMS: state.LagMS, Problem: state.Problem,
	}
	_, v.WaitsFor = s.waits()
	switch {
	case state.Problem != nil:
		v.Status = ShardStopped
	case s.Ended:
		v.Status = ShardDone
	case s.Begun:
		v.Status = ShardRunning
	}
	return v
}

// achieved returns how many items were sent in the last second, and in the last ten, over
// seconds that every running shard has reported.
func achieved(shards []ShardState) (rates Rates) {
	const slack = 3 // seconds by which a shard's report may lag
	var newest, told int64
	for _, shard := range shards {
		newest = max(newest, shard.State.Sent.At)
	}
	told = newest
	for _, shard := range shards {
		if at := shard.State.Sent.At; at != 0 && !shard.Ended {
			told = min(told, max(at, newest-slack))
		}
	}
	for _, shard := range shards {
		sent := shard.State.Sent
		for back, items := range backwards(sent.Seconds) {
			switch age := told - 1 - (sent.At - int64(back)); {
			case age == 0:
				rates.LastSecond += float64(items)
				rates.Last10Seconds += float64(items) / 10
			case age > 0 && age < 10:
				rates.Last10Seconds += float64(items) / 10
			}
		}
	}
	return rates
}

// backwards iterates over the values from the last one on.
func backwards(values []int) func(func(int, int) bool) {
	return func(yield func(int, int) bool) {
		for back := range values {
			if !yield(back, values[len(values)-1-back]) {
				return
			}
		}
	}
}

// Untried returns the counts with all retried items as failed.
func (m Memo) Untried() Counts {
	return m.Before.Add(Counts{Found: m.Retried, Failed: m.Retried})
}

// EndedUnrecorded reports whether the dispatch was terminated while it sent, and so recorded no
// counts.
func (m Memo) EndedUnrecorded() bool {
	return m.Status.Finished() && m.Total == nil && m.StartedAt != 0
}

// WithEnd returns the memo with the counts of the shards as last known. Nothing is in progress
// any more: the outcome of a callback that was under way is unknown, and its item is not counted.
func (m Memo) WithEnd(shards []ShardState) Memo {
	total := m.Before
	for _, shard := range shards {
		total = total.Add(shard.State.Counts)
		if shard.State.Problem != nil {
			m.Stopped = append(m.Stopped, shard.View())
		}
	}
	total.InFlight = 0
	m.Total = &total
	return m
}

// RetryFailed returns the memo of an ended dispatch whose failed items are tried again. Those are
// the items of [Memo.LastFailed].
func (m Memo) RetryFailed(now wire.Instant) Memo {
	if m.betweenOccurrences() {
		m = m.withLast()
	}
	m.Round++
	m.Before, m.Retried = Counts{}, 0
	if m.Total != nil {
		m.Retried = m.Total.Failed
		m.Before = Counts{Found: m.Total.Found - m.Total.Failed, Done: m.Total.Done, Callbacks: m.Total.Callbacks}
	}
	m.Status, m.DueAt, m.StartedAt, m.FinishedAt, m.Total, m.Shards = Scheduled, now, 0, 0, nil, 0
	m.SentFor, m.HeldAt, m.Behind = 0, 0, Behind{}
	m.Plan.Paused, m.Plan.WarmUp, m.Plan.Active, m.Plan.Quiet = false, 0, nil, false
	m.Order.Recurrence = nil
	if m.Order.LatestAt != nil && *m.Order.LatestAt <= now {
		m.Order.LatestAt = nil
	}
	return m
}
