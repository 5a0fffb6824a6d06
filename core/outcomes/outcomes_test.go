package outcomes_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/outcomes"
	"github.com/wakecall/wakecall/core/wire"
)

// at is a minute past noon.
func at(minute int) wire.Instant {
	return wire.At(time.Date(2026, 11, 26, 12, minute, 0, 0, time.UTC))
}

// A step sums up its minutes, of several business types, and says whether each was counted, of each type.
func TestMinutesBecomeSteps(t *testing.T) {
	t.Parallel()
	one := outcomes.Counts{Delivered: 1, Failed: 2, Expired: 3}
	var o outcomes.Outcomes
	o.Divide([]outcomes.Minute{{at(-1), one}, {at(0), one}, {at(0), one}, {at(1), one}, {at(3), one}, {at(9), one}}, outcomes.Span{From: at(0), To: at(6), Step: 2 * time.Minute}, 1)
	require.Equal(t, wire.Duration(2*time.Minute), o.Step)
	require.Equal(t, []outcomes.Step{
		{At: at(0), Counted: true, Counts: outcomes.Counts{Delivered: 3, Failed: 6, Expired: 9}},
		{At: at(2), Counts: one},
		{At: at(4)},
	}, o.Steps)
	o.Divide([]outcomes.Minute{{at(0), one}, {at(1), one}, {at(0), one}}, outcomes.Span{From: at(0), To: at(2), Step: time.Minute}, 2)
	require.Equal(t, []bool{true, false}, []bool{o.Steps[0].Counted, o.Steps[1].Counted}, "the other type is still to come")
	o.Divide(nil, outcomes.Span{From: at(0), To: at(0), Step: time.Minute}, 0)
	require.NotNil(t, o.Steps, "none is an empty list")
}

// A step without an attempt has none, if attempts are known, and nothing otherwise.
func TestLatenessesStandWithTheirSteps(t *testing.T) {
	t.Parallel()
	var o outcomes.Outcomes
	o.Divide(nil, outcomes.Span{From: at(0), To: at(2), Step: time.Minute}, 1)
	o.Attach(outcomes.Unknown, []outcomes.Lateness{{At: at(0), Attempts: 7}})
	require.Equal(t, outcomes.Unknown, o.LatenessFrom)
	require.Nil(t, o.Steps[0].Lateness)
	o.Attach(outcomes.Unanswered, nil)
	require.Equal(t, outcomes.Unanswered, o.LatenessFrom)
	require.Nil(t, o.Steps[0].Lateness)
	o.Attach(outcomes.Unanswered, []outcomes.Lateness{{At: at(1), Attempts: 7}})
	require.EqualValues(t, 7, o.Steps[1].Attempts)
	o.Attach(outcomes.Node, []outcomes.Lateness{{At: at(1), Attempts: 7}})
	require.Equal(t, outcomes.Node, o.LatenessFrom)
	require.Nil(t, o.Steps[0].Lateness, "it was before the process began")
	require.EqualValues(t, 7, o.Steps[1].Attempts)
	o.Attach(outcomes.Prometheus, []outcomes.Lateness{{At: at(1), Attempts: 7}})
	require.Zero(t, o.Steps[0].Attempts)
	require.NotNil(t, o.Steps[0].Lateness)
}

func TestQuantiles(t *testing.T) {
	t.Parallel()
	bounds := []float64{1, 10, 100}
	for name, c := range map[string]struct {
		counts      []uint64
		q, worst, v float64
	}{
		"the middle of a bucket":          {[]uint64{0, 10, 0, 0}, 0.5, 10, 5.5},
		"no more than the worst":          {[]uint64{0, 10, 0, 0}, 1, 4, 4},
		"the first bucket begins at zero": {[]uint64{4, 0, 0, 0}, 0.5, 1, 0.5},
		"above all bounds":                {[]uint64{0, 0, 0, 2}, 1, 900, 900},
		"one of a hundred":                {[]uint64{99, 0, 0, 1}, 0.99, 900, 1},
		"the middle of one":               {[]uint64{0, 0, 1, 0}, 0.5, 70, 70},
		"nearly all of one":               {[]uint64{0, 0, 1, 0}, 0.99, 70, 70},
		"the middle of two":               {[]uint64{1, 0, 0, 1}, 0.5, 900, 1},
		"nearly all of two":               {[]uint64{1, 0, 0, 1}, 0.99, 900, 900},
		"no part of them":                 {[]uint64{0, 2, 0, 0}, 0, 3, 2},
	} {
		got, ok := outcomes.Quantile(c.q, bounds, c.counts, c.worst)
		require.True(t, ok, name)
		require.InDelta(t, c.v, got, 0.001, name)
	}
	_, ok := outcomes.Quantile(0.5, bounds, []uint64{0, 0, 0, 0}, 0)
	require.False(t, ok)
}
