package health

import "github.com/wakecall/wakecall/core/wire"

// Status is the result of a check.
type Status string

// The closed list of results.
const (
	OK Status = "ok"
	// Failing: Detail says what is wrong, and what to change.
	Failing Status = "failing"
	// Unknown: the check could not be made. Detail says why.
	Unknown Status = "unknown"
)

// Statuses are all results.
func Statuses() []Status { return []Status{OK, Failing, Unknown} }

// Check is what one check of an installation found.
type Check struct {
	Name   string `json:"name"`
	Status Status `json:"status"`
	// Detail is one line of text. Callers who are not let in do not see it.
	Detail string `json:"detail,omitzero"`
	// At is when the check was made.
	At wire.Instant `json:"at,omitzero"`
}

// In returns the checks that an error carries as its state.
func In(e *wire.Error) []Check {
	checks, _ := e.State.([]Check)
	return checks
}
