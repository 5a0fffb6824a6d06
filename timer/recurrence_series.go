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
	// Stopped is whether the receiver ended the rule. What is tried again of it ends with
	// its occurrence.
	Stopped bool `json:"stopped,omitzero"`
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

// begin is the memo of a recurring timer whose rule starts now. A rule that replaces
// another one continues its numbering, and rings nothing that the other one has rung: it
// may have been asked for before that ring, and be applied after it.
func (m Memo) begin(rule Recurrence, now Instant) (Memo, bool) {
	series := Series{Rule: rule, Paused: rule.Paused, Waiting: rule.Paused, Cursor: Cursor{Booked: now}}
	if m.Series != nil {
		series.Cursor.Rung, series.Cursor.Last = m.Series.Cursor.Rung, m.Series.Cursor.Last
		series.Last = m.Series.Last
		series.Rule.MaxOccurrences = shift(rule.MaxOccurrences, m.Series.Cursor.Rung)
	}
	m.Series = &series
	return m.Seek(now)
}

// shift makes a number of occurrences count from those that have rung already.
func shift(most *int, rung int) *int {
	if most == nil {
		return nil
	}
	total := *most + rung
	return &total
}

// Seek is the memo with the occurrence that rings next, as seen from now; ok is false
// when there is none. An occurrence that somebody asked for stays, and so does one
// whose delivery has begun.
func (m Memo) Seek(now Instant) (_ Memo, ok bool) {
	if m.Series.Extra || m.Series.Resumed {
		return m, true
	}
	next, ok := m.Series.Rule.Next(m.Series.Cursor, now)
	if !ok || m.Series.Stopped {
		return m, false
	}
	series := *m.Series
	series.Number, series.Skipped = next.Number, next.Skipped
	m.Series, m.DueAt = &series, next.Nominal
	return m, true
}

// After is the memo once the occurrence has ended; ok is false when it was the
// last one.
func (m Memo) After(key Key, outcome Outcome, now Instant) (_ Memo, ok bool) {
	series := *m.Series
	series.Last = &Past{
		Occurrence: series.Number, DueAt: m.DueAt, Skipped: series.Skipped,
		WebhookID: m.WebhookID(key), Outcome: outcome,
	}
	if series.Extra {
		series.Cursor = series.Cursor.PastExtra(series.Number, now)
	} else {
		series.Cursor = series.Cursor.Past(Occurrence{Number: series.Number, Nominal: m.DueAt}, now)
	}
	series.Extra, series.Resumed, series.Began, series.Note = false, false, true, ""
	if outcome.Status == Failed && series.Rule.OnFailure == OnFailurePause {
		series.Paused, series.Note = true, "paused by on_failure"
	}
	m.Series, m.NotPreloaded = &series, false
	if series.Interrupted != nil && !series.Paused {
		return m.resumeInterrupted(), true
	}
	return m.Seek(now)
}

// extra is the memo with an occurrence that is due now because somebody asked for it.
// An occurrence whose delivery has begun is continued after it, and then the rule.
func (m Memo) extra(now Instant, begun bool) Memo {
	series := *m.Series
	if (begun || series.Resumed || series.overdue(m.DueAt, now)) && !series.Extra && !series.Paused {
		series.Interrupted = &Occurrence{Number: series.Number, Nominal: m.DueAt, Skipped: series.Skipped}
		series.Cursor.Rung = max(series.Cursor.Rung, series.Number)
	}
	series.Extra, series.Resumed, series.Skipped, series.Number = true, false, 0, series.Cursor.Rung+1
	m.Series, m.DueAt = &series, now
	return m
}

// overdue is whether a fixed delay has passed. Its next occurrence counts from the end
// of whatever rings next, so no rule would name this one again.
func (s Series) overdue(due, now Instant) bool { return s.Rule.After != nil && due <= now }

// resumeInterrupted continues the occurrence that an extra one interrupted.
func (m Memo) resumeInterrupted() Memo {
	series := *m.Series
	interrupted := *series.Interrupted
	series.Interrupted, series.Resumed = nil, true
	series.Number, series.Skipped = interrupted.Number, interrupted.Skipped
	m.Series, m.DueAt = &series, interrupted.Nominal
	return m
}

// KeepCurrent lets the occurrence whose delivery a change interrupted go on after the
// change, whatever the rule says of occurrences that were missed.
func (m Memo) KeepCurrent() Memo {
	series := *m.Series
	series.Resumed = !series.Extra
	m.Series = &series
	return m
}

// pause stops a recurring timer, or lets it go on. What its rule names for the time
// between is dropped.
func (m Memo) pause(stop bool, note string, now Instant) Memo {
	series := *m.Series
	series.Note, series.Resumed, series.Interrupted = note, false, nil
	if series.Paused && !stop {
		if series.Waiting {
			series.Cursor.Booked = now
		} else {
			series.Cursor = series.Cursor.Resumed(now)
		}
		series.Waiting, series.Extra = false, false
	}
	series.Paused = stop
	m.Series = &series
	if next, ok := m.Seek(now); ok && !stop {
		return next
	}
	return m
}

// Upcoming are the next nominal times of the timer, from its rule alone: none while it
// is paused, none once its receiver has stopped it, and none of a one-shot timer.
func (m Memo) Upcoming(count int, now time.Time) []Instant {
	if m.Series == nil || m.Series.Paused || m.Series.Stopped {
		return nil
	}
	cursor := m.Series.Cursor
	if !m.Series.Extra {
		cursor.Last = max(cursor.Last, m.DueAt-1)
	}
	return m.Series.Rule.Upcoming(cursor, count)
}
