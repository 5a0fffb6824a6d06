package observe

import (
	"strconv"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/outcomes"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/tuning"
)

// ring has buckets of a millisecond, ten and a hundred, and a clock.
func ring() (*Lateness, *time.Time) {
	now := time.Date(2026, 11, 26, 12, 0, 30, 0, time.UTC)
	return NewLateness([]float64{.001, .01, .1}, func() time.Time { return now }), &now
}

func minutesOf(from time.Time, n int) outcomes.Span {
	begin := wire.At(from.Truncate(time.Minute))
	return outcomes.Span{From: begin, To: begin.Add(time.Duration(n) * time.Minute), Step: time.Minute}
}

func late(ms int64) *int64 { return &ms }

// Attempts stand in their minute and business type, the lateness of first ones in its bucket.
func TestAttemptsStandInTheirMinute(t *testing.T) {
	t.Parallel()
	l, now := ring()
	began := *now
	l.Attempted("order", late(1), false)
	l.Attempted("order", late(7), true)
	l.Attempted("order", nil, false)
	l.Attempted("invoice", late(900), false)
	*now = now.Add(time.Minute)
	l.Attempted("order", late(-3), false)

	known := l.Between([]string{"order"}, minutesOf(began, 3))
	require.Len(t, known, 3)
	require.Equal(t, outcomes.Lateness{At: known[1].At.Add(time.Minute)}, known[2], "nothing was attempted in it")
	require.Equal(t, wire.At(began.Truncate(time.Minute)), known[0].At)
	require.EqualValues(t, 3, known[0].Attempts)
	require.EqualValues(t, 1, known[0].Retried)
	require.InDelta(t, 1, *known[0].P50MS, 0.001)
	require.InDelta(t, 7, *known[0].P99MS, 0.001, "of two, 99 of 100 are both")
	require.InDelta(t, 7, *known[0].WorstMS, 0.001)
	require.InDelta(t, 0, *known[1].WorstMS, 0.001, "early is punctual")

	all := l.Between(nil, outcomes.Span{From: known[0].At, To: known[0].At.Add(2 * time.Minute), Step: 2 * time.Minute})
	require.Len(t, all, 1)
	require.EqualValues(t, 5, all[0].Attempts)
	require.InDelta(t, 900, *all[0].WorstMS, 0.001)
	require.Zero(t, l.Between([]string{"refund"}, minutesOf(began, 3))[0].Attempts)
	before := outcomes.Span{From: known[0].At.Add(-2 * time.Minute), To: known[1].At, Step: time.Minute}
	require.Equal(t, known[:1], l.Between([]string{"order"}, before), "nothing is known of the time before the process")

	l.Attempted("silent", nil, true)
	silent := l.Between([]string{"silent"}, minutesOf(began, 3))
	require.Nil(t, silent[0].P50MS, "an attempt that was no first one")
	require.Nil(t, silent[0].WorstMS)
}

// What is older than a day is no longer known, and is not taken for what is new.
func TestAttemptsAreForgottenAfterADay(t *testing.T) {
	t.Parallel()
	l, now := ring()
	began := *now
	l.Attempted("order", late(1), false)
	*now = now.Add(24 * time.Hour)
	l.Attempted("order", late(1), false)
	require.Len(t, l.Between(nil, minutesOf(began, 1)), 1)
	*now = began.Add(25 * time.Hour)
	l.Attempted("order", late(1), false)
	require.Empty(t, l.Between(nil, minutesOf(began, 1)))
	require.Len(t, l.Between(nil, minutesOf(*now, 1)), 1)
}

// The types are bounded, and with them the memory: a new one takes the place of one without an
// attempt in the last day only.
func TestTypesOfAttemptsAreBounded(t *testing.T) {
	t.Parallel()
	l, now := ring()
	for i := range tuning.LatenessTypes + 1 {
		l.Attempted("t"+strconv.Itoa(i), late(1), false)
	}
	require.Len(t, l.types, tuning.LatenessTypes)
	require.EqualValues(t, tuning.LatenessTypes, l.Between(nil, minutesOf(*now, 1))[0].Attempts)
	*now = now.Add(25 * time.Hour)
	l.Attempted("new", late(1), false)
	require.Contains(t, l.types, "new")
	whole := tuning.LatenessTypes * (tuning.LatenessHours*unsafe.Sizeof(attemptsHour{}) + unsafe.Sizeof(typeAttempts{}))
	require.LessOrEqual(t, whole, uintptr(15<<20))
}

// A full count stays full.
func TestACountIsFull(t *testing.T) {
	t.Parallel()
	l, now := ring()
	for range 70_000 {
		l.Attempted("order", late(1), false)
	}
	known := l.Between(nil, minutesOf(*now, 1))
	require.EqualValues(t, 70_000, known[0].Attempts)
	require.InDelta(t, 1, *known[0].P99MS, 0.1)
}
