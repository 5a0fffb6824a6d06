package recurrence

import (
	"time"

	"github.com/wakecall/wakecall/core/calendar"
	"github.com/wakecall/wakecall/core/wire"
)

// Cursor is how far a recurring timer has come. It travels in the input of the
// timer's workflow; with the rule it determines everything that follows.
type Cursor struct {
	// Booked is when the rule began to count: the booking, the change that
	// brought the rule, or the activation of a timer that was booked paused.
	Booked wire.Instant `json:"booked"`
	// Last is the nominal time up to which everything has rung or been
	// skipped; zero before the first.
	Last wire.Instant `json:"last,omitzero"`
	// Ended is when the last delivery ended, whatever its verdict. A fixed
	// delay counts from it.
	Ended wire.Instant `json:"ended,omitzero"`
	// Rung is how many occurrences have been delivered or given up.
	Rung int `json:"rung,omitzero"`
	// Extra is how many of them somebody asked for, and no rule.
	Extra int `json:"extra,omitzero"`
}

// Past is the cursor after the delivery of an occurrence ended.
func (c Cursor) Past(o Occurrence, ended wire.Instant) Cursor {
	c.Last, c.Ended, c.Rung = o.Nominal, ended, max(c.Rung, o.Number)
	return c
}

// PastExtra is the cursor after the delivery of an occurrence ended that no rule
// names. What the rule names stays to be rung.
func (c Cursor) PastExtra(number int, ended wire.Instant) Cursor {
	c.Ended, c.Rung = ended, max(c.Rung, number)
	c.Extra++
	return c
}

// Resumed is the cursor of a timer that was paused: what passed meanwhile has
// been dropped, a fixed delay counts from now, and a fixed rate keeps its grid.
func (c Cursor) Resumed(now wire.Instant) Cursor {
	c.Last = max(c.Last, now)
	c.Ended = now
	return c
}

// Occurrence is one ring of a recurring timer.
type Occurrence struct {
	// Number counts what rings, from 1; what is skipped has none.
	Number int `json:"number"`
	// Nominal is the time the rule names. See Recurrence.RingAt.
	Nominal wire.Instant `json:"nominal"`
	// Skipped is how many nominal times since the last occurrence do not ring,
	// counted up to [calendar.MaxCounted].
	Skipped int `json:"skipped,omitzero"`
}

// Next is the occurrence that rings next for a timer at the cursor, at the
// present moment now: one that lies ahead, or one that is overdue. ok is false
// when the recurrence has come to its end; Skipped may be set all the same.
//
// It depends on its arguments alone, and may be asked again: with a later now
// it says which occurrence has taken the place of one that was missed. The
// recurrence must have passed Check; ok is false otherwise.
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

// behind is the rule of what lies behind the cursor.
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

// makeUp chooses among nominal times that have passed, of which o is the first.
func (r Rule) makeUp(o Occurrence, schedule *calendar.Schedule, now wire.Instant) (Occurrence, bool) {
	keep := 1
	if r.Missed == MissedFireAll {
		keep = MaxMadeUp
	}
	oldest, missed := schedule.Passed(now.Time(), keep)
	o.Nominal, o.Skipped = wire.At(oldest), max(missed-keep, 0)
	if r.Missed == MissedSkip && o.Nominal.Add(r.Jitter.D()+MissedGrace) < now {
		next, ok := schedule.Next(now.Time())
		o.Nominal, o.Skipped = wire.At(next), missed
		return o, ok
	}
	return o, true
}

// Upcoming are the next nominal times of a timer at the cursor, count at most,
// from the rule alone: without jitter, and as if every delivery took no time. They are
// fewer where [MaxUpcomingSteps] end the search.
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
