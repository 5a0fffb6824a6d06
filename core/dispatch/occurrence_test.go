package dispatch_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/recurrence"
	"github.com/wakecall/wakecall/core/wire"
)

// hourly returns a dispatch whose first occurrence has ended.
func hourly() dispatch.Memo {
	booked := wire.At(noon)
	return dispatch.Memo{
		Order:  dispatch.Dispatch{Recurrence: &recurrence.Rule{Every: ptr(wire.Duration(time.Hour)), MaxOccurrences: ptr(4)}, WarmUp: wire.Duration(time.Minute)},
		Status: dispatch.Failed, Cursor: recurrence.Cursor{Booked: booked}, Occurrence: 1, DueAt: booked.Add(time.Hour), Run: "r",
		StartedAt: booked.Add(time.Hour), FinishedAt: booked.Add(70 * time.Minute), Total: &dispatch.Counts{Done: 7, Failed: 2},
		Failed: []dispatch.Part{{Prefix: "p/", Pages: 1}}, Stopped: []dispatch.ShardView{{Shard: 3}}, Plan: dispatch.Plan{Active: []int{1}, Quiet: true},
	}
}

// A recurring dispatch shows the end of its last occurrence, and counts the next one separately.
func TestADispatchRecurs(t *testing.T) {
	t.Parallel()
	memo, booked := hourly(), wire.At(noon)
	next, ok := memo.NextOccurrence(memo.FinishedAt)
	require.True(t, ok)
	require.Equal(t, []any{2, booked.Add(2 * time.Hour), dispatch.Scheduled}, []any{next.Occurrence, next.DueAt, next.Status})
	require.Equal(t, wire.Duration(time.Minute), next.Plan.WarmUp, "each one warms up")
	require.Empty(t, next.Failed)
	require.Empty(t, next.Stopped)
	require.Empty(t, next.Plan.Active)
	require.False(t, next.Plan.Quiet, "its history is short again")
	require.False(t, memo.RetryFailed(memo.FinishedAt).Plan.Quiet, "as is that of a retry")
	require.Nil(t, next.Total)
	view := next.View()
	require.Equal(t, []any{1, dispatch.Failed, 7, 2}, []any{view.Last.Occurrence, view.Last.Status, view.Last.Done, view.Last.Failed})
	require.Equal(t, memo.Stopped, view.Last.Shards)
	require.Empty(t, view.Shards)
	id, pages := next.LastFailed()
	require.Equal(t, []any{1, memo.Failed}, []any{id.Occurrence, pages}, "they have the ids of their occurrence")
	next.StartedAt = next.DueAt
	id, pages = next.LastFailed()
	require.Equal(t, 2, id.Occurrence)
	require.Empty(t, pages)

	next.Cursor.Rung, next.Occurrence = 3, 4
	_, ok = next.NextOccurrence(next.DueAt)
	require.False(t, ok, "it was the last one")
	memo.StartedAt = 0
	_, ok = memo.NextOccurrence(memo.FinishedAt)
	require.False(t, ok, "it never began")
}

func TestADispatchThatFailedIsPaused(t *testing.T) {
	t.Parallel()
	memo, booked := hourly(), wire.At(noon)
	memo.Order.Recurrence.OnFailure = recurrence.OnFailurePause
	next, _ := memo.NextOccurrence(memo.FinishedAt)
	require.True(t, next.Plan.Paused)
	require.Equal(t, dispatch.Paused, next.Status)
	next.Plan.Paused = false
	next, ok := next.Resumed(booked.Add(5*time.Hour + time.Minute))
	require.True(t, ok)
	require.Equal(t, []any{2, booked.Add(6 * time.Hour), dispatch.Scheduled}, []any{next.Occurrence, next.DueAt, next.Status}, "what passed was dropped")
	retried := next
	retried.Round, retried.DueAt = 1, 5
	retried, ok = retried.Resumed(booked)
	require.True(t, ok)
	require.Equal(t, wire.Instant(5), retried.DueAt)
	next.Order.Recurrence.EndAt = booked.Add(6 * time.Hour)
	_, ok = next.Resumed(booked.Add(7 * time.Hour))
	require.False(t, ok, "its rule ended meanwhile")

	memo.Status = dispatch.Done
	next, _ = memo.NextOccurrence(memo.FinishedAt)
	require.False(t, next.Plan.Paused)
}

func TestWhenADispatchBegins(t *testing.T) {
	t.Parallel()
	memo := hourly()
	require.Equal(t, memo.DueAt, memo.BeginsAt())
	memo.Order.Recurrence.Jitter = wire.Duration(time.Minute)
	require.Greater(t, memo.BeginsAt(), memo.DueAt)
	require.Less(t, memo.BeginsAt(), memo.DueAt.Add(time.Minute))
	memo.Order.Recurrence = nil
	require.Equal(t, memo.DueAt, memo.BeginsAt())
}

// A recurring dispatch that ended between two occurrences has the items of the last one tried
// again, under the ids that they had.
func TestItemsOfTheLastOccurrenceAreTriedAgain(t *testing.T) {
	t.Parallel()
	memo := hourly()
	next, ok := memo.NextOccurrence(memo.FinishedAt)
	require.True(t, ok)
	next.Status = dispatch.Cancelled
	id, pages := next.LastFailed()
	again := next.RetryFailed(memo.FinishedAt)
	require.Equal(t, []any{id, pages}, []any{again.ID(), again.Failed})
	require.Equal(t, []any{1, 2, memo.Stopped}, []any{again.Round, again.Retried, again.Stopped})
	require.Equal(t, dispatch.Counts{Found: 7, Done: 7}, again.Before)
	view := again.View()
	require.Nil(t, view.Last, "it is this one")
	require.Equal(t, []any{1, 7, 0}, []any{view.Occurrence, view.Done, view.Failed})
}
