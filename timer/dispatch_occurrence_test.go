package timer_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/timer"
)

// hourly is a dispatch whose first occurrence has ended.
func hourly() timer.DispatchMemo {
	booked := timer.At(noon)
	return timer.DispatchMemo{
		Order:  timer.Dispatch{Recurrence: &timer.Recurrence{Every: ptr(timer.Duration(time.Hour)), MaxOccurrences: ptr(4)}, WarmUp: timer.Duration(time.Minute)},
		Status: timer.DispatchFailed, Cursor: timer.Cursor{Booked: booked}, Occurrence: 1, DueAt: booked.Add(time.Hour), Run: "r",
		StartedAt: booked.Add(time.Hour), FinishedAt: booked.Add(70 * time.Minute), Total: &timer.DispatchCounts{Done: 7, Failed: 2},
		Failed: []timer.DispatchPart{{Prefix: "p/", Pages: 1}}, Stopped: []timer.DispatchShardView{{Shard: 3}}, Plan: timer.DispatchPlan{Active: []int{1}},
	}
}

// A recurring dispatch says how its last occurrence ended, and what is counted of the next
// one is that one's.
func TestADispatchRecurs(t *testing.T) {
	t.Parallel()
	memo, booked := hourly(), timer.At(noon)
	next, ok := memo.Recur(memo.FinishedAt)
	require.True(t, ok)
	require.Equal(t, []any{2, booked.Add(2 * time.Hour), timer.DispatchScheduled}, []any{next.Occurrence, next.DueAt, next.Status})
	require.Equal(t, timer.Duration(time.Minute), next.Plan.WarmUp, "each one warms up")
	require.Empty(t, next.Failed)
	require.Empty(t, next.Stopped)
	require.Empty(t, next.Plan.Active)
	require.Nil(t, next.Total)
	view := next.View()
	require.Equal(t, []any{1, timer.DispatchFailed, 7, 2}, []any{view.Last.Occurrence, view.Last.Status, view.Last.Done, view.Last.Failed})
	require.Equal(t, memo.Stopped, view.Last.Shards)
	require.Empty(t, view.Shards)
	id, pages := next.LastFailed()
	require.Equal(t, []any{1, memo.Failed}, []any{id.Occurrence, pages}, "they have the ids of their occurrence")
	next.StartedAt = next.DueAt
	id, pages = next.LastFailed()
	require.Equal(t, 2, id.Occurrence)
	require.Empty(t, pages)

	next.Cursor.Rung, next.Occurrence = 3, 4
	_, ok = next.Recur(next.DueAt)
	require.False(t, ok, "it was the last one")
	memo.StartedAt = 0
	_, ok = memo.Recur(memo.FinishedAt)
	require.False(t, ok, "it never began")
}

func TestADispatchThatFailedIsPaused(t *testing.T) {
	t.Parallel()
	memo, booked := hourly(), timer.At(noon)
	memo.Order.Recurrence.OnFailure = timer.OnFailurePause
	next, _ := memo.Recur(memo.FinishedAt)
	require.True(t, next.Plan.Paused)
	require.Equal(t, timer.DispatchPaused, next.Status)
	next.Plan.Paused = false
	next, ok := next.Resumed(booked.Add(5*time.Hour + time.Minute))
	require.True(t, ok)
	require.Equal(t, []any{2, booked.Add(6 * time.Hour), timer.DispatchScheduled}, []any{next.Occurrence, next.DueAt, next.Status}, "what passed was dropped")
	retried := next
	retried.Round, retried.DueAt = 1, 5
	retried, ok = retried.Resumed(booked)
	require.True(t, ok)
	require.Equal(t, timer.Instant(5), retried.DueAt)
	next.Order.Recurrence.EndAt = booked.Add(6 * time.Hour)
	_, ok = next.Resumed(booked.Add(7 * time.Hour))
	require.False(t, ok, "its rule ended meanwhile")

	memo.Status = timer.DispatchDone
	next, _ = memo.Recur(memo.FinishedAt)
	require.False(t, next.Plan.Paused)
}

func TestWhenADispatchBegins(t *testing.T) {
	t.Parallel()
	memo := hourly()
	require.Equal(t, memo.DueAt, memo.BeginsAt())
	memo.Order.Recurrence.Jitter = timer.Duration(time.Minute)
	require.Greater(t, memo.BeginsAt(), memo.DueAt)
	require.Less(t, memo.BeginsAt(), memo.DueAt.Add(time.Minute))
	memo.Order.Recurrence = nil
	require.Equal(t, memo.DueAt, memo.BeginsAt())
}
