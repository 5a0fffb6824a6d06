package timer

import (
	"errors"
	"slices"

	"github.com/wakecall/wakecall/core/wire"
)

// Refusal records a change that was accepted and could not be applied: another change
// came first, and left a timer that this one does not fit.
type Refusal struct {
	Change string `json:"change"` // its id
	// At is when it was asked for. A refusal that is not shown any more has none, and no
	// field errors: it only tells the sender, should that one still wait.
	At          wire.Instant     `json:"at,omitzero"`
	FieldErrors wire.FieldErrors `json:"errors,omitempty"`
	// Precondition reports whether the field error was that of the precondition, in a refusal
	// that has none any more.
	Precondition bool `json:"precondition,omitzero"`
}

// Refusals are the changes of a timer that were refused, the latest last.
type Refusals []Refusal

// RefusalOf is the record of a change that cause kept from being applied, with as many of
// its field errors as [MaxRefusalBytes] hold.
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

// answer is what the sender of the change still has to be told.
func (r Refusal) answer() Refusal { return Refusal{Change: r.Change, Precondition: r.Unmet()} }

// Refuse adds the refusals of changes that were just applied. It keeps all of these,
// because their senders may wait for the answer, and drops the oldest ones of before
// until there are [MaxRefusals]. Of more than that only the latest are kept whole: Temporal
// lets ten thousand changes wait, and ends a timer whose memo or input grows beyond 2 MB.
func (m Memo) Refuse(latest []Refusal) Memo {
	all := slices.Concat(m.Refusals, latest)
	m.Refusals = all[max(0, len(all)-max(MaxRefusals, len(latest))):]
	for i := range len(m.Refusals) - MaxRefusals {
		m.Refusals[i] = m.Refusals[i].answer()
	}
	return m
}

// Latest are those that a timer shows, the latest last.
func (r Refusals) Latest() Refusals { return r[max(0, len(r)-MaxRefusals):] }

// Find returns the record of a change, if it was refused when the memo was written.
func (r Refusals) Find(change string) (_ Refusal, refused bool) {
	at := slices.IndexFunc(r, func(one Refusal) bool { return one.Change == change })
	if at < 0 {
		return Refusal{}, false
	}
	return r[at], true
}
