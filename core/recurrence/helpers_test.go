package recurrence_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/recurrence"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func recurring(t *testing.T, rule recurrence.Rule, now time.Time) timer.Spec {
	t.Helper()
	spec, err := timer.Admit(ranking, timer.Terms{Recurrence: &rule}, "booking", now)
	require.NoError(t, err)
	return spec
}

var ranking = wire.Key{BusinessType: "ranking", BusinessID: "nightly"}

func at(d time.Duration) *wire.Instant { return ptr(wire.At(noon.Add(d))) }

var key = wire.Key{BusinessType: "order-close", BusinessID: "o-1"}

func wall(t *testing.T, text string) *wire.Wall {
	t.Helper()
	var w wire.Wall
	require.NoError(t, w.UnmarshalText([]byte(text)))
	return &w
}

func in(d time.Duration) *wire.Duration { return ptr(wire.Duration(d)) }

func pointers(err error) (all []string) {
	if e, ok := errors.AsType[*wire.Error](err); ok {
		for _, fieldErr := range e.FieldErrors {
			all = append(all, fieldErr.Pointer)
		}
	}
	return all
}

func ptr[T any](v T) *T { return &v }
