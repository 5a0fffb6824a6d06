package timer

import (
	"errors"
	"slices"

	"github.com/wakecall/wakecall/core/wire"
)

// Refusal records an accepted change that could not be applied. An earlier change left a timer
// that it does not fit.
type Refusal struct {
	Change string `json:"change"` // its id
	// At is when it was requested. A refusal that is no longer shown has neither At nor field
	// errors. It is stored for a sender that may still wait.
	At          wire.Instant     `json:"at,omitzero"`
	FieldErrors wire.FieldErrors `json:"errors,omitempty"`
	// Precondition reports whether the precondition failed, in a refusal without field errors.
	Precondition bool `json:"precondition,omitzero"`
}

// Refusals are the refused changes of a timer, the latest last.
type Refusals []Refusal

// RefusalOf returns the record of a change that failed with cause. It has as many field errors
// as fit into [MaxRefusalBytes].
func RefusalOf(c Change, cause error) Refusal {
	refusal := Refusal{Change: c.ID, At: c.At}
	if ours, ok := errors.AsType[*wire.Error](cause); ok {
		refusal.FieldErrors = ours.FieldErrors.First(MaxRefusalBytes)
	}
	return refusal
}

// Unmet reports whether the change was refused because its precondition did not hold.
func (r Refusal) Unmet() bool {
	return r.Precondition || slices.ContainsFunc(r.FieldErrors, func(f wire.FieldError) bool { return f.Pointer == HeaderIfMatch })
}

// answer returns the part of the refusal that its sender needs.
func (r Refusal) answer() Refusal { return Refusal{Change: r.Change, Precondition: r.Unmet()} }

// Refuse adds the refusals of the latest changes. It stores all of these, because their senders
// may wait for the answer, and drops the oldest others beyond [MaxRefusals]. Only the latest
// [MaxRefusals] are stored whole: Temporal allows ten thousand waiting changes, and ends a timer
// with a memo or input above 2 MB.
func (m Memo) Refuse(latest []Refusal) Memo {
	all := slices.Concat(m.Refusals, latest)
	m.Refusals = all[max(0, len(all)-max(MaxRefusals, len(latest))):]
	for i := range len(m.Refusals) - MaxRefusals {
		m.Refusals[i] = m.Refusals[i].answer()
	}
	return m
}

// Latest returns the refusals that a timer shows, the latest last.
func (r Refusals) Latest() Refusals { return r[max(0, len(r)-MaxRefusals):] }

// Find returns the record of a change, if it was refused when the memo was written.
func (r Refusals) Find(change string) (_ Refusal, refused bool) {
	at := slices.IndexFunc(r, func(one Refusal) bool { return one.Change == change })
	if at < 0 {
		return Refusal{}, false
	}
	return r[at], true
}
