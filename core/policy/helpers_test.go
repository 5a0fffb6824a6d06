package policy_test

import (
	"errors"
	"time"

	"github.com/wakecall/wakecall/core/wire"
)

func pointers(err error) (all []string) {
	if e, ok := errors.AsType[*wire.Error](err); ok {
		for _, fieldErr := range e.FieldErrors {
			all = append(all, fieldErr.Pointer)
		}
	}
	return all
}

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
