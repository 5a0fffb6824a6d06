package timer_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/recurrence"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
)

// stale returns an hourly timer with occurrences that expire after ten minutes, two hours and a
// half after its last ring.
func stale(t *testing.T) (spec timer.Spec, now wire.Instant) {
	t.Helper()
	booked := time.Unix(1_800_000_000, 0)
	spec = recurring(t, recurrence.Rule{Every: ptr(wire.Duration(time.Hour)), Missed: recurrence.MissedSkip}, booked)
	spec.ExpiresAfter = wire.Duration(10 * time.Minute)
	return spec, wire.At(booked.Add(210 * time.Minute))
}

func TestALatestTimeDoesNotGoWithARule(t *testing.T) {
	t.Parallel()
	spec, now := stale(t)
	late := now.Add(24 * time.Hour)
	_, err := spec.Apply(timer.Change{Terms: timer.Terms{LatestAt: &late}, At: spec.CreatedAt})
	require.Equal(t, []string{"/latest_at"}, pointers(err))

	expires := timer.Terms{ExpiresAfter: ptr(wire.Duration(time.Hour))}
	healed, err := spec.Apply(timer.Change{Terms: expires, At: now})
	require.NoError(t, err)
	require.Zero(t, healed.LatestAt)
	expires.Recurrence = &spec.Series.Rule
	healed, err = spec.Apply(timer.Change{Terms: expires, At: now})
	require.NoError(t, err)
	require.Zero(t, healed.LatestAt)

	spec, _ = stale(t)
	once := spec.CreatedAt.Add(time.Hour)
	_, err = spec.Apply(timer.Change{Replace: true, Terms: timer.Terms{DueAt: &once, LatestAt: &late}, At: spec.CreatedAt})
	require.NoError(t, err, "it rings once from now on")
}

// The next occurrence decides whether a timer would be expired.
func TestAStaleOccurrenceRefusesNoChange(t *testing.T) {
	t.Parallel()
	spec, now := stale(t)
	paused, err := spec.Apply(timer.Change{Pause: &timer.Pause{Stop: true}, At: now})
	require.NoError(t, err, "no worker ran for a while")
	edit := timer.Terms{Priority: ptr(1)}
	_, err = paused.Apply(timer.Change{Terms: edit, At: now.Add(time.Hour)})
	require.NoError(t, err, "it rings when it is resumed")
	_, err = spec.Apply(timer.Change{Terms: edit, At: now})
	require.NoError(t, err, "the next occurrence is ahead")

	kept, err := spec.Apply(timer.Change{Terms: edit, Interrupts: true, At: spec.DueAt.Add(time.Minute)})
	require.NoError(t, err)
	_, err = kept.Apply(timer.Change{Terms: edit, Interrupts: true, At: now})
	require.Equal(t, []string{"/expires_after"}, pointers(err), "an occurrence whose delivery has begun goes on")
}
