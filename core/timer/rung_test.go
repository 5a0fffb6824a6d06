package timer_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
)

// A round knows the first attempt of the rounds before it, for the same due time.
func TestTheFirstAttemptOfEarlierRounds(t *testing.T) {
	t.Parallel()
	due, late := wire.At(noon), int64(3)
	again := timer.Spec{Memo: timer.Memo{DueAt: due}, Ongoing: &delivery.Report{Attempt: 2}}.TriedAgain(&late)
	require.Equal(t, &timer.Rung{DueAt: due, LatenessMS: &late, Ended: true}, again.Rung)
	require.Equal(t, 1, again.Round)
	require.Nil(t, again.Ongoing)

	paused := again
	paused.Ongoing = &delivery.Report{Attempt: 1, LatenessMS: &late}
	anew := paused.AnotherRound(paused)
	require.Equal(t, again.Rung, anew.Rung, "it had ended before")
	require.Equal(t, 2, anew.Round)
	require.Nil(t, anew.Ongoing)
	for name, made := range map[string]*delivery.Report{"nothing was made": nil, "no attempt was made": {}} {
		before := again
		before.Ongoing = made
		require.Equal(t, again.Rung, before.AnotherRound(before).Rung, name)
	}

	fired, err := anew.Apply(timer.Change{Ring: true, At: due.Add(time.Minute)})
	require.NoError(t, err)
	require.Nil(t, fired.Rung.For(fired.DueAt), "it has another due time")
	require.False(t, fired.Rung.EndedFor(fired.DueAt))
	fired.Ongoing = &delivery.Report{Attempt: 1, LatenessMS: &late}
	require.Equal(t, &timer.Rung{DueAt: fired.DueAt, LatenessMS: &late}, fired.AnotherRound(fired).Rung)
}
