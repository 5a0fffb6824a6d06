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
	require.Equal(t, &timer.Rung{DueAt: due, LatenessMS: &late, Ended: true, Attempts: 1}, anew.Rung, "it had ended before")
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
	require.Equal(t, &timer.Rung{DueAt: fired.DueAt, LatenessMS: &late, Attempts: 2}, fired.AnotherRound(fired).Rung)
	require.Zero(t, fired.TriedAgain(&late).Rung.Unrecorded(), "the end before has them")
}

// An end has the attempts of the rounds before it, and their first attempt if none followed.
func TestTheEndAfterEarlierRounds(t *testing.T) {
	t.Parallel()
	due, late := wire.At(noon), int64(3)
	ends := func(rung *timer.Rung, attempts int) timer.Outcome {
		return timer.Spec{Memo: timer.Memo{DueAt: due}, Rung: rung}.Ended(timer.Outcome{Status: timer.Expired, Attempts: attempts})
	}
	sent, unsent := &timer.Rung{DueAt: due, LatenessMS: &late, Attempts: 2}, &timer.Rung{DueAt: due, Attempts: 2}
	require.Equal(t, timer.Outcome{Status: timer.Expired}, ends(nil, 0))
	require.Equal(t, timer.Outcome{Status: timer.Expired, Earlier: 2, LatenessMS: &late}, ends(sent, 0))
	require.Equal(t, timer.Outcome{Status: timer.Expired, Earlier: 2, Unsent: true}, ends(unsent, 0))
	require.Equal(t, timer.Outcome{Status: timer.Expired, Earlier: 2, Attempts: 1}, ends(unsent, 1))
	require.Equal(t, timer.Outcome{Status: timer.Expired, Earlier: 2}, ends(&timer.Rung{DueAt: due + 1, LatenessMS: &late, Attempts: 2}, 0), "that was for another due time")
}

// The attempts of an interrupted occurrence count once: by its outcome if it has one.
func TestAttemptsBeforeAnOccurrence(t *testing.T) {
	t.Parallel()
	before := timer.Spec{Memo: timer.Memo{Series: &timer.Series{}}, Ongoing: &delivery.Report{Attempt: 2}}
	fired := before.AnotherRound(before)
	require.Equal(t, 2, fired.Rung.Unrecorded())
	fired.Ongoing = &delivery.Report{Attempt: 1}
	given := fired
	given.Series = &timer.Series{Began: true}
	given = given.AnotherRound(fired)
	require.Equal(t, 2, given.Rung.Unrecorded(), "its outcome has the last one")
	require.Zero(t, given.BeginRun().Rung.Unrecorded())
	require.False(t, given.BeginRun().Series.Began)
	require.Equal(t, 2, given.Rung.Unrecorded(), "the run before keeps it")
	require.Equal(t, 2, fired.BeginRun().Rung.Unrecorded(), "no occurrence has ended")
}
