package dispatch_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/wire"
)

// sends returns a dispatch that began to send ten seconds before noon, at 10 items a second,
// with a shard for each state.
func sends(states ...dispatch.State) (dispatch.Memo, []dispatch.ShardState) {
	began := wire.At(noon.Add(-10 * time.Second))
	memo := dispatch.Memo{
		Order: dispatch.Dispatch{Key: wire.Key{BusinessType: "m", BusinessID: "d"}}, Status: dispatch.Running, Run: "run-1",
		StartedAt: began, Plan: dispatch.Plan{PerSecond: 10, Began: began}, Items: ptr(1000),
	}
	var shards []dispatch.ShardState
	for n, state := range states {
		shards = append(shards, dispatch.ShardState{Shard: n, Begun: true, State: state})
	}
	return memo, shards
}

// A dispatch below its rate shows since when, and why. A reason for the whole dispatch is its
// wait, and a hiccup does not count.
func TestADispatchBelowItsRate(t *testing.T) {
	t.Parallel()
	at := func(before time.Duration) wire.Instant { return wire.At(noon.Add(-before)) }
	behind := func(since, last time.Duration, why dispatch.Shortage) dispatch.State {
		return dispatch.State{
			Behind: dispatch.Behind{Since: at(since), Last: at(last), Why: why},
			Sent:   dispatch.Recent{At: noon.Unix(), Seconds: []int{4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 1}},
		}
	}
	limit := func(perSecond float64) policy.Holds {
		return policy.Holds{Policy: policy.Policy{
			Version: 1, Limits: policy.Limits{CallbacksPerSecond: &perSecond},
			Claims: []policy.Claim{{Dispatch: "run-1", PerSecond: 10, Since: at(8 * time.Second), Until: at(-time.Hour)}},
		}}
	}
	pressed := policy.Holds{Policy: policy.Policy{Version: 1, BackPressure: &policy.BackPressure{Since: at(9 * time.Second), Until: at(5 * time.Second)}}}
	ended := func(c *dispatch.ShardState) { c.Ended = true }
	for name, c := range map[string]struct {
		state  dispatch.State
		holds  policy.Holds
		shard  func(*dispatch.ShardState)
		status dispatch.Status
		since  wire.Instant
		why    dispatch.Shortage
		rate   float64
		waits  delivery.Waiting
	}{
		"at its rate":               {rate: 10},
		"a hiccup":                  {state: behind(4*time.Second, 3*time.Second, dispatch.ShortOfWorker), rate: 10},
		"places":                    {state: behind(9*time.Second, time.Second, dispatch.ShortOfSlots), since: at(9 * time.Second), why: dispatch.ShortOfSlots, rate: 4},
		"items":                     {state: behind(9*time.Second, time.Second, dispatch.ShortOfItems), since: at(9 * time.Second), why: dispatch.ShortOfItems, rate: 4},
		"processors":                {state: behind(9*time.Second, 0, dispatch.ShortOfWorker), since: at(9 * time.Second), why: dispatch.ShortOfWorker, rate: 4},
		"long ago":                  {state: behind(time.Minute, 31*time.Second, dispatch.ShortOfWorker), rate: 10},
		"a shard that has ended":    {state: behind(9*time.Second, 0, dispatch.ShortOfWorker), shard: ended, rate: 10},
		"a limit":                   {holds: limit(5), since: at(8 * time.Second), why: dispatch.ShortOfLimit, rate: 4.5},
		"a limit that is no matter": {holds: limit(50), rate: 10},
		"a limit, and places":       {holds: limit(5), state: behind(9*time.Second, 0, dispatch.ShortOfSlots), since: at(9 * time.Second), why: dispatch.ShortOfSlots, rate: 4},
		"after back-pressure":       {holds: pressed, since: at(9 * time.Second), why: dispatch.ShortOfPatience, rate: 4},
		"an emergency":              {holds: policy.Holds{Emergency: &policy.Emergency{}}, state: behind(9*time.Second, 0, dispatch.ShortOfWorker), waits: delivery.WaitsForEmergency},
		"paused":                    {status: dispatch.Paused, state: behind(9*time.Second, 0, dispatch.ShortOfWorker)},
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

// If one of several shards waits for a worker, the dispatch is behind. If all wait, the dispatch
// waits, since the last of them does.
func TestShardsThatWaitForAWorker(t *testing.T) {
	t.Parallel()
	since, later := wire.At(noon.Add(-8*time.Second)), wire.At(noon.Add(-5*time.Second))
	memo, shards := sends(dispatch.State{Waits: since}, dispatch.State{})
	view := memo.View().Count(memo, shards, policy.Holds{}, noon)
	require.Equal(t, []any{since, dispatch.ShortOfTurn, delivery.Waiting("")}, []any{view.BehindSince, view.BehindWhy, view.WaitsFor})
	shards[1].Unclaimed = later
	view = memo.View().Count(memo, shards, policy.Holds{}, noon)
	require.Equal(t, []any{wire.Instant(0), delivery.WaitsForWorker, later}, []any{view.BehindSince, view.WaitsFor, view.WaitsSince})
}

// The overall rate covers the time of sending. A pause does not count: during it, after it, or
// if the dispatch ends in it.
func TestTheRateOverTheWhole(t *testing.T) {
	t.Parallel()
	at := func(s int) wire.Instant { return wire.At(noon.Add(time.Duration(s) * time.Second)) }
	memo, shards := sends(dispatch.State{Counts: dispatch.Counts{Done: 100}})
	memo.StartedAt, memo.Plan.Began = at(0), at(0)
	whole := func(now int) float64 {
		return memo.View().Count(memo, shards, policy.Holds{}, at(now).Time()).Achieved.Whole
	}
	require.InDelta(t, 10, whole(10), 0.01)
	memo.RecordPause(at(10))
	memo.RecordPause(at(9)) // a late report
	require.InDelta(t, 10, whole(3600), 0.01)
	memo.Release(at(3600))
	require.Equal(t, []any{wire.Duration(10 * time.Second), wire.Instant(0), at(3600)}, []any{memo.SentFor, memo.HeldAt, memo.Plan.Began})
	shards[0].State.Done = 126
	require.InDelta(t, 126.0/12.6, whole(3602)*12/12.6, 0.01)
	memo.RecordPause(at(3602))
	memo.Status, memo.FinishedAt, memo.Total = dispatch.Cancelled, at(9000), &dispatch.Counts{Done: 126}
	require.InDelta(t, 10.5, memo.View().Achieved.Whole, 0.01)
	again := memo.RetryFailed(at(9100))
	require.Equal(t, []any{wire.Duration(0), wire.Instant(0)}, []any{again.SentFor, again.HeldAt})
}

// The shortage of a dispatch at its end is stored. It is the one that lasted longest.
func TestBehindToItsEnd(t *testing.T) {
	t.Parallel()
	short := dispatch.Behind{Since: clock(1), Last: clock(2), Why: dispatch.ShortOfItems}
	long := dispatch.Behind{Since: clock(1), Last: clock(3), Why: dispatch.ShortOfWorker}
	hiccup := dispatch.Behind{Since: clock(1), Last: clock(1) + 10, Why: dispatch.ShortOfSlots}
	require.Equal(t, long, dispatch.LongestBehind([]dispatch.State{{Behind: short}, {Behind: long}, {}}))
	require.Zero(t, dispatch.LongestBehind([]dispatch.State{{Behind: hiccup}, {}}))
	memo, _ := sends()
	memo.Status, memo.Behind = dispatch.Done, long
	require.Equal(t, []any{long.Since, long.Why}, []any{memo.View().BehindSince, memo.View().BehindWhy})
}

// A dispatch with failed items shows that, and so does its last occurrence. The stored form
// stays the same.
func TestDoneWithFailures(t *testing.T) {
	t.Parallel()
	memo, _ := sends()
	memo.Status, memo.Total = dispatch.Done, &dispatch.Counts{Done: 9}
	require.Equal(t, dispatch.Done, memo.View().Status)
	memo.Total.Failed = 1
	require.Equal(t, dispatch.DoneWithFailures, memo.View().Status)
	require.Equal(t, dispatch.Done, memo.Status)
	memo.Last = &dispatch.Occurrence{End: dispatch.End{Status: dispatch.Done, Failed: 1}}
	require.Equal(t, dispatch.DoneWithFailures, memo.View().Last.Status)
	require.Equal(t, dispatch.Done, memo.Last.Status)
	for _, status := range dispatch.Statuses() {
		if status != dispatch.Done {
			require.Equal(t, status, status.With(3))
		}
	}
}
