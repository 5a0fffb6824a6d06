package scenario_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/bench/receiver"
	"github.com/wakecall/wakecall/bench/scenario"
	"github.com/wakecall/wakecall/bench/subject"
)

var noon = time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)

func ring(id string, after time.Duration) receiver.Ring {
	return receiver.Ring{ID: id, At: noon.Add(after)}
}

func booked(ids ...string) (b scenario.Booking) {
	for _, id := range ids {
		b.Expected = append(b.Expected, subject.Timer{ID: id, Due: noon})
	}
	return b
}

func TestJudgeSeesEveryFault(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		rings []receiver.Ring
		want  func(*scenario.Outcome)
	}{
		"none":       {[]receiver.Ring{ring("a", 0), ring("b", time.Second)}, func(*scenario.Outcome) {}},
		"duplicate":  {[]receiver.Ring{ring("a", 0), ring("b", time.Second), ring("a", time.Second)}, func(o *scenario.Outcome) { o.Duplicates = 1 }},
		"wrong":      {[]receiver.Ring{ring("a", 0), ring("b", time.Second), ring("cancelled", 0)}, func(o *scenario.Outcome) { o.Wrong = 1 }},
		"free":       {[]receiver.Ring{ring("a", 0), ring("b", time.Second), ring("free", 0)}, func(*scenario.Outcome) {}},
		"just early": {[]receiver.Ring{ring("a", -time.Millisecond), ring("b", time.Second)}, func(*scenario.Outcome) {}},
		"early":      {[]receiver.Ring{ring("a", -2*time.Millisecond), ring("b", time.Second)}, func(o *scenario.Outcome) { o.Early = 1 }},
		"lost":       {[]receiver.Ring{ring("b", time.Second)}, func(o *scenario.Outcome) { o.Lost = 1 }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := booked("a", "b")
			b.Forbidden, b.Free = booked("cancelled").Expected, booked("free").Expected
			got := scenario.Judge(b, c.rings)
			want := scenario.Outcome{Expected: 2, Drain: time.Second, Lateness: got.Lateness, ByTenth: [][]time.Duration{}}
			c.want(&want)
			require.Equal(t, want, got)
		})
	}
}

func TestJudgeTellsTenthsApart(t *testing.T) {
	t.Parallel()
	b := booked("a", "b")
	b.Expected[1].Due = noon.Add(time.Second)
	b.Calls.Tenths = []scenario.Tenth{{Begin: noon.Add(-time.Second), End: noon}, {Begin: noon, End: noon.Add(time.Second)}}
	got := scenario.Judge(b, []receiver.Ring{ring("a", 3*time.Millisecond), ring("b", 2*time.Second)})
	require.Equal(t, [][]time.Duration{nil, {3 * time.Millisecond}}, got.ByTenth, "b was due after the last one")
	require.Len(t, got.Lateness, 2)
}

func TestJudgeTellsOccurrencesApart(t *testing.T) {
	t.Parallel()
	b := booked("a")
	b.Every, b.From, b.Until = time.Second, noon, noon.Add(3*time.Second)
	at := func(due, late time.Duration) receiver.Ring {
		return receiver.Ring{ID: "a", Due: noon.Add(due), At: noon.Add(due + late)}
	}
	got := scenario.Judge(b, []receiver.Ring{
		at(-time.Second, 0), at(0, time.Millisecond), at(time.Second, 2*time.Millisecond), at(time.Second, time.Second), at(3*time.Second, 0),
	})
	require.Equal(t, 3, got.Expected)
	require.Equal(t, []time.Duration{time.Millisecond, 2 * time.Millisecond}, got.Lateness)
	require.Equal(t, 1, got.Duplicates)
	require.Equal(t, 1, got.Lost)
	require.Zero(t, got.Wrong, "what lies outside of the time is left out")
}
