package wire

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
)

// FieldErrorCode classifies what is wrong with a field.
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
	// Pointer is an RFC 6901 JSON pointer into the body, or the bare name of a query parameter
	// or header. A key in a path has the names it has in a body.
	Pointer string         `json:"pointer"`
	Code    FieldErrorCode `json:"code"`
	Detail  string         `json:"detail"`
	// Example is a value that the field accepts. It is shown to the caller and not stored.
	Example Example `json:"example,omitzero"`
	// beside are the pointers to the other fields that the error follows from.
	beside []string
}

// FieldErrors are the field errors of one request. An answer names up to [MaxFieldErrors] of
// them. One more is recorded, to show that there are more.
type FieldErrors []FieldError

// Add appends a field error.
func (f *FieldErrors) Add(pointer string, code FieldErrorCode, detail string) {
	f.add(FieldError{Pointer: pointer, Code: code, Detail: detail})
}

// AddBeside appends a field error that follows from what other fields say, or from their absence.
// [FieldErrors.Complete] leaves it out if one of them, or a part of one, could not be read. Their
// pointers begin at the same object as pointer, and "/.." leads out of that object.
func (f *FieldErrors) AddBeside(pointer string, code FieldErrorCode, detail string, others ...string) {
	f.add(FieldError{Pointer: pointer, Code: code, Detail: detail, beside: others})
}

// add keeps the work on a request linear: its errors may be as long as the request.
func (f *FieldErrors) add(one FieldError) {
	if !f.Full() {
		*f = append(*f, one)
	}
}

// Full reports whether there are more field errors than an answer names. A check may stop then.
func (f FieldErrors) Full() bool { return len(f) > MaxFieldErrors }

// AddRange appends the error of a value outside its range.
func (f *FieldErrors) AddRange(pointer string, lowest, highest any) {
	f.Add(pointer, CodeOutOfRange, fmt.Sprintf("must be from %v to %v", lowest, highest))
}

// AddMost appends the error of a value with too many parts.
func (f *FieldErrors) AddMost(pointer string, most int, of string) {
	f.Add(pointer, CodeTooLarge, fmt.Sprintf("must have at most %d %s", most, of))
}

// Under appends other field errors, with their pointers below the given one.
func (f *FieldErrors) Under(pointer string, others FieldErrors) {
	for _, o := range others {
		if f.Full() {
			return
		}
		o.Pointer, o.beside = pointer+o.Pointer, under(pointer, o.beside)
		f.add(o)
	}
}

// under returns pointers below another one.
func under(pointer string, others []string) (below []string) {
	for _, other := range others {
		below = append(below, path.Join(pointer, other))
	}
	return below
}

// Complete appends the errors found in readable values to f, which names the unreadable ones. It
// leaves out errors that follow from an unreadable value.
func (f *FieldErrors) Complete(found FieldErrors) {
	unread := (*f)[:len(*f):len(*f)]
	for _, fieldErr := range found {
		if f.Full() {
			return
		}
		if !fieldErr.follows(unread) {
			f.add(fieldErr)
		}
	}
}

// follows reports whether f concerns an unreadable value, or a part of one, or follows from one. A
// value that is required was read, and is empty.
func (f FieldError) follows(unread FieldErrors) bool {
	return slices.ContainsFunc(unread, func(one FieldError) bool {
		return isWithin(f.Pointer, one.Pointer) || one.Code != CodeRequired && slices.ContainsFunc(f.beside, func(other string) bool {
			return isWithin(other, one.Pointer) || isWithin(one.Pointer, other)
		})
	})
}

// isWithin reports whether a pointer leads to a value, or to a part of it.
func isWithin(pointer, value string) bool {
	rest, within := strings.CutPrefix(pointer, value)
	return within && (rest == "" || rest[0] == '/')
}

func (f FieldErrors) Error() string {
	parts := make([]string, len(f))
	for i, fieldErr := range f {
		parts[i] = fmt.Sprintf("%s: %s", fieldErr.Pointer, fieldErr.Detail)
		if fieldErr.Example != "" && !strings.Contains(fieldErr.Detail, " such as ") {
			parts[i] += fmt.Sprintf(", such as %s", fieldErr.Example)
		}
	}
	return strings.Join(parts, "; ")
}

// Join adds f to the field errors of a refusal. It returns any other error unchanged.
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

// Err returns f as one error, nil if f is empty. It names at most [MaxFieldErrors].
func (f FieldErrors) Err() error {
	if len(f) == 0 {
		return nil
	}
	return f.invalid().Limit(MaxFieldErrors)
}

func (f FieldErrors) invalid() *Error {
	return &Error{Code: InvalidRequest, Message: "The request has invalid values.", FieldErrors: f}
}

// Limit returns the error with at most the given number of field errors, each of bounded length.
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

// MoreFieldErrors is the message of an answer that does not name every field error.
func MoreFieldErrors(named int) string {
	return fmt.Sprintf("The request has more than %d invalid values, of which %d are named.", named, named)
}

// short returns the field error with a pointer and a detail of bounded length. A pointer that is
// too long becomes the pointer of the enclosing object or array.
func (f FieldError) short() FieldError {
	if len(f.Pointer) > MaxPointer {
		f.Pointer = ShortPointer(f.Pointer)
		f.Detail = "has a name that is too long to repeat here and " + f.Detail
	}
	f.Detail = clip(f.Detail, MaxFieldErrorDetail)
	return f
}

// First returns the leading field errors that fit into most bytes.
func (f FieldErrors) First(most int) FieldErrors {
	for i, fieldErr := range f {
		if most -= len(fieldErr.Pointer) + len(fieldErr.Code) + len(fieldErr.Detail); most < 0 {
			return f[:i]
		}
	}
	return f
}

// ShortPointer returns the longest prefix of whole tokens of a pointer within [MaxPointer]. It
// cuts a bare name.
func ShortPointer(pointer string) string {
	if len(pointer) <= MaxPointer {
		return pointer
	}
	if !strings.HasPrefix(pointer, "/") {
		return clip(pointer, MaxPointer)
	}
	return pointer[:strings.LastIndexByte(pointer[:MaxPointer+1], '/')]
}

// Within returns a refusal of fields with its pointers below the given one. It returns any other
// error unchanged.
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
