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

// A rule must not delay a ring until its occurrence has expired: nothing would ever be sent. A
// change of something else is none of it.
func TestAJitterBeyondTheExpiry(t *testing.T) {
	t.Parallel()
	booked := time.Unix(1_800_000_000, 0)
	jittered := recurrence.Rule{Every: ptr(wire.Duration(time.Hour)), Jitter: wire.Duration(10 * time.Minute)}
	key := wire.Key{BusinessType: "order", BusinessID: "1"}
	admit := func(expires time.Duration) (timer.Spec, error) {
		return timer.Admit(key, timer.Terms{Recurrence: &jittered, ExpiresAfter: ptr(wire.Duration(expires))}, "b", booked)
	}
	_, err := admit(10 * time.Minute)
	require.Equal(t, []string{"/expires_after"}, pointers(err))
	spec, err := admit(10*time.Minute + time.Millisecond)
	require.NoError(t, err)

	short, plain := ptr(wire.Duration(time.Minute)), recurrence.Rule{Every: jittered.Every}
	_, err = spec.Apply(timer.Change{Terms: timer.Terms{ExpiresAfter: short}, At: spec.CreatedAt})
	require.Equal(t, []string{"/expires_after"}, pointers(err))
	_, err = spec.Apply(timer.Change{Terms: timer.Terms{ExpiresAfter: short, Recurrence: &plain}, At: spec.CreatedAt})
	require.NoError(t, err, "the new rule has no jitter")
	wider := jittered
	wider.Jitter = wire.Duration(20 * time.Minute)
	_, err = spec.Apply(timer.Change{Terms: timer.Terms{Recurrence: &wider}, At: spec.CreatedAt})
	require.Equal(t, []string{"/expires_after"}, pointers(err))

	spec.ExpiresAfter = *short // booked by an earlier version
	_, err = spec.Apply(timer.Change{Terms: timer.Terms{Priority: ptr(1)}, At: spec.CreatedAt})
	require.NoError(t, err)
}
