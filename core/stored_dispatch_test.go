package core_test

import (
	"testing"
	"time"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/recurrence"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/golden"
)

var (
	storedDispatchOrder = dispatch.Dispatch{
		Key: wire.Key{BusinessType: "reminder", BusinessID: "d-1"}, PerSecond: 250.5, DueAt: ptr(clock(2)),
		Delay: ptr(wire.Duration(time.Hour)), Recurrence: &storedRecurrence, LatestAt: ptr(clock(5)), WarmUp: wire.Duration(time.Minute),
		Per: dispatch.PerPage, PageSize: 50, Callback: &storedCallback, Retry: &storedRetry,
		Loader: &dispatch.Loader{URL: "https://shop.example/items", Shards: 25, PageSize: 100, Timeout: wire.Duration(5 * time.Second)},
	}

	storedDispatchPlan = dispatch.Plan{
		Changes: 3, PerSecond: 250.5, WarmUp: wire.Duration(time.Minute), Paused: true, Began: clock(2), Active: []int{1, 3}, Quiet: true,
	}

	storedDispatchCounts = dispatch.Counts{Found: 90, Done: 70, Failed: 5, Retrying: 6, InFlight: 7, Callbacks: 99}

	storedStopped = []dispatch.ShardView{{
		Shard: 2, Status: dispatch.ShardStopped, WaitsFor: delivery.WaitsForTurn, Items: 90, Done: 70, Failed: 5, Retrying: 6, InFlight: 7, LagMS: 12, Problem: &storedFailure,
	}}

	storedBehind = dispatch.Behind{Since: clock(3), Last: clock(4), Why: dispatch.ShortOfSlots}

	storedDispatchParts = []dispatch.Part{{Prefix: "dispatch-page:reminder/d-1/", Pages: 9}}

	storedDispatchState = dispatch.State{
		Page: 3, Base: 200, Cursor: "c-3", End: true,
		Open:   []dispatch.Open{{Attempts: 1, Page: 2, Base: 100, Cursor: "c-2", Size: 100, Sum: 7, Next: 40, Ahead: []byte{5}}},
		Ladder: []dispatch.Queue{{Head: 1, Tail: 4, Due: clock(4)}}, GivenUp: 2,
		Cycle: dispatch.Cycle{Seen: "c-1", Power: 2, Steps: 1}, Counts: storedDispatchCounts, Problem: &storedFailure,
		LoaderTries: 2, Sent: dispatch.Recent{At: 1_800_000_000, Seconds: []int{30, 31}}, Last: clock(3), LagMS: 12, Told: clock(3), Claimed: true, Waits: clock(4), Try: 2,
		Behind: storedBehind,
	}
)

// The stored form of a dispatch.
func TestStoredDispatch(t *testing.T) {
	t.Parallel()
	golden.Check(t, "dispatch_memo", dispatch.Memo{
		Order: storedDispatchOrder, Fingerprint: "5f0c", CreatedAt: clock(0), Status: dispatch.Running, DueAt: clock(2),
		Occurrence: 4, StartedAt: clock(2), FinishedAt: clock(6), Plan: storedDispatchPlan, SentFor: wire.Duration(time.Minute), HeldAt: clock(4), Behind: storedBehind, Run: "run-1", PagesOfRun: true, Items: ptr(100), Upload: "UPLOAD1", Shards: 8,
		Total: &storedDispatchCounts, Before: storedDispatchCounts, Failed: storedDispatchParts,
		Cursor: recurrence.Cursor{Booked: clock(0), Last: clock(1), Ended: clock(2), Rung: 4, Extra: 1}, Round: 1, Retried: 5,
		Stopped: storedStopped, Last: &dispatch.Occurrence{Pages: storedDispatchParts, End: dispatch.End{
			Occurrence: 3, Status: dispatch.Failed, Done: 80, Failed: 6, StartedAt: clock(0), FinishedAt: clock(1), Shards: storedStopped,
		}},
	})
	golden.Check(t, "dispatch_change", dispatch.Change{PerSecond: ptr(12.5), Paused: ptr(true)})
	golden.Check(t, "dispatch_sweep", dispatch.Cleanup{
		Delete: storedDispatchParts, Close: storedDispatchParts, Uploads: "dispatch-page:reminder/d-1/run-1/", Yield: "run-1", BusinessType: "reminder",
	})
}

// The stored form of a shard: its input, its heartbeats and the result of a shard run.
func TestStoredDispatchShard(t *testing.T) {
	t.Parallel()
	golden.Check(t, "dispatch_state", storedDispatchState)
	golden.Check(t, "dispatch_shard", dispatch.Shard{
		ID: dispatch.ID{Key: storedDispatchOrder.Key, Occurrence: 4}, Number: 3, Stored: "dispatch-shard:reminder/d-1/4.0/3",
		Source: dispatch.Source{Parts: storedDispatchParts, First: 2, Skip: 40, Items: 300},
		Plan:   storedDispatchPlan, State: storedDispatchState,
	})
	golden.Check(t, "dispatch_stint", dispatch.ShardRunResult{
		State: storedDispatchState, End: dispatch.RunWaits, WakeAt: clock(4), Plan: storedDispatchPlan,
	})
}
