package job_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/job"
	"github.com/wakecall/wakecall/core/recurrence"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
)

func TestBulkCheck(t *testing.T) {
	t.Parallel()
	cancel := job.Bulk{ID: "job-1", Operation: job.Cancel, Filter: timer.Filter{BusinessType: "x"}, PerSecond: job.DefaultRate}
	move, edit, redeliver := cancel, cancel, cancel
	move.Operation, move.Shift = job.Move, wire.Duration(-30*time.Minute)
	edit.Operation, edit.Edit = job.Edit, &timer.Terms{Priority: ptr(2)}
	redeliver.Operation, redeliver.Filter.Status, redeliver.Filter.EndedFrom = job.Redeliver, timer.Failed, 1
	for _, order := range []job.Bulk{cancel, move, edit, redeliver} {
		require.Empty(t, order.Check(time.Now()), order.Operation)
	}
	for _, status := range []timer.Status{timer.Scheduled, timer.Paused, timer.Delivering} {
		cancel.Filter.Status = status
		require.Empty(t, cancel.Check(time.Now()), status)
	}
	due, delay, wall := clock(1), wire.Duration(time.Hour), wire.Wall(clock(1))
	for name, c := range map[string]struct {
		order   job.Bulk
		alter   func(*job.Bulk)
		pointer string
	}{
		"id":                  {cancel, func(b *job.Bulk) { b.ID = "a/b" }, "/id"},
		"no id":               {cancel, func(b *job.Bulk) { b.ID = "" }, "/id"},
		"own id":              {cancel, func(b *job.Bulk) { b.ID = job.OwnID + "order:1~1" }, "/id"},
		"long id":             {cancel, func(b *job.Bulk) { b.ID = strings.Repeat("x", job.MaxID+1) }, "/id"},
		"operation":           {cancel, func(b *job.Bulk) { b.Operation = "delete" }, "/operation"},
		"business type":       {cancel, func(b *job.Bulk) { b.Filter.BusinessType = "A'" }, "/filter/business_type"},
		"unknown status":      {cancel, func(b *job.Bulk) { b.Filter.Status = "lost" }, "/filter/status"},
		"ended":               {cancel, func(b *job.Bulk) { b.Filter.Status = timer.Failed }, "/filter/status"},
		"ended from":          {move, func(b *job.Bulk) { b.Filter.EndedFrom = 1 }, "/filter/ended_from"},
		"ended to":            {edit, func(b *job.Bulk) { b.Filter.EndedTo = 1 }, "/filter/ended_to"},
		"not failed":          {redeliver, func(b *job.Bulk) { b.Filter.Status = timer.Scheduled }, "/filter/status"},
		"a shift of a cancel": {cancel, func(b *job.Bulk) { b.Shift = 1 }, "/shift"},
		"no shift":            {move, func(b *job.Bulk) { b.Shift = 0 }, "/shift"},
		"a long shift":        {move, func(b *job.Bulk) { b.Shift = math.MaxInt64 }, "/shift"},
		"a long shift back":   {move, func(b *job.Bulk) { b.Shift = wire.Duration(-wire.MaxAhead - 1) }, "/shift"},
		"an edit of a cancel": {cancel, func(b *job.Bulk) { b.Edit = edit.Edit }, "/edit"},
		"no edit":             {edit, func(b *job.Bulk) { b.Edit = nil }, "/edit"},
		"an edit of nothing":  {edit, func(b *job.Bulk) { b.Edit = &timer.Terms{} }, "/edit"},
		"an edit of the time": {edit, func(b *job.Bulk) { b.Edit = &timer.Terms{DueAt: ptr(wire.At(time.Now()))} }, "/edit/due_at"},
		"of the delay":        {edit, func(b *job.Bulk) { b.Edit = &timer.Terms{Delay: &delay} }, "/edit/delay"},
		"a wrong edit":        {edit, func(b *job.Bulk) { b.Edit = &timer.Terms{Priority: ptr(9)} }, "/edit/priority"},
		"a count of a count":  {cancel, func(b *job.Bulk) { b.DryRun, b.Counted = true, "job-0" }, "/counted"},
		"no rate":             {cancel, func(b *job.Bulk) { b.PerSecond = 0 }, "/per_second"},
		"too slow":            {cancel, func(b *job.Bulk) { b.PerSecond = job.MinRate / 2 }, "/per_second"},
		"no number":           {cancel, func(b *job.Bulk) { b.PerSecond = math.NaN() }, "/per_second"},
		"too fast":            {cancel, func(b *job.Bulk) { b.PerSecond = job.MaxRate + 1 }, "/per_second"},
	} {
		order := c.order
		c.alter(&order)
		errs := order.Check(time.Now())
		require.Len(t, errs, 1, "%s: %v", name, errs)
		require.Equal(t, c.pointer, errs[0].Pointer, name)
	}
	edit.Edit = &timer.Terms{DueAt: &due, DueLocal: &wall, Timezone: "UTC", Delay: &delay, MaxWait: &delay, Recurrence: &recurrence.Rule{}}
	named := map[string]bool{}
	for _, fieldErr := range edit.Check(time.Now()) {
		named[fieldErr.Pointer] = true
	}
	for _, field := range []string{"due_at", "due_local", "timezone", "delay", "max_wait", "recurrence"} {
		require.True(t, named["/edit/"+field], field)
	}
}

func TestBulkTerms(t *testing.T) {
	t.Parallel()
	move := job.Bulk{ID: "a", Operation: job.Move, Shift: wire.Duration(-time.Hour)}
	require.Equal(t, timer.Terms{DueAt: ptr(clock(1))}, move.Terms(clock(2), clock(2).Time()))
	edit := job.Bulk{Operation: job.Edit, Edit: &timer.Terms{Priority: ptr(2)}}
	require.Equal(t, *edit.Edit, edit.Terms(clock(2), clock(2).Time()))
	require.True(t, job.Bulk{Operation: job.Cancel}.Terms(clock(2), clock(2).Time()).IsZero())
	move.Shift = wire.Duration(-wire.MaxAhead)
	long := move.Terms(clock(2), clock(2).Time())
	require.Empty(t, long.CheckChange(clock(2).Time().Add(time.Millisecond)), "what comes to lie in the past rings at once, however long ago")

	signed := move.Signed()
	require.Equal(t, signed, signed.Signed())
	other := move
	other.Shift++
	require.NotEqual(t, signed.Fingerprint, other.Signed().Fingerprint)
	require.Equal(t, "bulk:a", move.ChangeFingerprint())
}

// A redelivery does not cover failures after its order.
func TestBulkUntil(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		operation        job.Operation
		given, now, want wire.Instant
	}{
		{job.Redeliver, 0, 5, 5},
		{job.Redeliver, 9, 5, 5},
		{job.Redeliver, 3, 5, 3},
		{job.Cancel, 0, 5, 0},
	} {
		order := job.Bulk{Operation: c.operation, Filter: timer.Filter{EndedTo: c.given}}
		require.Equal(t, c.want, order.AsOf(c.now).Filter.EndedTo)
	}
}

func TestBulkOutcomesOfAPage(t *testing.T) {
	t.Parallel()
	p := job.BulkProgress{Outcomes: []job.Outcome{{Result: job.ResultDone}}}
	require.Empty(t, p.OutcomesOf(0), "they are those of the page before")
	p.After = "run-1"
	require.Len(t, p.OutcomesOf(0), 1)
	p.Page = job.Token(3)
	require.Equal(t, 3, p.At())
	require.Empty(t, p.OutcomesOf(0))
}

func TestWithin(t *testing.T) {
	t.Parallel()
	odd := errors.New("odd")
	require.Equal(t, odd, wire.Within("/edit", odd))
	err := wire.Within("/edit", wire.FieldErrors{{Pointer: "/priority"}}.Err())
	refusal, ok := errors.AsType[*wire.Error](err)
	require.True(t, ok)
	require.Equal(t, "/edit/priority", refusal.FieldErrors[0].Pointer)
}
