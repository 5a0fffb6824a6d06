package timer_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/recurrence"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
)

// The effects of changes on a paused one-shot timer, its pause and its ring.
func TestAPausedTimerMeets(t *testing.T) {
	t.Parallel()
	yes, no, hour, day := true, false, wire.Duration(time.Hour), wire.Duration(24*time.Hour)
	due, later := wire.At(noon.Add(time.Hour)), wire.At(noon.Add(2*time.Hour))
	rule := recurrence.Rule{Every: &hour}
	stop, goOn := &timer.Pause{Stop: true, Note: "unpaid"}, &timer.Pause{Note: "paid"}
	put := func(terms timer.Terms) timer.Change {
		return timer.Change{Replace: true, Terms: terms, Fingerprint: terms.Fingerprint()}
	}
	booked := timer.Terms{DueAt: &due, Paused: &yes}
	for name, c := range map[string]struct {
		booking timer.Terms
		changes []timer.Change
		paused  bool
		due     wire.Instant
		note    string
		// revision is the one after the changes; refused is the pointer of a refusal.
		revision int
		refused  string
	}{
		"nothing":                             {booking: booked, paused: true, due: due, revision: 1},
		"booked as not paused":                {booking: timer.Terms{DueAt: &due, Paused: &no}, due: due, revision: 1},
		"a pause":                             {timer.Terms{DueAt: &due}, []timer.Change{{Pause: stop}}, true, due, "unpaid", 2, ""},
		"a resumption":                        {booked, []timer.Change{{Pause: goOn}}, false, due, "paid", 2, ""},
		"a pause after a resumption":          {booked, []timer.Change{{Pause: goOn}, {Pause: stop}}, true, due, "unpaid", 3, ""},
		"a move":                              {booked, []timer.Change{{Terms: timer.Terms{DueAt: &later}}}, true, later, "", 2, ""},
		"a move that resumes":                 {booked, []timer.Change{{Terms: timer.Terms{DueAt: &later, Paused: &no}}}, false, later, "", 2, ""},
		"an edit":                             {booked, []timer.Change{{Terms: timer.Terms{Priority: ptr(1)}}}, true, due, "", 2, ""},
		"an edit that pauses":                 {timer.Terms{DueAt: &due}, []timer.Change{{Terms: timer.Terms{Paused: &yes}}}, true, due, "", 2, ""},
		"an edit that resumes":                {booked, []timer.Change{{Terms: timer.Terms{Paused: &no}}}, false, due, "", 2, ""},
		"a ring by hand":                      {booked, []timer.Change{{Ring: true}}, false, wire.At(noon), "", 2, ""},
		"a wake":                              {booked, []timer.Change{{Wake: true}}, true, due, "", 1, ""},
		"the same PUT":                        {booked, []timer.Change{put(booked)}, true, due, "", 1, ""},
		"a PUT that says nothing of it":       {booked, []timer.Change{put(timer.Terms{DueAt: &due})}, false, due, "", 2, ""},
		"the same PUT once it was paused":     {timer.Terms{DueAt: &due}, []timer.Change{put(timer.Terms{DueAt: &due}), {Pause: stop}, put(timer.Terms{DueAt: &due})}, false, due, "", 3, ""},
		"a PUT that pushes out, and pauses":   {timer.Terms{Delay: &hour, MaxWait: &day, Paused: &yes}, []timer.Change{put(timer.Terms{Delay: &hour, MaxWait: &day, Paused: &yes})}, true, due, "", 2, ""},
		"a PUT that pushes out":               {timer.Terms{Delay: &hour, MaxWait: &day, Paused: &yes}, []timer.Change{put(timer.Terms{Delay: &hour, MaxWait: &day})}, false, due, "", 2, ""},
		"a PUT with a rule":                   {booked, []timer.Change{put(timer.Terms{Recurrence: &rule})}, false, due, "", 2, ""},
		"a PATCH with a rule":                 {booked, []timer.Change{{Terms: timer.Terms{Recurrence: &rule}}}, false, due, "", 2, ""},
		"a latest time":                       {booked, []timer.Change{{Terms: timer.Terms{LatestAt: &later}}}, true, due, "", 2, ""},
		"a latest time before it is due":      {booked, []timer.Change{{Terms: timer.Terms{LatestAt: ptr(wire.At(noon.Add(time.Minute)))}}}, true, due, "", 1, "/latest_at"},
		"a rule that is paused otherwise":     {timer.Terms{Recurrence: &rule}, []timer.Change{{Terms: timer.Terms{Paused: &yes}}}, false, due, "", 1, "/paused"},
		"a paused rule that becomes one time": {timer.Terms{Recurrence: &recurrence.Rule{Every: &hour, Paused: true}}, []timer.Change{put(timer.Terms{DueAt: &later})}, false, later, "", 2, ""},
		"a rule that becomes one paused time": {timer.Terms{Recurrence: &rule}, []timer.Change{put(timer.Terms{DueAt: &later, Paused: &yes})}, true, later, "", 2, ""},
	} {
		spec, err := timer.Admit(wire.Key{BusinessType: "x", BusinessID: "1"}, c.booking, "b", noon)
		require.NoError(t, err, name)
		for _, change := range c.changes {
			change.At = wire.At(noon)
			next, wrong := spec.Apply(change)
			if err = wrong; err == nil {
				spec = next
			}
		}
		require.Equal(t, c.refused, refusedPointer(err), name)
		require.Equal(t, []any{c.paused, c.paused, c.due, c.revision}, []any{spec.Paused(), spec.Resting(), spec.DueAt, spec.Revision}, name)
		require.Equal(t, c.note, spec.Note, name)
	}
}

// refusedPointer returns the first field that an error refuses; "" if there is none.
func refusedPointer(err error) string {
	if refusal, ok := errors.AsType[*wire.Error](err); ok && len(refusal.FieldErrors) > 0 {
		return refusal.FieldErrors[0].Pointer
	}
	return ""
}

// A recurrence has its own paused.
func TestPausedGoesWithASingleDueTime(t *testing.T) {
	t.Parallel()
	yes, hour := true, wire.Duration(time.Hour)
	errs := timer.Terms{Recurrence: &recurrence.Rule{Every: &hour}, Paused: &yes}.Check(noon)
	require.Equal(t, "/paused", errs[0].Pointer)
}

// A delivery in progress yields to a pause, and to no other change without one.
func TestAPauseDuringADelivery(t *testing.T) {
	t.Parallel()
	memo := timer.Memo{DueAt: wire.At(noon)}
	paused := memo
	paused.Suspended = true
	require.False(t, memo.SameOccurrence(paused))
	require.False(t, paused.SameOccurrence(memo))
	require.True(t, paused.SameOccurrence(paused))
}

// A paused timer expires at its own latest time only.
func TestWhenAPausedTimerExpires(t *testing.T) {
	t.Parallel()
	due := wire.At(noon)
	hour := wire.Duration(time.Hour)
	for name, c := range map[string]struct {
		memo timer.Memo
		want wire.Instant
	}{
		"none":            {timer.Memo{DueAt: due, Suspended: true}, 0},
		"latest_at":       {timer.Memo{DueAt: due, Suspended: true, LatestAt: due + 7}, due + 7},
		"expires_after":   {timer.Memo{DueAt: due, Suspended: true, ExpiresAfter: hour}, due.Add(time.Hour)},
		"not paused":      {timer.Memo{DueAt: due, LatestAt: due + 7}, 0},
		"a recurring one": {timer.Memo{DueAt: due, ExpiresAfter: hour, Series: &timer.Series{Paused: true}}, 0},
	} {
		require.Equal(t, c.want, c.memo.RestsUntil(), name)
		if c.want != 0 {
			require.False(t, c.memo.PastLatest(c.want-1), name)
			require.True(t, c.memo.PastLatest(c.want), name)
		}
		require.Equal(t, c.want != 0, c.memo.PastLatest(due.Add(wire.MaxAhead)), name)
	}
}
