package timer_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/timer"
)

// sends is a dispatch that began to send ten seconds before noon, at 10 items a second, with
// a shard for each state.
func sends(states ...timer.DispatchState) (timer.DispatchMemo, []timer.DispatchShardState) {
	began := timer.At(noon.Add(-10 * time.Second))
	memo := timer.DispatchMemo{
		Order: timer.Dispatch{Key: timer.Key{BusinessType: "m", BusinessID: "d"}}, Status: timer.DispatchRunning, Run: "run-1",
		StartedAt: began, Plan: timer.DispatchPlan{PerSecond: 10, Began: began}, Items: ptr(1000),
	}
	var shards []timer.DispatchShardState
	for n, state := range states {
		shards = append(shards, timer.DispatchShardState{Shard: n, Begun: true, State: state})
	}
	return memo, shards
}

// A dispatch that is below its rate says since when, and why; what holds it as a whole is
// what it waits for, and a hiccup is nothing.
func TestADispatchBelowItsRate(t *testing.T) {
	t.Parallel()
	at := func(before time.Duration) timer.Instant { return timer.At(noon.Add(-before)) }
	behind := func(since, last time.Duration, why timer.Shortage) timer.DispatchState {
		return timer.DispatchState{
			Behind: timer.DispatchBehind{Since: at(since), Last: at(last), Why: why},
			Sent:   timer.DispatchRecent{At: noon.Unix(), Seconds: []int{4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 1}},
		}
	}
	limit := func(perSecond float64) timer.Holds {
		return timer.Holds{Policy: timer.Policy{
			Version: 1, Limits: timer.Limits{CallbacksPerSecond: &perSecond},
			Claims: []timer.DispatchClaim{{Dispatch: "run-1", PerSecond: 10, Since: at(8 * time.Second), Until: at(-time.Hour)}},
		}}
	}
	pressed := timer.Holds{Policy: timer.Policy{Version: 1, BackPressure: &timer.BackPressure{Since: at(9 * time.Second), Until: at(5 * time.Second)}}}
	ended := func(c *timer.DispatchShardState) { c.Ended = true }
	for name, c := range map[string]struct {
		state  timer.DispatchState
		holds  timer.Holds
		shard  func(*timer.DispatchShardState)
		status timer.DispatchStatus
		since  timer.Instant
		why    timer.Shortage
		rate   float64
		waits  timer.Waiting
	}{
		"at its rate":               {rate: 10},
		"a hiccup":                  {state: behind(4*time.Second, 3*time.Second, timer.ShortOfWorker), rate: 10},
		"places":                    {state: behind(9*time.Second, time.Second, timer.ShortOfSlots), since: at(9 * time.Second), why: timer.ShortOfSlots, rate: 4},
		"items":                     {state: behind(9*time.Second, time.Second, timer.ShortOfItems), since: at(9 * time.Second), why: timer.ShortOfItems, rate: 4},
		"processors":                {state: behind(9*time.Second, 0, timer.ShortOfWorker), since: at(9 * time.Second), why: timer.ShortOfWorker, rate: 4},
		"long ago":                  {state: behind(time.Minute, 31*time.Second, timer.ShortOfWorker), rate: 10},
		"a shard that has ended":    {state: behind(9*time.Second, 0, timer.ShortOfWorker), shard: ended, rate: 10},
		"a limit":                   {holds: limit(5), since: at(8 * time.Second), why: timer.ShortOfLimit, rate: 4.5},
		"a limit that is no matter": {holds: limit(50), rate: 10},
		"a limit, and places":       {holds: limit(5), state: behind(9*time.Second, 0, timer.ShortOfSlots), since: at(9 * time.Second), why: timer.ShortOfSlots, rate: 4},
		"after back-pressure":       {holds: pressed, since: at(9 * time.Second), why: timer.ShortOfPatience, rate: 4},
		"an emergency":              {holds: timer.Holds{Emergency: &timer.Emergency{}}, state: behind(9*time.Second, 0, timer.ShortOfWorker), waits: timer.WaitsForEmergency},
		"paused":                    {status: timer.DispatchPaused, state: behind(9*time.Second, 0, timer.ShortOfWorker)},
	} {
		memo, shards := sends(c.state)
		if c.status != "" {
			memo.Status = c.status
		}
		if c.shard != nil {
			c.shard(&shards[0])
		}
		view := memo.View().Count(memo, shards, c.holds, noon)
		require.Equal(t, []any{c.since, c.why, c.waits}, []any{view.BehindSince, view.BehindWhy, view.WaitsFor}, name)
		require.InDelta(t, c.rate, view.Effective, 0.01, name)
	}
}

// Where one shard of several waits for a worker the dispatch is behind; where all wait it is
// what the dispatch waits for, since the last of them does.
func TestShardsThatWaitForAWorker(t *testing.T) {
	t.Parallel()
	since, later := timer.At(noon.Add(-8*time.Second)), timer.At(noon.Add(-5*time.Second))
	memo, shards := sends(timer.DispatchState{Waits: since}, timer.DispatchState{})
	view := memo.View().Count(memo, shards, timer.Holds{}, noon)
	require.Equal(t, []any{since, timer.ShortOfTurn, timer.Waiting("")}, []any{view.BehindSince, view.BehindWhy, view.WaitsFor})
	shards[1].Unclaimed = later
	view = memo.View().Count(memo, shards, timer.Holds{}, noon)
	require.Equal(t, []any{timer.Instant(0), timer.WaitsForWorker, later}, []any{view.BehindSince, view.WaitsFor, view.WaitsSince})
}

// The rate over the whole is that of the time for which it sent: a pause does not count,
// while it lasts, once it is over, and when the dispatch has ended in it.
func TestTheRateOverTheWhole(t *testing.T) {
	t.Parallel()
	at := func(s int) timer.Instant { return timer.At(noon.Add(time.Duration(s) * time.Second)) }
	memo, shards := sends(timer.DispatchState{DispatchCounts: timer.DispatchCounts{Done: 100}})
	memo.StartedAt, memo.Plan.Began = at(0), at(0)
	whole := func(now int) float64 {
		return memo.View().Count(memo, shards, timer.Holds{}, at(now).Time()).Achieved.Whole
	}
	require.InDelta(t, 10, whole(10), 0.01)
	memo.Hold(at(10))
	memo.Hold(at(9)) // one that is heard of late
	require.InDelta(t, 10, whole(3600), 0.01)
	memo.Release(at(3600))
	require.Equal(t, []any{timer.Duration(10 * time.Second), timer.Instant(0), at(3600)}, []any{memo.SentFor, memo.HeldAt, memo.Plan.Began})
	shards[0].State.Done = 126
	require.InDelta(t, 126.0/12.6, whole(3602)*12/12.6, 0.01)
	memo.Hold(at(3602))
	memo.Status, memo.FinishedAt, memo.Total = timer.DispatchCancelled, at(9000), &timer.DispatchCounts{Done: 126}
	require.InDelta(t, 10.5, memo.View().Achieved.Whole, 0.01)
	again := memo.Again(at(9100))
	require.Equal(t, []any{timer.Duration(0), timer.Instant(0)}, []any{again.SentFor, again.HeldAt})
}

// What a dispatch was short of to its end is kept, and is that of the shard that was for
// longest.
func TestBehindToItsEnd(t *testing.T) {
	t.Parallel()
	short := timer.DispatchBehind{Since: clock(1), Last: clock(2), Why: timer.ShortOfItems}
	long := timer.DispatchBehind{Since: clock(1), Last: clock(3), Why: timer.ShortOfWorker}
	hiccup := timer.DispatchBehind{Since: clock(1), Last: clock(1) + 10, Why: timer.ShortOfSlots}
	require.Equal(t, long, timer.Behind([]timer.DispatchState{{Behind: short}, {Behind: long}, {}}))
	require.Zero(t, timer.Behind([]timer.DispatchState{{Behind: hiccup}, {}}))
	memo, _ := sends()
	memo.Status, memo.Behind = timer.DispatchDone, long
	require.Equal(t, []any{long.Since, long.Why}, []any{memo.View().BehindSince, memo.View().BehindWhy})
}

// A dispatch of which items were given up says so, and so does its last occurrence. What is
// stored stays the same.
func TestDoneWithFailures(t *testing.T) {
	t.Parallel()
	memo, _ := sends()
	memo.Status, memo.Total = timer.DispatchDone, &timer.DispatchCounts{Done: 9}
	require.Equal(t, timer.DispatchDone, memo.View().Status)
	memo.Total.Failed = 1
	require.Equal(t, timer.DispatchDoneWithFailures, memo.View().Status)
	require.Equal(t, timer.DispatchDone, memo.Status)
	memo.Last = &timer.DispatchOccurrence{DispatchEnd: timer.DispatchEnd{Status: timer.DispatchDone, Failed: 1}}
	require.Equal(t, timer.DispatchDoneWithFailures, memo.View().Last.Status)
	require.Equal(t, timer.DispatchDone, memo.Last.Status)
	for _, status := range timer.DispatchStatuses() {
		if status != timer.DispatchDone {
			require.Equal(t, status, status.With(3))
		}
	}
}
