package site

import (
	"net/http"
	"net/url"

	"github.com/wakecall/wakecall/console/calls"
)

// Refusal is why a change was not made; the zero value where none was refused. Every page whose changes are
// meant for what it showed has one.
type Refusal struct {
	Problem *calls.Problem
	// TooLate is a key of the catalogues: how what was to change had ended before the change came; "" if it
	// had not.
	TooLate string
	// Meanwhile are the changes that were made since the form was shown, and how it ended, as far as that is
	// known.
	Meanwhile []calls.Entry
	// Typed is what stood in the form.
	Typed url.Values
}

// Changed reports whether what was to change was another one when the form was filled.
func (r Refusal) Changed() bool {
	return r.Problem != nil && r.Problem.Status == http.StatusPreconditionFailed
}
