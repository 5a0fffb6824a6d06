package timer_test

import (
	"testing"
	"time"

	"github.com/wakecall/wakecall/internal/golden"
	"github.com/wakecall/wakecall/timer"
)

var (
	storedDispatchOrder = timer.Dispatch{
		Key: timer.Key{BusinessType: "reminder", BusinessID: "d-1"}, PerSecond: 250.5, DueAt: ptr(clock(2)),
		Delay: ptr(timer.Duration(time.Hour)), Recurrence: &storedRecurrence, LatestAt: ptr(clock(5)), WarmUp: timer.Duration(time.Minute),
		Per: timer.PerPage, PageSize: 50, Callback: &storedCallback, Retry: &storedRetry,
		Loader: &timer.DispatchLoader{URL: "https://shop.example/items", Shards: 25, PageSize: 100, Timeout: timer.Duration(5 * time.Second)},
	}

	storedDispatchPlan = timer.DispatchPlan{
		Changes: 3, PerSecond: 250.5, WarmUp: timer.Duration(time.Minute), Paused: true, Began: clock(2), Active: []int{1, 3}, Quiet: true,
	}

	storedDispatchCounts = timer.DispatchCounts{Found: 90, Done: 70, Failed: 5, Retrying: 6, InFlight: 7, Callbacks: 99}

	storedStopped = []timer.DispatchShardView{{
		Shard: 2, Status: timer.ShardStopped, WaitsFor: timer.WaitsForTurn, Items: 90, Done: 70, Failed: 5, Retrying: 6, InFlight: 7, LagMS: 12, Problem: &storedFailure,
	}}

	storedBehind = timer.DispatchBehind{Since: clock(3), Last: clock(4), Why: timer.ShortOfSlots}

	storedDispatchParts = []timer.DispatchPart{{Prefix: "dispatch-page:reminder/d-1/", Pages: 9}}

	storedDispatchState = timer.DispatchState{
		Page: 3, Base: 200, Cursor: "c-3", End: true,
		Open:   []timer.DispatchOpen{{Attempts: 1, Page: 2, Base: 100, Cursor: "c-2", Size: 100, Sum: 7, Next: 40, Ahead: []byte{5}}},
		Ladder: []timer.DispatchQueue{{Head: 1, Tail: 4, Due: clock(4)}}, GivenUp: 2,
		Cycle: timer.DispatchCycle{Seen: "c-1", Power: 2, Steps: 1}, DispatchCounts: storedDispatchCounts, Problem: &storedFailure,
		LoaderTries: 2, Sent: timer.DispatchRecent{At: 1_800_000_000, Seconds: []int{30, 31}}, Last: clock(3), LagMS: 12, Told: clock(3), Claimed: true, Waits: clock(4), Try: 2,
		Behind: storedBehind,
	}
)

// What a dispatch is stored as.
func TestStoredDispatch(t *testing.T) {
	t.Parallel()
	golden.Check(t, "dispatch_memo", timer.DispatchMemo{
		Order: storedDispatchOrder, Fingerprint: "5f0c", CreatedAt: clock(0), Status: timer.DispatchRunning, DueAt: clock(2),
		Occurrence: 4, StartedAt: clock(2), FinishedAt: clock(6), Plan: storedDispatchPlan, SentFor: timer.Duration(time.Minute), HeldAt: clock(4), Behind: storedBehind, Run: "run-1", Items: ptr(100), Upload: "UPLOAD1", Shards: 8,
		Total: &storedDispatchCounts, Before: storedDispatchCounts, Failed: storedDispatchParts,
		Cursor: timer.Cursor{Booked: clock(0), Last: clock(1), Ended: clock(2), Rung: 4, Extra: 1}, Round: 1, Retried: 5,
		Stopped: storedStopped, Last: &timer.DispatchOccurrence{Pages: storedDispatchParts, DispatchEnd: timer.DispatchEnd{
			Occurrence: 3, Status: timer.DispatchFailed, Done: 80, Failed: 6, StartedAt: clock(0), FinishedAt: clock(1), Shards: storedStopped,
		}},
	})
	golden.Check(t, "dispatch_change", timer.DispatchChange{PerSecond: ptr(12.5), Paused: ptr(true)})
	golden.Check(t, "dispatch_sweep", timer.DispatchSweep{
		Delete: storedDispatchParts, Close: storedDispatchParts, Uploads: "dispatch-page:reminder/d-1/run-1/", Yield: "run-1", BusinessType: "reminder",
	})
}

// What a shard is stored as: its input, its heartbeats and what a stint ends with.
func TestStoredDispatchShard(t *testing.T) {
	t.Parallel()
	golden.Check(t, "dispatch_state", storedDispatchState)
	golden.Check(t, "dispatch_shard", timer.DispatchShard{
		DispatchID: timer.DispatchID{Key: storedDispatchOrder.Key, Occurrence: 4}, Number: 3, Stored: "dispatch-shard:reminder/d-1/4.0/3",
		Source: timer.DispatchSource{Parts: storedDispatchParts, First: 2, Skip: 40, Items: 300},
		Plan:   storedDispatchPlan, State: storedDispatchState,
	})
	golden.Check(t, "dispatch_stint", timer.DispatchStint{
		State: storedDispatchState, End: timer.StintWaits, WakeAt: clock(4), Plan: storedDispatchPlan,
	})
}
