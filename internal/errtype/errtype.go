// Package errtype checks the type of an error without its value.
package errtype

import "errors"

// Is reports whether err, or an error that it wraps, is an E.
func Is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}
