package timer

import (
	"errors"
	"fmt"
	"slices"
	"strings"
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
	CodeInvalidCertificate  FaultCode = "invalid-certificate"
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
	f.Add(pointer, CodeOutOfRange, fmt.Sprintf("must be from %v to %v", lowest, highest))
}

// AddMost appends the fault of a value that has more of something than it may.
func (f *Faults) AddMost(pointer string, most int, of string) {
	f.Add(pointer, CodeTooLarge, fmt.Sprintf("must have at most %d %s", most, of))
}

// Under appends other faults found below the given pointer.
func (f *Faults) Under(pointer string, others Faults) {
	for _, o := range others {
		o.Pointer = pointer + o.Pointer
		*f = append(*f, o)
	}
}

// Complete appends what was found wrong in the values that could be read, while f
// names those that could not.
func (f *Faults) Complete(found Faults) {
	unread := *f
	for _, fault := range found {
		if !slices.ContainsFunc(unread, fault.follows) {
			*f = append(*f, fault)
		}
	}
}

// follows is whether a fault is of a value that could not be read, or within it.
func (f Fault) follows(unread Fault) bool {
	return strings.HasPrefix(f.Pointer+"/", unread.Pointer+"/")
}

func (f Faults) Error() string {
	parts := make([]string, len(f))
	for i, fault := range f {
		parts[i] = fmt.Sprintf("%s: %s", fault.Pointer, fault.Detail)
	}
	return strings.Join(parts, "; ")
}

// Join adds faults to those that a refusal names already. Another error stays.
func (f Faults) Join(err error) error {
	refusal, ok := errors.AsType[*Error](err)
	switch {
	case err == nil:
		return f.Err()
	case !ok || refusal.Code != InvalidRequest:
		return err
	}
	all := slices.Clone(refusal.Faults)
	all.Complete(f)
	return all.Err()
}

// Err is the faults as an error, nil when there are none. It names at most [MaxFaults].
func (f Faults) Err() error {
	if len(f) == 0 {
		return nil
	}
	return f.invalid().Limit(MaxFaults)
}

func (f Faults) invalid() *Error {
	return &Error{Code: InvalidRequest, Message: "The request has invalid values.", Faults: f}
}

// Limit is the error with no more than so many faults, each of bounded length.
func (e *Error) Limit(most int) *Error {
	limited := *e
	if len(e.Faults) > most {
		limited.Message = fmt.Sprintf("The request has %d invalid values, of which %d are named.", len(e.Faults), most)
	}
	limited.Faults = slices.Clone(e.Faults[:min(most, len(e.Faults))])
	for i := range limited.Faults {
		limited.Faults[i] = limited.Faults[i].short()
	}
	return &limited
}

// short is the fault with a pointer and a detail of bounded length. A pointer that is
// too long becomes that of the object, or array, around it.
func (f Fault) short() Fault {
	if len(f.Pointer) > MaxPointer {
		f.Pointer = ShortPointer(f.Pointer)
		f.Detail = "holds a name, too long to be repeated, that " + f.Detail
	}
	f.Detail = clip(f.Detail, MaxFaultDetail)
	return f
}

// ShortPointer is the longest part of a pointer that is no longer than [MaxPointer]; of a
// bare name it is the beginning.
func ShortPointer(pointer string) string {
	if len(pointer) <= MaxPointer {
		return pointer
	}
	if !strings.HasPrefix(pointer, "/") {
		return clip(pointer, MaxPointer)
	}
	return pointer[:strings.LastIndexByte(pointer[:MaxPointer+1], '/')]
}

func clip(text string, most int) string {
	if len(text) > most {
		return strings.ToValidUTF8(text[:most-len("…")], "") + "…"
	}
	return text
}
