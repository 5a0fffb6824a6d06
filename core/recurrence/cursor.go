package recurrence

import (
	"time"

	"github.com/wakecall/wakecall/core/calendar"
	"github.com/wakecall/wakecall/core/wire"
)

// Cursor is the position of a recurring timer. It travels in the input of the timer's workflow.
// Together with the rule it determines everything that follows.
type Cursor struct {
	// Booked is when the rule began to count: the booking, the change of the rule, or the
	// activation of a timer booked as paused.
	Booked wire.Instant `json:"booked"`
	// Last is the latest nominal time that has rung or been skipped; zero before the first.
	Last wire.Instant `json:"last,omitzero"`
	// Ended is when the last delivery ended, with any verdict. A fixed delay counts from it.
	Ended wire.Instant `json:"ended,omitzero"`
	// Rung is the number of occurrences delivered or given up.
	Rung int `json:"rung,omitzero"`
	// Extra is the number of them that were requested and not due by the rule.
	Extra int `json:"extra,omitzero"`
}

// Past returns the cursor after the delivery of an occurrence ended.
func (c Cursor) Past(o Occurrence, ended wire.Instant) Cursor {
	c.Last, c.Ended, c.Rung = o.Nominal, ended, max(c.Rung, o.Number)
	return c
}

// PastExtra returns the cursor after the delivery of an extra occurrence ended. The occurrences
// of the rule are still to ring.
func (c Cursor) PastExtra(number int, ended wire.Instant) Cursor {
	c.Ended, c.Rung = ended, max(c.Rung, number)
	c.Extra++
	return c
}

// Resumed returns the cursor of a timer that was paused. It drops the time that passed. A fixed
// delay counts from now, and a fixed rate keeps its grid.
func (c Cursor) Resumed(now wire.Instant) Cursor {
	c.Last = max(c.Last, now)
	c.Ended = now
	return c
}

// Occurrence is one ring of a recurring timer.
type Occurrence struct {
	// Number counts rings from 1. Skipped times have no number.
	Number int `json:"number"`
	// Nominal is the time in the rule; see [Rule.RingAt].
	Nominal wire.Instant `json:"nominal"`
	// Skipped is the number of skipped nominal times since the last occurrence, at most
	// [calendar.MaxCounted].
	Skipped int `json:"skipped,omitzero"`
}

// Next returns the occurrence that rings next for a timer at the cursor, ahead or overdue at
// now. ok is false if the recurrence has ended; Skipped may be set even then.
//
// The result depends on the arguments alone. With a later now, it is the occurrence that
// replaces a missed one. The recurrence must have passed Check; ok is false otherwise.
func (r Rule) Next(c Cursor, now wire.Instant) (o Occurrence, ok bool) {
	o.Number = c.Rung + 1
	if r.MaxOccurrences != nil && o.Number-c.Extra > *r.MaxOccurrences {
		return o, false
	}
	schedule, err := r.behind(c).Schedule()
	if err != nil {
		return o, false
	}
	first, ok := schedule.Next(time.Time{})
	o.Nominal = wire.At(first)
	if ok && o.Nominal < now && r.After == nil {
		return r.makeUp(o, schedule, now)
	}
	return o, ok
}

// behind returns the rule for the times after the cursor.
func (r Rule) behind(c Cursor) calendar.Rule {
	start := r.start(c.Booked)
	if r.After != nil {
		if c.Ended != 0 {
			start = max(start, c.Ended.Add(r.After.D()))
		}
		start = max(start, c.Booked)
		return r.rule(start, start)
	}
	return r.rule(start, max(start, c.Booked, c.Last+1))
}

// makeUp chooses among nominal times that have passed; o is the first of them.
func (r Rule) makeUp(o Occurrence, schedule *calendar.Schedule, now wire.Instant) (_ Occurrence, ok bool) {
	keep := 1
	if r.Missed == MissedFireAll {
		keep = MaxMadeUp
	}
	at, missed := schedule.Passed(now.Time(), keep)
	o.Skipped, ok = max(missed-keep, 0), true
	if r.Missed == MissedSkip && at.Add(r.Jitter.D()+MissedGrace).Before(now.Time()) {
		at, ok = schedule.Next(now.Time())
		o.Skipped = missed
	}
	o.Nominal = wire.At(at)
	return o, ok
}

// Upcoming returns the next nominal times of a timer at the cursor, at most count. It uses the
// rule alone, without jitter, as if every delivery took no time. There are fewer if
// [MaxUpcomingSteps] end the search.
func (r Rule) Upcoming(c Cursor, count int) (times []wire.Instant) {
	if r.MaxOccurrences != nil {
		count = min(count, *r.MaxOccurrences-c.Rung+c.Extra)
	}
	rule := r.behind(c)
	rule.Steps = MaxUpcomingSteps
	schedule, err := rule.Schedule()
	if err != nil {
		return nil
	}
	for _, at := range schedule.Upcoming(count) {
		times = append(times, wire.At(at))
	}
	return times
}
