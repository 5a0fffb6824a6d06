package dispatch

import (
	"github.com/wakecall/wakecall/core/recurrence"
	"github.com/wakecall/wakecall/core/wire"
)

// Occurrence is the end of an occurrence of a recurring dispatch.
type Occurrence struct {
	End
	// Pages are the pages of items given up.
	Pages []Part `json:"pages,omitempty"`
}

// End is an ended occurrence as readers see it.
type End struct {
	Occurrence int          `json:"occurrence"`
	Status     Status       `json:"status"`
	Done       int          `json:"done"`
	Failed     int          `json:"failed"`
	StartedAt  wire.Instant `json:"started_at"`
	FinishedAt wire.Instant `json:"finished_at"`
	Shards     []ShardView  `json:"shards,omitempty"`
}

// ended returns the end of the present occurrence.
func (m Memo) ended() *Occurrence {
	end := End{Occurrence: m.Occurrence, Status: m.Status, StartedAt: m.StartedAt, FinishedAt: m.FinishedAt, Shards: m.Stopped}
	if m.Total != nil {
		end.Done, end.Failed = m.Total.Done, m.Total.Failed
	}
	return &Occurrence{End: end, Pages: m.Failed}
}

// NextOccurrence returns the memo for the next occurrence. ok is false if there is none.
func (m Memo) NextOccurrence(now wire.Instant) (next Memo, ok bool) {
	next = m
	if next.Order.Recurrence == nil || next.StartedAt == 0 {
		return next, false
	}
	next.Cursor = next.Cursor.Past(recurrence.Occurrence{Number: next.Occurrence, Nominal: next.DueAt}, now)
	occurrence, ok := next.Order.Recurrence.Next(next.Cursor, now)
	if !ok {
		return next, false
	}
	next.Occurrence, next.DueAt, next.Last = occurrence.Number, occurrence.Nominal, m.ended()
	next.Status, next.StartedAt, next.FinishedAt, next.Total, next.Shards = Scheduled, 0, 0, nil, 0
	next.Failed, next.Stopped, next.Before, next.Round = nil, nil, Counts{}, 0
	next.SentFor, next.HeldAt, next.Behind = 0, 0, Behind{}
	next.Plan.WarmUp, next.Plan.Active, next.Plan.Quiet = next.Order.WarmUp, nil, false
	next.Plan.Paused = next.Plan.Paused || (m.Status == Failed && m.Order.Recurrence.OnFailure == recurrence.OnFailurePause)
	if next.Plan.Paused {
		next.Status = Paused
	}
	return next, true
}

// Resumed returns the memo of a resumed dispatch that has not begun. It drops the occurrences
// that passed during the pause. ok is false if no other is left.
func (m Memo) Resumed(now wire.Instant) (_ Memo, ok bool) {
	m.Status = Scheduled
	if m.Order.Recurrence == nil || m.Round > 0 {
		return m, true
	}
	cursor := m.Cursor.Resumed(now)
	next, ok := m.Order.Recurrence.Next(cursor, now)
	if ok {
		m.Cursor, m.Occurrence, m.DueAt = cursor, next.Number, next.Nominal
	}
	return m, ok
}

// BeginsAt returns when the dispatch begins to send.
func (m Memo) BeginsAt() wire.Instant {
	if m.Order.Recurrence == nil {
		return m.DueAt
	}
	return m.Order.Recurrence.RingAt(m.DueAt, m.Run)
}

// LastFailed returns the pages of items given up in the last ended occurrence, and names the
// occurrence.
func (m Memo) LastFailed() (id ID, pages []Part) {
	id, pages = m.ID(), m.Failed
	if m.betweenOccurrences() {
		id.Occurrence, pages = m.Last.Occurrence, m.Last.Pages
	}
	return id, pages
}

// betweenOccurrences reports whether an occurrence has ended and the next one has not begun.
func (m Memo) betweenOccurrences() bool { return m.StartedAt == 0 && m.Last != nil && m.Round == 0 }

// withLast returns the memo with the last ended occurrence in place of the present one.
func (m Memo) withLast() Memo {
	last := *m.Last
	m.Occurrence, m.Failed, m.Stopped, m.Last = last.Occurrence, last.Pages, last.Shards, nil
	m.Total = &Counts{Found: last.Done + last.Failed, Done: last.Done, Failed: last.Failed}
	return m
}
