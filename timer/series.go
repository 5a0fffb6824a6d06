package timer

import "time"

// Series is where a recurring timer stands. The timer's due time is the nominal
// time of the occurrence that rings next, or is ringing.
type Series struct {
	Rule   Recurrence `json:"rule"`
	Cursor Cursor     `json:"cursor"`
	// Number is the occurrence's, from 1.
	Number int `json:"number"`
	// Skipped is how many nominal times before it do not ring.
	Skipped int `json:"skipped,omitzero"`
	// Extra is whether somebody asked for this occurrence, and no rule.
	Extra bool `json:"extra,omitzero"`
	// Resumed is whether the delivery of this occurrence had begun before, and
	// goes on whatever the rule says of occurrences that were missed.
	Resumed bool `json:"resumed,omitzero"`
	// Interrupted is the occurrence whose delivery an extra one interrupted. It
	// goes on after that.
	Interrupted *Occurrence `json:"interrupted,omitempty"`
	Paused      bool        `json:"paused,omitzero"`
	// Waiting is whether the rule has not been activated yet.
	Waiting bool `json:"waiting,omitzero"`
	// Note says why the timer was paused or resumed.
	Note string `json:"note,omitzero"`
	// Last is the occurrence before, once there was one.
	Last *Past `json:"last,omitempty"`
	// Began is whether this run began because an occurrence had ended.
	Began bool `json:"began,omitzero"`
}

// Past is an occurrence that has ended.
type Past struct {
	Occurrence int     `json:"occurrence"`
	DueAt      Instant `json:"due_at"`
	// Skipped is how many nominal times before it did not ring.
	Skipped   int    `json:"skipped,omitzero"`
	WebhookID string `json:"webhook_id"`
	Outcome
}

// begin makes the memo that of a recurring timer whose rule starts at now. A
// rule that replaces another goes on with the numbers.
func (c Memo) begin(rule Recurrence, now Instant) (Memo, bool) {
	series := Series{Rule: rule, Paused: rule.Paused, Waiting: rule.Paused, Cursor: Cursor{Booked: now}}
	if c.Series != nil {
		series.Cursor.Rung, series.Last = c.Series.Cursor.Rung, c.Series.Last
		series.Rule.MaxOccurrences = shift(rule.MaxOccurrences, c.Series.Cursor.Rung)
	}
	c.Series = &series
	return c.Seek(now)
}

// shift makes a number of occurrences count from those that have rung already.
func shift(most *int, rung int) *int {
	if most == nil {
		return nil
	}
	total := *most + rung
	return &total
}

// Seek sets the memo to the occurrence that rings next as seen from now; ok is
// false when there is none. One that somebody asked for, or whose delivery has
// begun, stays.
func (c Memo) Seek(now Instant) (_ Memo, ok bool) {
	if c.Series.Extra || c.Series.Resumed {
		return c, true
	}
	next, ok := c.Series.Rule.Next(c.Series.Cursor, now)
	if !ok {
		return c, false
	}
	series := *c.Series
	series.Number, series.Skipped = next.Number, next.Skipped
	c.Series, c.DueAt = &series, next.Nominal
	return c, true
}

// After is the memo once the occurrence has ended; ok is false when it was the
// last one.
func (c Memo) After(key Key, outcome Outcome, now Instant) (_ Memo, ok bool) {
	series := *c.Series
	series.Last = &Past{
		Occurrence: series.Number, DueAt: c.DueAt, Skipped: series.Skipped,
		WebhookID: c.WebhookID(key), Outcome: outcome,
	}
	if series.Extra {
		series.Cursor = series.Cursor.PastExtra(series.Number, now)
	} else {
		series.Cursor = series.Cursor.Past(Occurrence{Number: series.Number, Nominal: c.DueAt}, now)
	}
	series.Extra, series.Resumed, series.Began, series.Note = false, false, true, ""
	if outcome.Status == Failed && series.Rule.OnFailure == OnFailurePause {
		series.Paused, series.Note = true, "paused by on_failure"
	}
	c.Series, c.NotPreloaded = &series, false
	if series.Interrupted != nil && !series.Paused {
		return c.resume(), true
	}
	return c.Seek(now)
}

// extra makes now the time of an occurrence that no rule names. One whose
// delivery has begun goes on after it, and then the rule.
func (c Memo) extra(now Instant, begun bool) Memo {
	series := *c.Series
	if (begun || series.Resumed || series.overdue(c.DueAt, now)) && !series.Extra && !series.Paused {
		series.Interrupted = &Occurrence{Number: series.Number, Nominal: c.DueAt, Skipped: series.Skipped}
		series.Cursor.Rung = max(series.Cursor.Rung, series.Number)
	}
	series.Extra, series.Resumed, series.Skipped, series.Number = true, false, 0, series.Cursor.Rung+1
	c.Series, c.DueAt = &series, now
	return c
}

// overdue is whether a fixed delay has passed. The next one counts from the end
// of what rings next, so that no rule would name this one again.
func (s Series) overdue(due, now Instant) bool { return s.Rule.After != nil && due <= now }

// resume goes on with the occurrence that was interrupted.
func (c Memo) resume() Memo {
	series := *c.Series
	interrupted := *series.Interrupted
	series.Interrupted, series.Resumed = nil, true
	series.Number, series.Skipped = interrupted.Number, interrupted.Skipped
	c.Series, c.DueAt = &series, interrupted.Nominal
	return c
}

// goOn keeps the occurrence whose delivery a change interrupted.
func (c Memo) goOn() Memo {
	series := *c.Series
	series.Resumed = !series.Extra
	c.Series = &series
	return c
}

// pause stops a recurring timer, or lets it go on after now. What its rule
// names for the time between is dropped.
func (c Memo) pause(stop bool, note string, now Instant) Memo {
	series := *c.Series
	series.Note, series.Resumed, series.Interrupted = note, false, nil
	if series.Paused && !stop {
		series.Cursor = series.Cursor.Resumed(now)
		if series.Waiting {
			series.Cursor = Cursor{Booked: now}
		}
		series.Waiting, series.Extra = false, false
	}
	series.Paused = stop
	c.Series = &series
	if next, ok := c.Seek(now); ok && !stop {
		return next
	}
	return c
}

// Upcoming are the next nominal times of a memo, from its rule alone: none
// while it is paused, or for a one-shot timer that has rung.
func (c Memo) Upcoming(count int, now time.Time) []Instant {
	if c.Series == nil || c.Series.Paused {
		return nil
	}
	cursor := c.Series.Cursor
	if !c.Series.Extra {
		cursor.Last = max(cursor.Last, c.DueAt-1)
	}
	return c.Series.Rule.Upcoming(cursor, count)
}
