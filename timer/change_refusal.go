package timer

import (
	"errors"
	"slices"
)

// Refusal records a change that was accepted and could not be applied: another change
// came first, and left a timer that this one does not fit.
type Refusal struct {
	Change      string      `json:"change"` // its id
	At          Instant     `json:"at"`     // when it was asked for
	FieldErrors FieldErrors `json:"errors,omitempty"`
}

// RefusalOf is the record of a change that cause kept from being applied.
func RefusalOf(c Change, cause error) Refusal {
	refusal := Refusal{Change: c.ID, At: c.At}
	if ours, ok := errors.AsType[*Error](cause); ok {
		refusal.FieldErrors = ours.FieldErrors
	}
	return refusal
}

// Unmet reports whether the change was refused because its precondition did not hold.
func (r Refusal) Unmet() bool {
	return slices.ContainsFunc(r.FieldErrors, func(f FieldError) bool { return f.Pointer == HeaderIfMatch })
}

// Refuse adds the refusals of changes that were just applied. It keeps all of these,
// because their senders may wait for the answer, and drops the oldest ones of before
// until there are [MaxRefusals].
func (m Memo) Refuse(latest []Refusal) Memo {
	all := slices.Concat(m.Refusals, latest)
	m.Refusals = all[max(0, len(all)-max(MaxRefusals, len(latest))):]
	return m
}

// Refused returns the record of a change, if it was refused when the memo was
// written.
func (m Memo) Refused(change string) (_ Refusal, refused bool) {
	at := slices.IndexFunc(m.Refusals, func(r Refusal) bool { return r.Change == change })
	if at < 0 {
		return Refusal{}, false
	}
	return m.Refusals[at], true
}
