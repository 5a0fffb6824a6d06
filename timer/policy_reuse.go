package timer

import "slices"

// Reuse says when the id of a timer that has ended may be booked again.
type Reuse string

// The closed list of ways to reuse an id.
const (
	// ReuseAfterFailure frees the id of a timer that was cancelled or failed. One
	// that was delivered or expired keeps it for as long as Temporal retains it,
	// so that a repeated booking cannot ring twice.
	ReuseAfterFailure Reuse = "after_failure"
	// ReuseAfterEnd frees the id at once, however the timer ended.
	ReuseAfterEnd Reuse = "after_end"
)

// Reuses lists every way.
func Reuses() []Reuse { return []Reuse{ReuseAfterFailure, ReuseAfterEnd} }

func (r Reuse) check() (errs FieldErrors) {
	if r != "" && !slices.Contains(Reuses(), r) {
		errs.Add("/reuse", CodeInvalidParameter, "must be after_failure or after_end")
	}
	return errs
}
