package timer

import (
	"fmt"
	"strings"
	"time"
)

// FaultCode says in one word what is wrong with a field.
type FaultCode string

// The closed list of field codes.
const (
	CodeRequired            FaultCode = "required"
	CodeUnknownField        FaultCode = "unknown-field"
	CodeInvalidType         FaultCode = "invalid-type"
	CodeInvalidTime         FaultCode = "invalid-time"
	CodeInvalidDuration     FaultCode = "invalid-duration"
	CodeInvalidBusinessType FaultCode = "invalid-business-type"
	CodeInvalidBusinessID   FaultCode = "invalid-business-id"
	CodeOutOfRange          FaultCode = "out-of-range"
	CodeConflict            FaultCode = "conflict"
	CodeTooLarge            FaultCode = "too-large"
	CodeInvalidBase64       FaultCode = "invalid-base64"
	CodeInvalidURL          FaultCode = "invalid-url"
	CodeInvalidHeader       FaultCode = "invalid-header"
	CodeInvalidRetry        FaultCode = "invalid-retry"
	CodeInvalidSecret       FaultCode = "invalid-secret"
	CodeInvalidParameter    FaultCode = "invalid-parameter"
	CodeInvalidRecurrence   FaultCode = "invalid-recurrence"
)

// Fault is one refused value of a request.
type Fault struct {
	// Pointer is an RFC 6901 JSON pointer into the body, or the bare name of a
	// query parameter or header. The key in a path is named as in a body.
	Pointer string    `json:"pointer"`
	Code    FaultCode `json:"code"`
	Detail  string    `json:"detail"`
}

// Faults collects every fault of one request, so that one answer names all.
type Faults []Fault

// Add appends a fault.
func (f *Faults) Add(pointer string, code FaultCode, detail string) {
	*f = append(*f, Fault{Pointer: pointer, Code: code, Detail: detail})
}

// AddRange appends the fault of a value that lies outside of its range.
func (f *Faults) AddRange(pointer string, lowest, highest any) {
	f.Add(pointer, CodeOutOfRange, fmt.Sprintf("must be from %v to %v", onWire(lowest), onWire(highest)))
}

// onWire is a limit as a request would say it.
func onWire(limit any) any {
	if d, ok := limit.(time.Duration); ok {
		return Duration(d)
	}
	return limit
}

// Under appends other faults found below the given pointer.
func (f *Faults) Under(pointer string, others Faults) {
	for _, o := range others {
		o.Pointer = pointer + o.Pointer
		*f = append(*f, o)
	}
}

func (f Faults) Error() string {
	parts := make([]string, len(f))
	for i, fault := range f {
		parts[i] = fmt.Sprintf("%s: %s", fault.Pointer, fault.Detail)
	}
	return strings.Join(parts, "; ")
}

// Err is the faults as an error, nil when there are none.
func (f Faults) Err() error {
	if len(f) == 0 {
		return nil
	}
	return &Error{Code: InvalidRequest, Message: "The request has invalid values.", Faults: f}
}
