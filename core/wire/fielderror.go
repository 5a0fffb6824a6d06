package wire

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// FieldErrorCode says in one word what is wrong with a field.
type FieldErrorCode string

// The closed list of field codes.
const (
	CodeRequired            FieldErrorCode = "required"
	CodeUnknownField        FieldErrorCode = "unknown-field"
	CodeInvalidType         FieldErrorCode = "invalid-type"
	CodeInvalidTime         FieldErrorCode = "invalid-time"
	CodeInvalidDuration     FieldErrorCode = "invalid-duration"
	CodeInvalidBusinessType FieldErrorCode = "invalid-business-type"
	CodeInvalidBusinessID   FieldErrorCode = "invalid-business-id"
	CodeInvalidLabel        FieldErrorCode = "invalid-label"
	CodeOutOfRange          FieldErrorCode = "out-of-range"
	CodeConflict            FieldErrorCode = "conflict"
	CodeTooLarge            FieldErrorCode = "too-large"
	CodeInvalidBase64       FieldErrorCode = "invalid-base64"
	CodeInvalidURL          FieldErrorCode = "invalid-url"
	CodeInvalidBroker       FieldErrorCode = "invalid-broker"
	CodeInvalidHeader       FieldErrorCode = "invalid-header"
	CodeInvalidRetry        FieldErrorCode = "invalid-retry"
	CodeInvalidSecret       FieldErrorCode = "invalid-secret"
	CodeInvalidParameter    FieldErrorCode = "invalid-parameter"
	CodeInvalidRecurrence   FieldErrorCode = "invalid-recurrence"
	CodeInvalidCertificate  FieldErrorCode = "invalid-certificate"
	CodeInvalidJSON         FieldErrorCode = "invalid-json"
)

// FieldError is one refused value of a request.
type FieldError struct {
	// Pointer is an RFC 6901 JSON pointer into the body, or the bare name of a
	// query parameter or header. The key in a path is named as in a body.
	Pointer string         `json:"pointer"`
	Code    FieldErrorCode `json:"code"`
	Detail  string         `json:"detail"`
	// Example is a value that the field takes. It is told to the caller, and not stored.
	Example Example `json:"example,omitzero"`
}

// FieldErrors are the field errors of one request: one answer names every one, up to
// [MaxFieldErrors]. Past that one more is kept, which says that there are more.
type FieldErrors []FieldError

// Add appends a field error.
func (f *FieldErrors) Add(pointer string, code FieldErrorCode, detail string) {
	f.add(FieldError{Pointer: pointer, Code: code, Detail: detail})
}

// add keeps the work on a request linear: what is wrong with it may be as long as itself.
func (f *FieldErrors) add(one FieldError) {
	if !f.Full() {
		*f = append(*f, one)
	}
}

// Full reports whether there are more field errors than an answer names. Whoever looks for
// them may stop.
func (f FieldErrors) Full() bool { return len(f) > MaxFieldErrors }

// AddRange appends that a value lies outside of its range.
func (f *FieldErrors) AddRange(pointer string, lowest, highest any) {
	f.Add(pointer, CodeOutOfRange, fmt.Sprintf("must be from %v to %v", lowest, highest))
}

// AddMost appends that a value has more of something than it may have.
func (f *FieldErrors) AddMost(pointer string, most int, of string) {
	f.Add(pointer, CodeTooLarge, fmt.Sprintf("must have at most %d %s", most, of))
}

// Under appends other field errors found below the given pointer.
func (f *FieldErrors) Under(pointer string, others FieldErrors) {
	for _, o := range others {
		if f.Full() {
			return
		}
		o.Pointer = pointer + o.Pointer
		f.add(o)
	}
}

// Complete appends what was found wrong with the values that could be read to f, which
// names those that could not. It leaves out what follows from a value that could not.
func (f *FieldErrors) Complete(found FieldErrors) {
	unread := make(map[string]bool, len(*f))
	for _, fieldErr := range *f {
		unread[fieldErr.Pointer] = true
	}
	for _, fieldErr := range found {
		if f.Full() {
			return
		}
		if !fieldErr.follows(unread) {
			f.add(fieldErr)
		}
	}
}

// follows reports whether f is about a value that could not be read, or about a part of it.
func (f FieldError) follows(unread map[string]bool) bool {
	pointer := f.Pointer
	for !unread[pointer] {
		last := strings.LastIndexByte(pointer, '/')
		if last < 0 {
			return false
		}
		pointer = pointer[:last]
	}
	return true
}

func (f FieldErrors) Error() string {
	parts := make([]string, len(f))
	for i, fieldErr := range f {
		parts[i] = fmt.Sprintf("%s: %s", fieldErr.Pointer, fieldErr.Detail)
		if fieldErr.Example != "" {
			parts[i] += fmt.Sprintf(", such as %s", fieldErr.Example)
		}
	}
	return strings.Join(parts, "; ")
}

// Join adds f to the field errors that a refusal names already. Another error stays as it is.
func (f FieldErrors) Join(err error) error {
	refusal, ok := errors.AsType[*Error](err)
	switch {
	case err == nil:
		return f.Err()
	case !ok || refusal.Code != InvalidRequest:
		return err
	}
	all := slices.Clone(refusal.FieldErrors)
	all.Complete(f)
	return all.Err()
}

// Err is f as one error, nil when it is empty. It names at most [MaxFieldErrors].
func (f FieldErrors) Err() error {
	if len(f) == 0 {
		return nil
	}
	return f.invalid().Limit(MaxFieldErrors)
}

func (f FieldErrors) invalid() *Error {
	return &Error{Code: InvalidRequest, Message: "The request has invalid values.", FieldErrors: f}
}

// Limit is the error with no more than so many field errors, each of bounded length.
func (e *Error) Limit(most int) *Error {
	limited := *e
	if len(e.FieldErrors) > most {
		limited.Message = MoreFieldErrors(most)
	}
	limited.FieldErrors = slices.Clone(e.FieldErrors[:min(most, len(e.FieldErrors))])
	for i := range limited.FieldErrors {
		limited.FieldErrors[i] = limited.FieldErrors[i].short()
	}
	return &limited
}

// MoreFieldErrors says that an answer does not name every field error.
func MoreFieldErrors(named int) string {
	return fmt.Sprintf("The request has more than %d invalid values, of which %d are named.", named, named)
}

// short is the field error with a pointer and a detail of bounded length. A pointer that is
// too long becomes that of the object, or array, around it.
func (f FieldError) short() FieldError {
	if len(f.Pointer) > MaxPointer {
		f.Pointer = ShortPointer(f.Pointer)
		f.Detail = "holds a name, too long to be repeated, that " + f.Detail
	}
	f.Detail = clip(f.Detail, MaxFieldErrorDetail)
	return f
}

// First are the field errors from the first one on that fit into so many bytes.
func (f FieldErrors) First(most int) FieldErrors {
	for i, fieldErr := range f {
		if most -= len(fieldErr.Pointer) + len(fieldErr.Code) + len(fieldErr.Detail); most < 0 {
			return f[:i]
		}
	}
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

// Within is a refusal of fields as the caller sees it, who gave them below the pointer. Any
// other error stays as it is.
func Within(pointer string, err error) error {
	refusal, ok := errors.AsType[*Error](err)
	if !ok || len(refusal.FieldErrors) == 0 {
		return err
	}
	within := *refusal
	within.FieldErrors = nil
	within.FieldErrors.Under(pointer, refusal.FieldErrors)
	return &within
}
