package workflows_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
)

// fired makes a waiting timer ring now, so often.
func fired(l *life, times int, more ...timer.Change) {
	after := 10 * time.Minute
	l.now = l.began.Add(after)
	l.during = func(run int, s *course) {
		if run > 1 {
			return
		}
		changes := more
		for n := range times {
			changes = append([]timer.Change{{ID: strconv.Itoa(n), Ring: true}}, changes...)
		}
		s.woken(len(changes), func() {
			for _, change := range changes {
				change.At = wire.At(l.began.Add(after))
				s.signal(change)
			}
		})
	}
}

// Each requested ring is made, even if a receiver ends the recurrence meanwhile, or if a
// change makes the timer one of another kind.
func TestEachRingThatWasAskedForIsMade(t *testing.T) {
	t.Parallel()
	at := wire.At(time.Date(2027, 3, 2, 0, 0, 0, 0, time.UTC))
	once := timer.Change{ID: "once", Replace: true, Fingerprint: "once", Terms: timer.Terms{DueAt: &at}}
	for name, c := range map[string]struct {
		given func(*life)
		runs  int
		check func(*life)
	}{
		"the receiver stops the rule with the first of them": {
			func(l *life) { fired(l, 3); l.stops = 1 }, 9,
			func(l *life) {
				require.Len(l, l.attempts, 3, "and no occurrence of the rule")
				require.True(l, l.outcome.Stopped, "that it was stopped is told")
				require.NoError(l, l.end)
			},
		},
		"the receiver stops the rule with the last of them": {
			func(l *life) { fired(l, 2); l.stops = 2 }, 9,
			func(l *life) {
				require.Len(l, l.attempts, 2)
				require.True(l, l.outcome.Stopped)
			},
		},
		"the receiver stops the rule, and none was asked for": {
			func(l *life) { l.stops = 1 }, 9,
			func(l *life) {
				require.Len(l, l.attempts, 1)
				require.True(l, l.outcome.Stopped)
			},
		},
		"the receiver stops the rule while another delivery waits": {
			func(l *life) {
				l.onItsLadder()
				l.stops = 2
				l.during = func(run int, s *course) {
					if run == 1 {
						s.later(time.Minute, func() { s.signal(timer.Change{ID: "c", Ring: true, At: s.at(time.Minute)}) })
					}
				}
			}, 9,
			func(l *life) {
				require.Equal(l, []int{1, 2, 1}, numbers(l), "the one that was interrupted goes on")
				require.True(l, l.outcome.Stopped)
			},
		},
		"it shall ring once, at another time": {
			func(l *life) { fired(l, 2, once) }, 4,
			func(l *life) {
				require.Equal(l, []int{1, 2, 3}, numbers(l))
				require.NotNil(l, l.spec.Series, "it is refused")
				_, refused := l.spec.Refusals.Find("once")
				require.True(l, refused, "and the answer says so")
			},
		},
		"it shall ring once, and none is asked for": {
			func(l *life) { fired(l, 0, once) }, 9,
			func(l *life) {
				require.Len(l, l.attempts, 1)
				require.Equal(l, 24*time.Hour, l.attempts[0].due)
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := book(t, every(time.Hour, asItIs))
			c.given(l)
			l.play(c.runs)
			c.check(l)
		})
	}
}

func numbers(l *life) (all []int) {
	for _, made := range l.attempts {
		all = append(all, made.occurrence)
	}
	return all
}

// A call whose answer was lost is repeated, and its signal may meet the run after the one that has applied
// it. The change is made once: no ring is added, no later change is undone, and nothing is refused.
func TestARepeatedChangeIsAppliedOnce(t *testing.T) {
	t.Parallel()
	after := 10 * time.Minute
	body := func(text string) timer.Terms {
		return timer.Terms{Payload: &timer.Payload{Data: []byte(text), ContentType: "text/" + text, Base64: true}}
	}
	for name, c := range map[string]struct {
		terms    timer.Terms
		changes  [][]timer.Change // of each run
		revision int
		check    func(l *life)
	}{
		"a ring of a rule": {
			every(time.Hour, asItIs), [][]timer.Change{{{ID: "1", Ring: true}}, {{ID: "1", Ring: true}}}, 2,
			func(l *life) {
				require.Zero(l, l.spec.Series.Extras)
				l.during = nil
				l.play(4)
				require.Equal(l, []time.Duration{after, time.Hour}, []time.Duration{l.attempts[0].at, l.attempts[1].at})
			},
		},
		"with a precondition": {
			inAnHour(false), [][]timer.Change{{{ID: "1", Terms: body("1"), IfMatch: "1"}}, {{ID: "1", Terms: body("1"), IfMatch: "1"}}}, 2,
			func(l *life) { require.Empty(l, l.spec.Refusals) },
		},
		"behind another one": {
			inAnHour(false), [][]timer.Change{{{ID: "1", Terms: body("1")}, {ID: "2", Terms: body("2")}}, {{ID: "1", Terms: body("1")}}}, 3,
			func(l *life) { require.Equal(l, "text/2", l.spec.ContentType) },
		},
		"the negative control": {
			inAnHour(false), [][]timer.Change{{{ID: "1", Terms: body("1")}, {ID: "2", Terms: body("2")}}, {{ID: "3", Terms: body("1")}}}, 4,
			func(l *life) { require.Equal(l, "text/1", l.spec.ContentType) },
		},
		"long ago": {
			inAnHour(false), [][]timer.Change{{{ID: "1", Ring: true}}, {{Wake: true}}}, 2,
			func(l *life) { require.Equal(l, timer.Applied{"1"}, l.spec.Applied) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := book(t, c.terms)
			l.now = l.began.Add(after)
			l.during = func(run int, s *course) {
				changes := c.changes[run-1]
				s.woken(len(changes), func() {
					for _, change := range changes {
						change.At = wire.At(l.began.Add(after))
						s.signal(change)
					}
				})
			}
			l.play(2)
			require.Equal(t, c.revision, l.spec.Revision)
			c.check(l)
		})
	}
}
