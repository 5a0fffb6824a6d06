package apitest

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/api/problems"
	"github.com/wakecall/wakecall/core/wire"
)

// Pointers are the fields that an error names; none without an error.
func Pointers(t testing.TB, err error) (pointers []string) {
	t.Helper()
	if err == nil {
		return nil
	}
	refused, ok := errors.AsType[*wire.Error](err)
	require.True(t, ok, "%v", err)
	for _, fieldErr := range refused.FieldErrors {
		pointers = append(pointers, fieldErr.Pointer)
	}
	return pointers
}

// RequireRefusal holds an error to what a bad request may be told.
func RequireRefusal(t testing.TB, err error) {
	t.Helper()
	document := problems.DocumentOf(err)
	require.GreaterOrEqual(t, document.Status, 400, "%v", err)
	require.Less(t, document.Status, 500, "%v", err)
}
