package problem

import (
	"strings"

	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
)

// prefix stands before the code in a document's type.
const prefix = "urn:wakecall:problem:"

// Type is the type of the documents with a code.
func Type(code wire.Code) string { return prefix + string(code) }

// Document is a problem document.
type Document struct {
	Type      string           `json:"type"`
	Title     string           `json:"title"`
	Status    int              `json:"status"`
	Detail    string           `json:"detail"`
	RequestID string           `json:"request_id,omitzero"`
	Errors    wire.FieldErrors `json:"errors,omitempty"`
	// Timer is the timer's true state, where that is the reason.
	Timer *timer.View `json:"timer,omitempty"`
	// Dispatch is the dispatch's true state, where that is the reason.
	Dispatch *dispatch.View `json:"dispatch,omitempty"`
	// ViolatedPolicies names the limits that were reached, as the rate limit
	// header fields do (draft-ietf-httpapi-ratelimit-headers).
	ViolatedPolicies []string `json:"violated-policies,omitempty"`
}

// Code is the last part of the type; "" for a document that is not Wakecall's.
func (d Document) Code() wire.Code {
	code, ours := strings.CutPrefix(d.Type, prefix)
	if !ours {
		return ""
	}
	return wire.Code(code)
}
