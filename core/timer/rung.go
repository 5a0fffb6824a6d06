package timer

import "github.com/wakecall/wakecall/core/wire"

// Rung is the first attempt of a timer, of an earlier round.
type Rung struct {
	// DueAt is the due time that it was made for. An attempt for another due time is another
	// first one.
	DueAt wire.Instant `json:"due_at"`
	// LatenessMS is its lateness, nil if nothing was sent.
	LatenessMS *int64 `json:"lateness_ms,omitempty"`
	// Ended reports whether the timer had ended before this round began.
	Ended bool `json:"ended,omitzero"`
	// Attempts is how many attempts that round and the rounds before it made, without those that
	// the outcome of an end has.
	Attempts int `json:"attempts,omitzero"`
}

// For returns the attempt if it was made for a due time, and nil otherwise.
func (r *Rung) For(due wire.Instant) *Rung {
	if r == nil || r.DueAt != due {
		return nil
	}
	return r
}

// EndedFor reports whether the timer had ended for a due time, and is tried again.
func (r *Rung) EndedFor(due wire.Instant) bool { return r.For(due) != nil && r.Ended }

// Unrecorded is how many attempts of earlier rounds no outcome has.
func (r *Rung) Unrecorded() int {
	if r == nil {
		return 0
	}
	return r.Attempts
}

// TriedAgain returns the spec of a timer that ended with a first attempt so late, and is tried
// again.
func (s Spec) TriedAgain(latenessMS *int64) Spec {
	s.Rung = &Rung{DueAt: s.DueAt, LatenessMS: latenessMS, Ended: true}
	s.Ongoing = nil
	s.Round++
	return s
}

// AnotherRound returns the spec of a delivery that begins again, in place of the one of before. It
// keeps what before knows of its first attempt.
func (s Spec) AnotherRound(before Spec) Spec {
	if made := before.Ongoing; made != nil && made.Attempt > 0 {
		s.Rung = &Rung{
			DueAt: before.DueAt, LatenessMS: made.LatenessMS, Ended: before.Rung.EndedFor(before.DueAt),
			Attempts: before.Rung.Unrecorded(),
		}
		if s.Series == nil || !s.Series.Began { // else the outcome of the occurrence has them
			s.Rung.Attempts += made.Attempt
		}
	}
	s.Ongoing = nil
	s.Round++
	return s
}

// BeginRun returns the spec of the run that begins with it, without what the end of the previous
// occurrence has recorded.
func (s Spec) BeginRun() Spec {
	if s.Series != nil && s.Series.Began && s.Rung.Unrecorded() > 0 {
		recorded := *s.Rung
		recorded.Attempts = 0
		s.Rung = &recorded
	}
	s.Memo = s.Memo.BeginRun()
	return s
}

// Ended returns the outcome of the timer's last delivery with what earlier rounds made.
func (s Spec) Ended(outcome Outcome) Outcome {
	outcome.Again, outcome.Earlier = s.Rung.EndedFor(s.DueAt), s.Rung.Unrecorded()
	if first := s.Rung.For(s.DueAt); first != nil && outcome.Attempts == 0 {
		outcome.LatenessMS, outcome.Unsent = first.LatenessMS, first.LatenessMS == nil
	}
	return outcome
}
