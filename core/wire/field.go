package wire

import (
	"cmp"
	"fmt"
	"reflect"
)

// Field describes one field of a request. The checks, the OpenAPI document and the decoding of
// zeros all use it.
type Field struct {
	// Pointer leads to the field (RFC 6901) from the body, or from the enclosing object.
	Pointer string
	// Lowest and Highest bound the value, in the type of the field: int, float64 or Duration. A
	// Highest of nil is no bound. Both are nil for a text, which must not be empty.
	Lowest, Highest any
	// Zero is the meaning of zero, if zero is allowed below Lowest; "" if it is not allowed.
	Zero string
	// Default is the value of a field left out; nil if there is none, or if it follows from
	// other fields.
	Default any
}

// At returns the field at another pointer.
func (f Field) At(pointer string) Field { f.Pointer = pointer; return f }

// Or returns the field with another default.
func (f Field) Or(fallback any) Field { f.Default = fallback; return f }

// FieldsUnder puts fields below the pointer of the object that has them.
func FieldsUnder(pointer string, fields []Field) []Field {
	for i := range fields {
		fields[i].Pointer = pointer + fields[i].Pointer
	}
	return fields
}

// Empty returns the zero of the field's type. The types of this package use it for a field left
// out.
func (f Field) Empty() any {
	if f.Lowest == nil {
		return ""
	}
	return reflect.Zero(reflect.TypeOf(f.Lowest)).Interface()
}

// RefusesZero reports whether a zero in a request is refused. In the types of this package, zero
// and a field left out look the same, so the decoder must check.
func (f Field) RefusesZero() bool { return f.Lowest == nil || (f.Lowest != f.Empty() && f.Zero == "") }

// FieldError describes the values that the field accepts.
func (f Field) FieldError() FieldError {
	fieldErr := FieldError{Pointer: f.Pointer, Code: CodeOutOfRange}
	switch {
	case f.Lowest == nil:
		fieldErr.Code, fieldErr.Detail = CodeRequired, "must not be empty"
	case f.Highest == nil && f.Lowest == f.Empty():
		fieldErr.Detail = "must not be negative"
	case f.Highest == nil:
		fieldErr.Detail = fmt.Sprintf("must be at least %v", f.Lowest)
	case f.Zero != "":
		fieldErr.Detail = fmt.Sprintf("must be %v, or from %v to %v", f.Empty(), f.Lowest, f.Highest)
	default:
		fieldErr.Detail = fmt.Sprintf("must be from %v to %v", f.Lowest, f.Highest)
	}
	return fieldErr
}

// Enforce adds an error if the value is outside the field's range. NaN is outside every range.
func Enforce[T cmp.Ordered](errs *FieldErrors, f Field, value T) {
	var zero T
	within := value >= f.Lowest.(T) && (f.Highest == nil || value <= f.Highest.(T))
	if !within && (value != zero || f.Zero == "") {
		*errs = append(*errs, f.FieldError())
	}
}

// EnforceNonZero is [Enforce] for a value that is zero if it was left out.
func EnforceNonZero[T cmp.Ordered](errs *FieldErrors, f Field, value T) {
	var zero T
	if value != zero {
		Enforce(errs, f, value)
	}
}

// EnforceGiven is [Enforce] for a value that is nil if it was left out.
func EnforceGiven[T cmp.Ordered](errs *FieldErrors, f Field, value *T) {
	if value != nil {
		Enforce(errs, f, *value)
	}
}
