package bookings

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/recurrence"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
)

// What is tried again of a rule rings, and whether the rule goes on after it depends on who
// ended it: its receiver did for good.
func TestARuleThatItsReceiverStoppedIsNotRevived(t *testing.T) {
	t.Parallel()
	every, now := wire.Duration(time.Hour), time.Now()
	booked, err := timer.Admit(wire.Key{BusinessType: "order", BusinessID: "1"}, timer.Terms{Recurrence: &recurrence.Rule{Every: &every}}, "b", now)
	require.NoError(t, err)
	delivered := timer.Outcome{Status: timer.Delivered}
	for _, stopped := range []bool{true, false} {
		again := afresh(booked, stopped)
		memo, ok := again.NextOccurrence(booked.DueAt.Add(time.Minute))
		require.True(t, ok)
		require.Equal(t, booked.DueAt, memo.DueAt)
		_, continues := again.AfterOccurrence(booked.Key, delivered, booked.DueAt.Add(time.Minute))
		require.Equal(t, !stopped, continues)
	}
	stopped := afresh(booked, true)
	twice := afresh(stopped, false)
	_, continues := twice.AfterOccurrence(booked.Key, delivered, booked.DueAt)
	require.False(t, continues, "it failed again, by itself")
	require.Empty(t, stopped.Upcoming(5, now))
	require.NotSame(t, booked.Series, stopped.Series)
	fired, err := stopped.Apply(timer.Change{Ring: true, Interrupts: true, At: booked.DueAt})
	require.NoError(t, err)
	memo, ok := fired.AfterOccurrence(booked.Key, delivered, booked.DueAt)
	require.True(t, ok, "the interrupted one rings")
	_, ok = memo.AfterOccurrence(booked.Key, delivered, booked.DueAt)
	require.False(t, ok)
	anew, err := stopped.Apply(timer.Change{Terms: timer.Terms{Recurrence: &recurrence.Rule{Every: &every}, ExpiresAfter: &every}, At: booked.DueAt})
	require.NoError(t, err)
	_, ok = anew.AfterOccurrence(booked.Key, delivered, anew.DueAt)
	require.True(t, ok, "whoever gives it a new rule means it")
}

// A run that tries an occurrence again did not begin because another one had ended. Else that one
// would be listed twice.
func TestARedeliveryRepeatsNoOccurrence(t *testing.T) {
	t.Parallel()
	d := newFixture(t, orders())
	rule := every(time.Hour)
	rule.MaxOccurrences = new(2)
	d.booked(t, Request{Key: order1, Terms: timer.Terms{Recurrence: rule}})
	d.worker.Occur(t, order1ID)
	second, err := d.reader.Run(t.Context(), order1, "")
	require.NoError(t, err)
	require.True(t, second.Memo.Series.Began)
	d.worker.Fail(order1ID)
	again, err := d.Redeliver(t.Context(), order1, "")
	require.NoError(t, err)
	require.Equal(t, 2, again.Occurrence)
	require.Equal(t, 1, again.LastOccurrence.Occurrence)
	require.False(t, again.Memo.Series.Began)
}
