package timer

import (
	"errors"
	"slices"
)

// Refusal is a change that was accepted, and did not fit the timer when it was
// applied: another one had come first.
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

// Unmet is whether the change was made on something else than the timer was.
func (r Refusal) Unmet() bool {
	return slices.ContainsFunc(r.FieldErrors, func(f FieldError) bool { return f.Pointer == HeaderIfMatch })
}

// Refuse notes what was refused when changes were applied. All of that is kept,
// since somebody may wait to be told, and of what was refused before so much
// that there are [MaxRefusals].
func (c Memo) Refuse(latest []Refusal) Memo {
	all := slices.Concat(c.Refusals, latest)
	c.Refusals = all[max(0, len(all)-max(MaxRefusals, len(latest))):]
	return c
}

// Refused returns the record of a change, if it was refused when the memo was
// written.
func (c Memo) Refused(change string) (_ Refusal, refused bool) {
	at := slices.IndexFunc(c.Refusals, func(r Refusal) bool { return r.Change == change })
	if at < 0 {
		return Refusal{}, false
	}
	return c.Refusals[at], true
}
