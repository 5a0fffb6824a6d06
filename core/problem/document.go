package problem

import (
	"strings"

	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/health"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
)

// prefix precedes the code in a document's type.
const prefix = "urn:wakecall:problem:"

// Type returns the type of the documents with a code.
func Type(code wire.Code) string { return prefix + string(code) }

// Document is a problem document.
type Document struct {
	Type      string           `json:"type"`
	Title     string           `json:"title"`
	Status    int              `json:"status"`
	Detail    string           `json:"detail"`
	RequestID string           `json:"request_id,omitzero"`
	Errors    wire.FieldErrors `json:"errors,omitempty"`
	// Timer is the timer's true state, if that is the reason.
	Timer *timer.View `json:"timer,omitempty"`
	// Dispatch is the dispatch's true state, if that is the reason.
	Dispatch *dispatch.View `json:"dispatch,omitempty"`
	// Checks are the checks of the installation, if the caller asked for them.
	Checks []health.Check `json:"checks,omitempty"`
	// ViolatedPolicies names the limits that were reached, as in the rate limit header fields
	// (draft-ietf-httpapi-ratelimit-headers).
	ViolatedPolicies []string `json:"violated-policies,omitempty"`
	// RetryAfter is the wait before another try, in whole seconds, as the header field has it. In a batch each
	// result has its own.
	RetryAfter wire.Duration `json:"retry_after,omitzero"`
}

// Code returns the last part of the type; "" for a document not from Wakecall.
func (d Document) Code() wire.Code {
	code, ours := strings.CutPrefix(d.Type, prefix)
	if !ours {
		return ""
	}
	return wire.Code(code)
}
