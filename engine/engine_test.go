package engine_test

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/engine"
	"github.com/wakecall/wakecall/engine/enginetest"
)

// An engine has all of its parts.
func TestNothingIsMissing(t *testing.T) {
	t.Parallel()
	made := engine.New(engine.Config{Client: &enginetest.Temporal{}})
	t.Cleanup(made.EndWaits)
	parts := reflect.ValueOf(*made)
	for i := range parts.NumField() {
		if field := parts.Type().Field(i); field.IsExported() {
			require.False(t, parts.Field(i).IsZero(), field.Name)
		}
	}
}
