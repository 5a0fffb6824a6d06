package delivery

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/wakecall/wakecall/core/wire"
)

// Callback is where and how a receiver is called.
type Callback struct {
	Destination
	// Headers are extra request headers. Their values may be credentials, so they are sealed
	// before they reach Temporal.
	Headers map[string]string `json:"headers,omitempty"`
	// Timeout bounds one attempt from dial to the last byte read.
	Timeout wire.Duration `json:"timeout,omitzero"`
}

// Over returns the callback with missing parts taken from base. It drops the headers of base if
// the destination differs, because they may hold credentials for base.
func (c Callback) Over(base Callback) Callback {
	if !c.Addressed() {
		c.Destination, c.Headers = base.Destination, overlay(base.Headers, c.Headers)
	}
	if c.Timeout == 0 {
		c.Timeout = base.Timeout
	}
	if c.Timeout == 0 {
		c.Timeout = wire.Duration(DefaultAttemptTimeout)
	}
	return c
}

// Masked returns the callback for display, with the values of its headers hidden.
func (c Callback) Masked() Callback {
	headers := make(map[string]string, len(c.Headers))
	for name := range c.Headers {
		headers[name] = Hidden
	}
	c.Headers = headers
	return c
}

// Amend applies a change to c, the callback of a timer. A header replaces the one of its name,
// and parts left out stay. If the change leads to another origin, it must give each remaining
// header anew, because that may be a credential.
func (c Callback) Amend(change Callback) (_ Callback, errs wire.FieldErrors) {
	if change.Addressed() && !change.sameOrigin(c.Destination) {
		//workflowcheck:ignore They are sorted.
		for _, name := range slices.Sorted(maps.Keys(c.Headers)) {
			if _, anew := named(change.Headers, name); !anew {
				errs.Add("/headers/"+wire.EscapePointer(name), wire.CodeConflict,
					"was set for another scheme, host or port: give its value again, or replace the timer with PUT to leave it out")
			}
		}
	}
	if change.Addressed() {
		c.Destination = change.Destination
	}
	if change.Timeout != 0 {
		c.Timeout = change.Timeout
	}
	c.Headers = overlay(c.Headers, change.Headers)
	wire.EnforceLength(&errs, ListHeaders, "/headers", len(c.Headers))
	return c, errs
}

// overlay returns base with the headers of over. A header of over replaces one of the same name,
// regardless of case.
func overlay(base, over map[string]string) map[string]string {
	headers := map[string]string{}
	//workflowcheck:ignore The order in which they are copied tells nothing.
	for name, value := range base {
		if _, replaced := named(over, name); !replaced {
			headers[name] = value
		}
	}
	//workflowcheck:ignore The order in which they are copied tells nothing.
	maps.Copy(headers, over)
	return headers
}

// named finds a header by its name, regardless of case (RFC 9110, section 5.1), and returns the
// stored spelling.
func named(headers map[string]string, name string) (stored string, ok bool) {
	//workflowcheck:ignore There is one such name at most.
	for stored := range headers {
		if strings.EqualFold(stored, name) {
			return stored, true
		}
	}
	return "", false
}

// Check returns what is wrong with the callback.
func (c Callback) Check() (errs wire.FieldErrors) {
	errs = c.Destination.Check()
	wire.EnforceNonZero(&errs, FieldTimeout, c.Timeout)
	if !wire.EnforceLength(&errs, ListHeaders, "/headers", len(c.Headers)) {
		return errs
	}
	first := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(c.Headers)) {
		why, lower := CheckHeader(name, c.Headers[name]), strings.ToLower(name)
		if same, ok := first[lower]; ok && why == "" {
			why = "is the same header as " + same + ": names must differ in more than their case"
		}
		if first[lower] = name; why != "" {
			errs.Add("/headers/"+wire.EscapePointer(name), wire.CodeInvalidHeader, why)
		}
	}
	return errs
}

// reservedHeaders are set by Wakecall or by HTTP itself. Idempotency-Key is among them because
// Go's transport resends such a POST.
var reservedHeaders = []string{
	"accept-encoding", "connection", "content-encoding", "content-length", "content-type", "date", "expect",
	"forwarded", "host", "idempotency-key", "keep-alive", "metadata", "metadata-flavor", "te", "traceparent",
	"tracestate", "trailer", "transfer-encoding", "upgrade", "x-idempotency-key", "x-real-ip",
}

var reservedPrefixes = []string{
	"proxy-", "wakecall-", "webhook-", "x-amz-", "x-aws-ec2-metadata-", "x-forwarded-", "x-goog-",
}

// CheckHeader returns what is wrong with an extra header; "" if nothing is.
func CheckHeader(name, value string) string {
	lower := strings.ToLower(name)
	switch {
	case name == "" || len(name) > MaxHeaderName || strings.ContainsFunc(name, notTokenRune):
		return fmt.Sprintf("must have a name of 1 to %d token characters", MaxHeaderName)
	case slices.Contains(reservedHeaders, lower),
		slices.ContainsFunc(reservedPrefixes, func(p string) bool { return strings.HasPrefix(lower, p) }):
		return "is reserved"
	case len(value) > MaxHeaderValue:
		return fmt.Sprintf("must have a value of at most %d characters", MaxHeaderValue)
	case strings.ContainsFunc(value, func(r rune) bool { return r != ' ' && r != '\t' && wire.NotVisibleASCII(r) }):
		return "must have a value of visible ASCII characters"
	}
	return ""
}
