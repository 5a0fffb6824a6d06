package slo_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/slo"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
)

// ended is a timer that ended with a first attempt so late, in milliseconds; -1 for none.
func ended(status timer.Status, attempts int, late int64) timer.Outcome {
	outcome := timer.Outcome{Status: status, Attempts: attempts}
	if late >= 0 {
		outcome.LatenessMS = &late
	}
	return outcome
}

func TestCounts(t *testing.T) {
	t.Parallel()
	var c slo.Counts
	c.Book(10)
	c.Book(0)
	c.Observe(ended(timer.Delivered, 1, 2), time.Second)
	c.Observe(ended(timer.Delivered, 3, 1000), time.Second)
	c.Observe(ended(timer.Failed, 9, 1001), time.Second)
	c.Observe(ended(timer.Expired, 0, -1), time.Second)
	c.Observe(ended(timer.Cancelled, 2, 5), time.Second)
	c.Observe(ended(timer.Delivered, 2, -1), time.Second)
	c.Observe(timer.Outcome{Status: timer.Expired, Earlier: 1, Unsent: true}, time.Second)
	c.Observe(timer.Outcome{Status: timer.Expired, Earlier: 1}, time.Second)
	for _, late := range []int64{9000, -1} {
		again := ended(timer.Delivered, 1, late)
		again.Again = true
		c.Observe(again, time.Second)
	}
	require.Equal(t, slo.Counts{
		Booked: 2, Bytes: 10, Rung: 5, OnTime: 2, Missed: 2, Delivered: 5, Failed: 1, Expired: 3, Attempts: 21, WorstMS: 1001,
		Lateness: c.Lateness, JudgedBy: slo.Promise(time.Second),
	}, c)
}

// A quantile is that of the sorted values, at most 6.25 % higher, and exact below 32 ms.
func TestQuantiles(t *testing.T) {
	t.Parallel()
	_, ok := slo.Histogram{}.Quantile(0.5)
	require.False(t, ok)
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		values := make([]int64, 1+random.IntN(300))
		h, parts := slo.Histogram{}, []slo.Histogram{{}, {}}
		for i := range values {
			values[i] = int64(random.ExpFloat64() * float64(uint64(1)<<random.IntN(40)))
			parts[i%2].Observe(values[i])
		}
		h.Add(parts[0])
		h.Add(parts[1])
		slices.Sort(values)
		for _, q := range []float64{0.001, 0.5, 0.99, 1} {
			exact := values[max(int(float64(len(values))*q+0.9999999), 1)-1]
			got, ok := h.Quantile(q)
			require.True(t, ok)
			require.GreaterOrEqual(t, got, exact)
			require.LessOrEqual(t, float64(got), float64(exact)*1.0625)
			if exact < 32 {
				require.Equal(t, exact, got)
			}
		}
	}
}

// A series keeps every count, in order and without overlap, until the days are dropped: at each resolution,
// and where that changes.
func TestSeries(t *testing.T) {
	t.Parallel()
	const hours = 60 * 24
	most := map[slo.Resolution]int{}
	for i, intervals := range []int{31 + 1 + 4*24, 31 + 1 + 2*24, 31 + 1 + 24, 4 + 10, 5} {
		most[slo.Resolutions[i]] = intervals
	}
	always := func(r slo.Resolution) func(int) slo.Resolution { return func(int) slo.Resolution { return r } }
	resolutions := map[string]func(hour int) slo.Resolution{
		"changing": func(hour int) slo.Resolution { return slo.Resolutions[(hour/7)%len(slo.Resolutions)] },
	}
	for _, r := range slo.Resolutions {
		resolutions[fmt.Sprint(r)] = always(r)
	}
	for name, at := range resolutions {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			begin := time.Date(2027, 1, 1, 0, 30, 0, 0, time.UTC)
			var s slo.Series
			for hour := range hours {
				now := wire.At(begin.Add(time.Duration(hour) * time.Hour))
				s = s.Record(now.Add(-3*time.Hour), slo.Counts{Rung: 1}) // counts of another node come late
				s = s.Record(now, slo.Counts{Rung: 1, OnTime: 1})
				s = s.Compact(now, at(hour))
				for i := range s {
					require.Less(t, s[i].From, s[i].To)
					require.True(t, i == 0 || s[i-1].To <= s[i].From, "%v", s)
				}
			}
			require.LessOrEqual(t, len(s), cmp.Or(most[at(0)], len(s)))
			now := wire.At(begin.Add((hours - 1) * time.Hour))
			r := s.Report("order", slo.Objective{OnTime: wire.Duration(time.Second), Target: 0.9}, now, 2*time.Hour)
			if name != "changing" && at(hours).Hours >= 0 {
				require.Equal(t, now.Add(-2*time.Hour-30*time.Minute), r.From)
				require.EqualValues(t, 3, r.OnTime)
				require.EqualValues(t, 3, r.Rung, "the late counts of two hours are still to come")
			}
			require.LessOrEqual(t, r.From, now.Add(-2*time.Hour-30*time.Minute))
			r = s.Report("order", slo.Objective{Target: 0.9}, now, 30*24*time.Hour)
			require.InDelta(t, 2*now.Time().Sub(r.From.Time()).Hours(), r.Rung, 2)
			require.InDelta(t, 30.5*24, now.Time().Sub(r.From.Time()).Hours(), 10*24)
		})
	}
}

// To compact a series leaves it as it is: a ledger tries several resolutions.
func TestCompactChangesNothing(t *testing.T) {
	t.Parallel()
	now := wire.At(time.Date(2027, 1, 28, 12, 0, 0, 0, time.UTC))
	var s slo.Series
	for hour := range 20 * 24 {
		s = s.Record(now.Add(-time.Duration(hour)*time.Hour), slo.Counts{Rung: 1, Lateness: slo.Histogram{3: 1}})
	}
	for range 2 {
		for _, resolution := range slo.Resolutions {
			r := s.Compact(now, resolution).Report("order", slo.Objective{}, now, slo.MaxWindow)
			require.Equal(t, []int64{20 * 24, 0}, []int64{r.Rung, r.Unsent})
		}
	}
}

// A report says which on_time its share is by. Those of all intervals count, and an interval
// without ends has none.
func TestReportsSayWhatTheyAreJudgedBy(t *testing.T) {
	t.Parallel()
	now := wire.At(time.Date(2027, 1, 10, 12, 0, 0, 0, time.UTC))
	judged := func(ends map[time.Duration]slo.Counts) slo.Promises {
		var s slo.Series
		for ago, counts := range ends {
			s = s.Record(now.Add(-ago), counts)
		}
		r := s.Compact(now, slo.Resolutions[0]).Report("order", slo.Objective{OnTime: wire.Duration(time.Minute), Target: 0.9}, now, 30*24*time.Hour)
		require.Equal(t, wire.Duration(time.Minute), r.Objective.OnTime, "that is the policy's now")
		return r.Objective.JudgedBy
	}
	by := func(onTime time.Duration, outcome timer.Outcome) (c slo.Counts) {
		c.Observe(outcome, onTime)
		return c
	}
	rung, missed := ended(timer.Delivered, 1, 7), ended(timer.Expired, 0, -1)
	require.Zero(t, judged(map[time.Duration]slo.Counts{0: {Booked: 1}, time.Hour: by(time.Second, ended(timer.Cancelled, 0, -1))}))
	require.Equal(t, slo.Promise(time.Second), judged(map[time.Duration]slo.Counts{0: {Booked: 1}, time.Hour: by(time.Second, rung)}))
	require.Equal(t, slo.Promises{Shortest: wire.Duration(5 * time.Millisecond), Longest: wire.Duration(time.Hour)}, judged(map[time.Duration]slo.Counts{
		0: by(time.Second, rung), time.Minute: by(time.Hour, missed), 9 * 24 * time.Hour: by(5*time.Millisecond, rung), 9*24*time.Hour + time.Hour: by(time.Minute, rung),
	}))
}

func TestReport(t *testing.T) {
	t.Parallel()
	now := wire.At(time.Date(2027, 1, 1, 12, 0, 0, 0, time.UTC))
	objective := slo.Objective{OnTime: wire.Duration(time.Second), Target: 0.9}
	none := slo.Series(nil).Report("order", objective, now.Add(7*time.Minute), time.Hour)
	require.Nil(t, none.Share)
	require.Equal(t, now.Add(-time.Hour), none.From, "a whole hour, also without counts")
	var c slo.Counts
	for n := range 100 {
		late := int64(n)
		if n >= 95 {
			late = 2000
		}
		c.Observe(ended(timer.Delivered, 1, late), time.Second)
	}
	r := slo.Series{}.Record(now.Add(-time.Minute), c).Report("order", objective, now, time.Hour)
	require.InDelta(t, 0.95, *r.Share, 1e-9)
	require.InDelta(t, 0.5, *r.BudgetLeft, 1e-9)
	require.EqualValues(t, 49, *r.P50MS)
	require.EqualValues(t, 2000, *r.P99MS)
	require.EqualValues(t, 2000, *r.WorstMS)
	require.Zero(t, r.Unsent)
	unsent := c
	unsent.Observe(ended(timer.Delivered, 2, -1), time.Second)
	r = slo.Series{}.Record(now, unsent).Report("order", objective, now, time.Hour)
	require.Equal(t, []int64{101, 95, 1, 0}, []int64{r.Rung, r.OnTime, r.Unsent, r.Missed})
	require.InDelta(t, 95.0/101, *r.Share, 1e-9, "it was not on time")
	require.EqualValues(t, 49, *r.P50MS, "it has no lateness")
	objective.Target = 0.99
	require.InDelta(t, -4, *slo.Series{}.Record(now, c).Report("order", objective, now, time.Hour).BudgetLeft, 1e-9)
}
