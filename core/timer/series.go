package timer

import (
	"reflect"
	"strconv"
	"time"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/recurrence"
	"github.com/wakecall/wakecall/core/wire"
)

// NominalTimes returns the nominal times of a recurring timer after its due time and before end, at
// most most of them.
func (m Memo) NominalTimes(end wire.Instant, most int) []wire.Instant {
	if m.Series == nil || m.Series.Paused {
		return nil
	}
	series := *m.Series
	series.Rule = series.Rule.Until(end - 1)
	m.Series = &series
	times := m.Upcoming(most+1, time.Time{}) // the first one may be its due time
	for len(times) > 0 && times[0] <= m.DueAt {
		times = times[1:]
	}
	return times[:min(len(times), most)]
}

// Series is the position of a recurring timer in its rule. The timer's due time is the nominal
// time of the next or current occurrence.
type Series struct {
	Rule   recurrence.Rule   `json:"rule"`
	Cursor recurrence.Cursor `json:"cursor"`
	// Number is the number of the occurrence, from 1.
	Number int `json:"number"`
	// Skipped is the number of skipped nominal times before it.
	Skipped int `json:"skipped,omitzero"`
	// Extra reports whether a caller requested this occurrence, rather than the rule.
	Extra bool `json:"extra,omitzero"`
	// Resumed reports whether the delivery of this occurrence had begun before. It goes on even
	// if the rule would skip a missed occurrence.
	Resumed bool `json:"resumed,omitzero"`
	// Base is the number of rings before the rule began: its max_occurrences counts from there.
	Base int `json:"base,omitzero"`
	// Extras is the number of further extra occurrences requested during one.
	Extras int `json:"extras,omitzero"`
	// Interrupted is the occurrence whose delivery an extra one interrupted. It goes on after
	// that.
	Interrupted *recurrence.Occurrence `json:"interrupted,omitempty"`
	Paused      bool                   `json:"paused,omitzero"`
	// Waiting reports whether the rule has not been activated yet.
	Waiting bool `json:"waiting,omitzero"`
	// Note is why the timer was paused or resumed.
	Note string `json:"note,omitzero"`
	// Last is the previous occurrence, if any.
	Last *Past `json:"last,omitempty"`
	// Began reports whether this run began because an occurrence ended.
	Began bool `json:"began,omitzero"`
	// Stopped reports whether the receiver ended the rule. A retry of its occurrence ends with
	// that occurrence. Rings requested before still happen.
	Stopped bool `json:"stopped,omitzero"`
}

// Past is an occurrence that has ended.
type Past struct {
	Occurrence int          `json:"occurrence"`
	DueAt      wire.Instant `json:"due_at"`
	// Skipped is the number of skipped nominal times before it.
	Skipped   int    `json:"skipped,omitzero"`
	WebhookID string `json:"webhook_id"`
	Outcome
}

// beginRule returns the memo of a recurring timer whose rule starts now. A new rule continues
// the numbering of the old one. It repeats none of its rings, because a rule may be requested
// before a ring and applied after it. A due occurrence of the old rule still rings; underWay
// reports whether its delivery has begun.
func beginRule(m Memo, rule recurrence.Rule, now wire.Instant, underWay bool) (Memo, bool) {
	series := Series{Rule: rule, Paused: rule.Paused, Waiting: rule.Paused, Cursor: recurrence.Cursor{Booked: now}}
	if before := m.Series; before != nil {
		series.Cursor.Rung, series.Cursor.Last, series.Cursor.Extra = before.Cursor.Rung, before.Cursor.Last, before.Cursor.Extra
		series.Began, series.Last, series.Base = before.Began, before.Last, before.Cursor.Rung-before.Cursor.Extra
		if owesOccurrence(m, now, underWay) {
			series.Number, series.Skipped, series.Resumed = before.Number, before.Skipped, !before.Extra
			series.Extra, series.Extras, series.Interrupted = before.Extra, before.Extras, before.Interrupted
			if !before.Extra && before.Number > before.Cursor.Rung {
				series.Base++
			}
		}
	}
	series.Rule.MaxOccurrences = shift(rule.MaxOccurrences, series.Base)
	m.Series = &series
	return m.NextOccurrence(now)
}

// BeginRun returns the memo of the run that begins with it, with the end of the previous occurrence
// cleared.
func (m Memo) BeginRun() Memo {
	if m.Series != nil {
		series := *m.Series
		series.Began = false
		m.Series = &series
	}
	return m
}

// owesOccurrence reports whether the current occurrence must ring under any new rule. It was
// requested, its delivery has begun, or it is due.
func owesOccurrence(m Memo, now wire.Instant, underWay bool) bool {
	series := m.Series
	return series.Extra || series.Resumed || underWay || !series.Paused && m.DueAt <= now
}

// followsRule reports whether the timer already has a rule and its state of pause.
func followsRule(m Memo, rule recurrence.Rule) bool {
	return hasRule(m, rule) && m.Series.Paused == rule.Paused
}

// hasRule reports whether the timer already has a rule, paused or not.
func hasRule(m Memo, rule recurrence.Rule) bool {
	if m.Series == nil || m.Series.Stopped {
		return false
	}
	rule.MaxOccurrences, rule.Paused = shift(rule.MaxOccurrences, m.Series.Base), m.Series.Rule.Paused
	//workflowcheck:ignore It compares values, and nothing else.
	return reflect.DeepEqual(m.Series.Rule.Normal(), rule.Normal())
}

// shift adds the occurrences already rung to a number of occurrences.
func shift(most *int, rung int) *int {
	if most == nil {
		return nil
	}
	total := *most + rung
	return &total
}

// NextOccurrence returns the memo with the next occurrence as seen from now; ok is false if there is none.
// It does not replace a requested occurrence, or one whose delivery has begun.
func (m Memo) NextOccurrence(now wire.Instant) (_ Memo, ok bool) {
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

// EndRule returns the memo of a timer whose receiver ended the rule. Requested rings and
// interrupted occurrences still ring, because they were promised.
func (m Memo) EndRule() Memo {
	series := *m.Series
	series.Stopped = true
	m.Series = &series
	return m
}

// promisesOccurrence reports whether requested rings have not begun. underWay reports whether a
// delivery has.
func promisesOccurrence(m Memo, underWay bool) bool {
	return m.Series != nil && (m.Series.Extras > 0 || m.Series.Extra && !underWay)
}

// AfterOccurrence returns the memo after the end of the occurrence; ok is false if it was the last one.
func (m Memo) AfterOccurrence(key wire.Key, outcome Outcome, now wire.Instant) (_ Memo, ok bool) {
	series := *m.Series
	series.Last = &Past{
		Occurrence: series.Number, DueAt: m.DueAt, Skipped: series.Skipped,
		WebhookID: m.WebhookID(key), Outcome: outcome,
	}
	if series.Extra {
		series.Cursor = series.Cursor.PastExtra(series.Number, now)
	} else {
		series.Cursor = series.Cursor.Past(recurrence.Occurrence{Number: series.Number, Nominal: m.DueAt}, now)
	}
	series.Extra, series.Resumed, series.Began, series.Note = false, false, true, ""
	if outcome.Status == Failed && series.Rule.OnFailure == recurrence.OnFailurePause {
		series.Paused, series.Note = true, "paused by on_failure"
	}
	m.Series, m.NotPreloaded = &series, false
	switch {
	case series.Extras > 0:
		series.Extras--
		return ringNext(m, max(now, m.DueAt+1)), true
	case series.Interrupted != nil && (!series.Paused || series.Stopped): // a pause delays it all the same
		return resumeInterrupted(m), true
	}
	return m.NextOccurrence(now)
}

// ringExtra returns the memo with a requested occurrence, due now. A due or current occurrence
// continues after it, and then the rule. A request during an extra ring waits for its end.
func ringExtra(m Memo, now wire.Instant, underWay bool) (Memo, error) {
	series := *m.Series
	m.Series = &series
	if series.Extra {
		if series.Extras >= MaxExtras {
			return m, wire.FieldErrors{{Pointer: "", Code: wire.CodeOutOfRange,
				Detail: "must wait: " + strconv.Itoa(MaxExtras) + " extra rings are already requested"}}.Err()
		}
		series.Extras++
		return m, nil
	}
	if owesOccurrence(m, now, underWay) {
		series.Interrupted = &recurrence.Occurrence{Number: series.Number, Nominal: m.DueAt, Skipped: series.Skipped}
		series.Cursor.Rung = max(series.Cursor.Rung, series.Number)
	}
	return ringNext(m, now), nil
}

// ringNext returns the memo with an extra occurrence due at a given time. It changes the
// caller's series.
func ringNext(m Memo, due wire.Instant) Memo {
	series := m.Series
	series.Extra, series.Resumed, series.Skipped, series.Number = true, false, 0, series.Cursor.Rung+1
	m.DueAt = due
	return m
}

// resumeInterrupted continues the occurrence that an extra one interrupted.
func resumeInterrupted(m Memo) Memo {
	series := *m.Series
	interrupted := *series.Interrupted
	series.Interrupted, series.Resumed = nil, true
	series.Number, series.Skipped = interrupted.Number, interrupted.Skipped
	m.Series, m.DueAt = &series, interrupted.Nominal
	return m
}

// ContinueCurrent makes the occurrence whose delivery a change interrupted continue after the
// change, even if the rule would skip a missed occurrence.
func (m Memo) ContinueCurrent() Memo {
	series := *m.Series
	series.Resumed = !series.Extra
	m.Series = &series
	return m
}

// pause pauses or resumes a recurring timer. It drops the rule's times during the pause. A due
// or interrupted occurrence rings after the pause. A delivery in progress is given up and shown
// as cancelled.
func (s Spec) pause(c Change) Memo {
	m, now := s.Memo, c.At
	series := *m.Series
	series.Note, series.Paused = c.Pause.Note, c.Pause.Stop
	switch {
	case c.Pause.Stop && c.Interrupts && !series.Extra:
		m.Series = &series
		return givenUp(m, s.Key, c.Made, now)
	case c.Pause.Stop:
		series.Resumed = !series.Extra && (series.Resumed || m.DueAt <= now)
		m.Series = &series
		return m
	case series.Waiting:
		series.Cursor.Booked, series.Waiting = now, false
	default:
		series.Cursor = series.Cursor.Resumed(now)
	}
	m.Series = &series
	if series.Interrupted != nil && !series.Extra {
		return resumeInterrupted(m)
	}
	if next, ok := m.NextOccurrence(now); ok {
		return next
	}
	return m
}

// givenUp returns the memo of a paused timer with the record of the occurrence whose delivery
// the pause ended. It uses up the number. made is the last attempt.
func givenUp(m Memo, key wire.Key, made delivery.Report, now wire.Instant) Memo {
	series := *m.Series
	series.Last = &Past{
		Occurrence: series.Number, DueAt: m.DueAt, Skipped: series.Skipped, WebhookID: m.WebhookID(key),
		Outcome: CancelledAfter(made),
	}
	series.Cursor = series.Cursor.Past(recurrence.Occurrence{Number: series.Number, Nominal: m.DueAt}, now)
	series.Resumed, series.Began = false, true
	m.Series = &series
	return m
}

// Upcoming returns the next nominal times of the timer, from its rule alone. There are none for
// a paused, stopped or one-shot timer.
func (m Memo) Upcoming(count int, now time.Time) []wire.Instant {
	if m.Series == nil || m.Series.Paused || m.Series.Stopped {
		return nil
	}
	cursor := m.Series.Cursor
	if !m.Series.Extra {
		cursor.Last = max(cursor.Last, m.DueAt-1)
	}
	return m.Series.Rule.Upcoming(cursor, count)
}
