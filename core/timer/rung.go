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

// TriedAgain returns the spec of a timer that ended with a first attempt so late, and is tried
// again.
func (s Spec) TriedAgain(latenessMS *int64) Spec {
	s.Rung = &Rung{DueAt: s.DueAt, LatenessMS: latenessMS, Ended: true}
	s.Ongoing = nil
	s.Round++
	return s
}

// AnotherRound returns the spec of a delivery that begins anew, in place of that of before. What
// before knows of its first attempt is kept.
func (s Spec) AnotherRound(before Spec) Spec {
	if made := before.Ongoing; made != nil && made.Attempt > 0 {
		s.Rung = &Rung{DueAt: before.DueAt, LatenessMS: made.LatenessMS, Ended: before.Rung.EndedFor(before.DueAt)}
	}
	s.Ongoing = nil
	s.Round++
	return s
}
