package timer_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/recurrence"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
)

func TestDebounce(t *testing.T) {
	t.Parallel()
	terms := func(delay, maxWait time.Duration) timer.Terms {
		return timer.Terms{Delay: in(delay), MaxWait: in(maxWait)}
	}
	spec, err := timer.Admit(key, terms(30*time.Second, 5*time.Minute), "b-1", noon)
	require.NoError(t, err)
	require.Equal(t, *at(30 * time.Second), spec.DueAt)
	require.Equal(t, *at(5 * time.Minute), spec.Debounce.RingBy())
	require.Zero(t, (*timer.Debounce)(nil).RingBy())

	put := func(spec timer.Spec, after time.Duration, terms timer.Terms) timer.Spec {
		t.Helper()
		changed, err := spec.Apply(timer.Change{Replace: true, Terms: terms, At: *at(after)})
		require.NoError(t, err)
		return changed
	}
	spec = put(spec, 20*time.Second, terms(30*time.Second, 5*time.Minute))
	require.Equal(t, *at(50 * time.Second), spec.DueAt, "each one pushes the ring out")
	spec = put(spec, 15*time.Second, terms(30*time.Second, 5*time.Minute))
	require.Equal(t, *at(50 * time.Second), spec.DueAt, "the clock of another gateway pulls it not back")
	require.Equal(t, *at(45 * time.Second), put(spec, 40*time.Second, terms(5*time.Second, time.Minute)).DueAt, "the delay is the last one's")
	require.Equal(t, *at(time.Minute), put(spec, 40*time.Second, terms(30*time.Second, time.Minute)).DueAt, "and so is the longest wait")
	spec = put(spec, 290*time.Second, terms(30*time.Second, 5*time.Minute))
	require.Equal(t, *at(5 * time.Minute), spec.DueAt, "never past the longest wait after the first one")
	require.Equal(t, *at(5 * time.Minute), put(spec, 10*time.Minute, terms(30*time.Second, 5*time.Minute)).DueAt, "late, and at once")

	rung, err := spec.Apply(timer.Change{Replace: true, Terms: terms(30*time.Second, 5*time.Minute), At: *at(6 * time.Minute), Interrupts: true})
	require.NoError(t, err)
	require.Equal(t, *at(390 * time.Second), rung.DueAt, "a ring that has begun ends the wait")
	require.Equal(t, *at(11 * time.Minute), rung.Debounce.RingBy())

	for name, change := range map[string]timer.Change{
		"another due time": {Terms: timer.Terms{Delay: in(time.Hour)}},
		"a rule":           {Replace: true, Terms: timer.Terms{Recurrence: &recurrence.Rule{Every: in(time.Hour)}}},
		"a ring by hand":   {Ring: true},
	} {
		change.At = wire.At(noon)
		changed, err := spec.Apply(change)
		require.NoError(t, err)
		require.Nil(t, changed.Debounce, name)
	}
}

func TestDebounceIsRefused(t *testing.T) {
	t.Parallel()
	for name, terms := range map[string]timer.Terms{
		"zero":          {Delay: in(0), MaxWait: in(0)},
		"negative":      {Delay: in(0), MaxWait: in(-time.Second)},
		"too long":      {Delay: in(0), MaxWait: in(wire.MaxAhead + 1)},
		"with a moment": {DueAt: at(time.Hour), MaxWait: in(time.Second)},
		"with a rule":   {Recurrence: &recurrence.Rule{Every: in(time.Hour)}, MaxWait: in(time.Second)},
	} {
		_, err := timer.Admit(key, terms, "b-1", noon)
		require.Equal(t, []string{"/max_wait"}, pointers(err), name)
	}
	require.NotEmpty(t, timer.Terms{MaxWait: in(time.Second)}.Check(noon))
}
