package workflows_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/workflows"
)

// inAnHour is a one-shot timer, paused or not.
func inAnHour(paused bool) timer.Terms {
	hour := wire.Duration(time.Hour)
	return timer.Terms{Delay: &hour, Paused: &paused}
}

// changedAt makes a change arrive that long after the booking, in the run that is cold then.
func (l *life) changedAt(after time.Duration, change timer.Change) {
	l.now = l.began.Add(after)
	first := true
	l.during = func(_ int, s *course) {
		if change.ID, change.At = "c"+after.String(), wire.At(l.began.Add(after)); first {
			s.woken(1, func() { s.signal(change) })
		}
		first = false
	}
}

func TestAPausedTimer(t *testing.T) {
	t.Parallel()
	stop, goOn := timer.Change{Pause: &timer.Pause{Stop: true}}, timer.Change{Pause: &timer.Pause{}}
	delivered := func(at time.Duration) func(*life) {
		return func(l *life) {
			require.Equal(l, []attempted{{0, 1, l.spec.DueAt.Time().Sub(l.began), at}}, l.attempts)
			require.Equal(l, timer.Delivered, l.outcome.Status)
		}
	}
	for name, c := range map[string]struct {
		terms timer.Terms
		given func(*life)
		runs  int
		check func(*life)
	}{
		"sleeps until somebody resumes it": {
			inAnHour(true), func(*life) {}, 0,
			func(l *life) { require.Equal(l, wire.MaxAhead, l.now.Sub(l.began)) },
		},
		"that is woken rings nothing": {
			inAnHour(true), func(l *life) { l.changedAt(2*time.Hour, timer.Change{Wake: true}) }, 1,
			func(l *life) {
				require.Empty(l, l.attempts)
				require.True(l, l.spec.Resting())
			},
		},
		"rings at its time where it is resumed before": {
			inAnHour(true), func(l *life) { l.changedAt(time.Minute, goOn) }, 2, delivered(time.Hour),
		},
		"rings at once where it is resumed later": {
			inAnHour(true), func(l *life) { l.changedAt(3*time.Hour, goOn) }, 2, delivered(3 * time.Hour),
		},
		"that was booked to ring is paused": {
			inAnHour(false), func(l *life) { l.changedAt(time.Minute, stop) }, 1,
			func(l *life) {
				require.Empty(l, l.attempts)
				require.Equal(l, time.Minute+wire.MaxAhead, l.now.Sub(l.began))
			},
		},
		"is moved, and stays paused": {
			inAnHour(true), func(l *life) {
				l.changedAt(time.Minute, timer.Change{Terms: timer.Terms{DueAt: ptr(wire.At(l.began.Add(2 * time.Hour)))}})
			}, 1,
			func(l *life) {
				require.True(l, l.spec.Resting())
				require.Equal(l, 2*time.Hour, l.spec.DueAt.Time().Sub(l.began))
			},
		},
		"is rung by hand": {
			inAnHour(true), func(l *life) { l.changedAt(time.Minute, timer.Change{Ring: true}) }, 2, delivered(time.Minute),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := book(t, c.terms)
			c.given(l)
			l.play(c.runs)
			c.check(l)
		})
	}
}

// A pause calls a pending retry off. After the resume the delivery starts again, under its
// webhook id.
func TestAPauseOnTheLadder(t *testing.T) {
	t.Parallel()
	l := book(t, inAnHour(false))
	id := l.spec.WebhookID()
	onceOnItsLadder(timer.Change{Pause: &timer.Pause{Stop: true, Note: "closed"}})(l)
	l.play(1)
	require.Len(t, l.attempts, 1)
	require.True(t, l.spec.Resting())
	require.Nil(t, l.spec.Ongoing)
	require.Equal(t, []any{"closed", 1}, []any{l.spec.Note, l.spec.Round})
	require.Equal(t, &timer.Rung{DueAt: l.spec.DueAt, LatenessMS: ptr(int64(0)), Attempts: 1}, l.spec.Rung, "its first attempt was punctual")
	l.waits = false
	l.changedAt(5*time.Hour, timer.Change{Pause: &timer.Pause{}})
	l.play(2)
	require.Equal(t, attempted{0, 1, time.Hour, 5 * time.Hour}, l.attempts[1])
	require.Equal(t, []any{timer.Delivered, false, 1, 1}, []any{l.outcome.Status, l.outcome.Again, l.outcome.Attempts, l.outcome.Earlier})
	require.Equal(t, id, l.spec.WebhookID())
}

// A paused timer with a latest time wakes at that time, and makes an attempt that calls no
// receiver. If it wakes a moment early it sleeps again.
func TestAPausedTimerExpires(t *testing.T) {
	t.Parallel()
	terms := inAnHour(true)
	terms.ExpiresAfter = ptr(wire.Duration(time.Hour))
	l := book(t, terms)
	require.Equal(t, 2*time.Hour, workflows.StartDelay(l.spec.Memo, l.began))
	for early, result := range map[time.Duration]delivery.Result{time.Millisecond: "", 0: delivery.ResultExpired} {
		s := newCourseAt(t, l.began.Add(2*time.Hour-early))
		s.spec = l.spec
		s.ring = delivery.Report{Result: delivery.ResultExpired}
		s.run()
		if result == "" {
			require.Equal(t, early, s.backoff())
			require.True(t, s.next().Resting())
			continue
		}
		outcome, _ := s.ended()
		require.Equal(t, timer.Expired, outcome.Status)
	}
}
