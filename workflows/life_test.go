package workflows_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/recurrence"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/workflows"
)

// life plays the runs of a timer one after the other, each at the time set by the one
// before, and records the attempts. Its hours take no time.
type life struct {
	*testing.T
	spec timer.Spec
	// began is when the timer was booked, and now when its next run begins.
	began, now time.Time
	// fails is how many of the next attempts fail, and ladder has the waits between the
	// attempts of one delivery.
	fails  int
	ladder []time.Duration
	// stops is the attempt, from 1, whose receiver ends the recurring timer; 0 for none.
	stops int
	// waits reports whether an event comes before the first of these waits is over.
	waits bool
	// during is called before each run, from 1.
	during func(run int, s *course)

	attempts []attempted
	// end is how the last run ended, once there is no next one.
	end error
	// outcome is the timer's, if it was delivered or expired.
	outcome timer.Outcome
}

// attempted is one attempt: its occurrence, and the due time and the time of the attempt
// since the booking.
type attempted struct {
	occurrence, attempt int
	due, at             time.Duration
}

// book books a timer, an hour's multiples after midnight.
func book(t *testing.T, terms timer.Terms) *life {
	t.Helper()
	l := &life{T: t, began: time.Date(2027, 3, 1, 0, 0, 0, 0, time.UTC)}
	spec, err := timer.Admit(wire.Key{BusinessType: "x", BusinessID: "1"}, terms, "b", l.began)
	require.NoError(t, err)
	spec.Behaviour = workflows.BehaviourNow
	l.spec = spec
	l.now = l.began.Add(workflows.StartDelay(spec.Memo, l.began))
	return l
}

func every(d time.Duration, change func(*recurrence.Rule)) timer.Terms {
	interval := wire.Duration(d)
	rule := recurrence.Rule{Every: &interval}
	change(&rule)
	return timer.Terms{Recurrence: &rule}
}

func asItIs(*recurrence.Rule) {}

// call is one attempt, made now or when the timer rings.
func (l *life) call(now time.Time, spec timer.Spec, number int) delivery.Report {
	at := now
	if rings := spec.RingsAt().Time(); rings.After(at) {
		at = rings
	}
	made := attempted{attempt: number, due: spec.DueAt.Time().Sub(l.began), at: at.Sub(l.began)}
	if spec.Series != nil {
		made.occurrence = spec.Series.Number
	}
	l.attempts = append(l.attempts, made)
	report := delivery.Report{Result: delivery.ResultDelivered, Attempt: number, EndedAt: wire.At(at)}
	report.Stop, report.LatenessMS = len(l.attempts) == l.stops, ptr(at.Sub(spec.RingsAt().Time()).Milliseconds())
	if l.fails > 0 {
		l.fails--
		report.Result, report.Failure = delivery.ResultFailed, &delivery.Failure{Status: 500, Message: "HTTP 500"}
		if number <= len(l.ladder) {
			report.Result, report.RetryIn = delivery.ResultRetry, wire.Duration(l.ladder[number-1])
		}
	}
	return report
}

// climb makes the attempts of a delivery on its ladder, as the activity does: the first try
// hands the wait to Temporal.
func (l *life) climb(s *course, info activity.Info, prior delivery.Report) (delivery.Report, error) {
	if l.waits { // the test environment would keep the goroutine of a retry that never comes
		return delivery.Report{}, activity.ErrResultPending
	}
	report := prior
	if info.Attempt > 1 {
		report = l.call(s.env.Now(), s.spec, prior.Attempt+int(info.Attempt)-1)
	}
	if report.Result == delivery.ResultDelivered {
		return report, nil
	}
	return delivery.Report{}, temporal.NewApplicationErrorWithOptions("HTTP 500", "", temporal.ApplicationErrorOptions{
		NonRetryable: report.Result.Final(), NextRetryDelay: report.RetryIn.D(), Details: []any{report},
	})
}

// play plays at most that many runs.
func (l *life) play(runs int) {
	l.Helper()
	for run := 1; run <= runs; run++ {
		s := newCourseAt(l.T, l.now)
		s.spec = l.spec
		s.register(workflows.ActivityFirstAttempt, func(_ context.Context, d timer.Delivery, _ converter.RawValue) (delivery.Report, error) {
			return l.call(s.env.Now(), d.Spec, 1), nil
		})
		s.deliver = func(s *course, info activity.Info) (delivery.Report, error) {
			return l.climb(s, info, *s.deliveries[len(s.deliveries)-1].Prior)
		}
		if l.during != nil {
			l.during(run, s)
		}
		s.run()
		l.end = s.env.GetWorkflowError()
		again, continued := errors.AsType[*workflow.ContinueAsNewError](l.end)
		if !continued {
			if l.end == nil {
				l.outcome, _ = s.ended()
			}
			return
		}
		l.spec, l.end = s.next(), nil
		l.now = s.env.Now().Add(again.BackoffStartInterval)
	}
}

// onItsLadder makes the first attempt fail, and an event come before the next one.
func (l *life) onItsLadder() { l.fails, l.ladder, l.waits = 1, []time.Duration{time.Hour}, true }

// onceOnItsLadder makes a change come a minute after the first attempt has failed. The next
// run makes the remaining attempts.
func onceOnItsLadder(change timer.Change) func(l *life) {
	return func(l *life) {
		l.onItsLadder()
		l.during = func(run int, s *course) {
			if run != 1 {
				l.waits = false
				return
			}
			s.later(time.Minute, func() {
				change.ID, change.At = "on the ladder", s.at(time.Minute)
				s.signal(change)
			})
		}
	}
}

// followsTheFirst checks that the second attempt of a life's delivery follows the first one.
func followsTheFirst(l *life) {
	require.Len(l, l.attempts, 2)
	require.Equal(l, attempted{1, 1, time.Hour, time.Hour}, l.attempts[0])
	second := l.attempts[1]
	require.Equal(l, []any{1, 2, time.Hour}, []any{second.occurrence, second.attempt, second.due})
	require.GreaterOrEqual(l, second.at, 2*time.Hour, "not before its wait is over")
}

// rang are the hours of the rung occurrences, by number.
func (l *life) rang() map[int]time.Duration {
	rang := map[int]time.Duration{}
	for _, made := range l.attempts {
		rang[made.occurrence] = made.due
	}
	return rang
}

func hours(due ...int) map[int]time.Duration {
	rang := map[int]time.Duration{}
	for i, hour := range due {
		rang[i+1] = time.Duration(hour) * time.Hour
	}
	return rang
}

func TestARecurringTimer(t *testing.T) {
	t.Parallel()
	four := 4
	past := time.Hour + 20*time.Minute
	for name, c := range map[string]struct {
		terms timer.Terms
		given func(*life)
		runs  int
		check func(*life)
	}{
		"rings at a fixed rate, without a drift, and is delivered when its rule is over": {
			terms: every(time.Hour, func(r *recurrence.Rule) { r.MaxOccurrences = &four }),
			runs:  9,
			check: func(l *life) {
				require.Equal(l, hours(1, 2, 3, 4), l.rang())
				require.Len(l, l.attempts, 4, "each once")
				require.Equal(l, timer.Delivered, l.outcome.Status)
			},
		},
		"counts a fixed delay from the end of the delivery": {
			terms: timer.Terms{Recurrence: &recurrence.Rule{After: ptr(wire.Duration(time.Hour))}},
			given: func(l *life) { l.fails, l.ladder = 1, []time.Duration{20 * time.Minute} },
			runs:  2,
			check: func(l *life) {
				require.Equal(l, []attempted{{1, 1, time.Hour, time.Hour}, {1, 2, time.Hour, past}, {2, 1, past + time.Hour, past + time.Hour}},
					l.attempts, "a retry keeps the nominal time")
			},
		},
		"goes on after an occurrence that failed, with a ladder of its own": {
			terms: every(time.Hour, asItIs),
			given: func(l *life) { l.fails, l.ladder = 3, []time.Duration{time.Minute} },
			runs:  2,
			check: func(l *life) {
				var numbers []int
				for _, made := range l.attempts {
					numbers = append(numbers, made.attempt)
				}
				require.Equal(l, []int{1, 2, 1, 2}, numbers)
				require.Equal(l, timer.Delivered, l.spec.Series.Last.Status)
				require.False(l, l.spec.Resting())
			},
		},
		"pauses after an occurrence that failed, where its rule says so": {
			terms: every(time.Hour, func(r *recurrence.Rule) { r.OnFailure = recurrence.OnFailurePause }),
			given: func(l *life) { l.fails = 1 },
			runs:  1,
			check: func(l *life) {
				require.True(l, l.spec.Resting())
				require.Equal(l, timer.Failed, l.spec.Series.Last.Status)
				require.Equal(l, time.Hour+wire.MaxAhead, l.now.Sub(l.began), "nothing wakes it by itself")
			},
		},
		"whose ladder runs into the next occurrences rings once for the latest of them": {
			terms: every(time.Hour, asItIs),
			given: func(l *life) { l.fails, l.ladder = 1, []time.Duration{3*time.Hour + time.Minute} },
			runs:  3,
			check: func(l *life) {
				require.Equal(l, hours(1, 4, 5), l.rang())
				require.Equal(l, 4*time.Hour+time.Minute, l.attempts[2].at, "at once")
			},
		},
		"that overslept rings once": {
			terms: every(time.Hour, asItIs), given: overslept, runs: 3,
			check: func(l *life) { require.Equal(l, hours(5, 6), l.rang()) },
		},
		"that overslept skips what it missed, where its rule says so": {
			terms: every(time.Hour, func(r *recurrence.Rule) { r.Missed = recurrence.MissedSkip }), given: overslept, runs: 2,
			check: func(l *life) { require.Equal(l, hours(6), l.rang(), "the first run found that nothing is due") },
		},
		"that overslept makes up for each, where its rule says so": {
			terms: every(time.Hour, func(r *recurrence.Rule) { r.Missed = recurrence.MissedFireAll }), given: overslept, runs: 6,
			check: func(l *life) { require.Equal(l, hours(1, 2, 3, 4, 5, 6), l.rang()) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := book(t, c.terms)
			if c.given != nil {
				c.given(l)
			}
			l.play(c.runs)
			c.check(l)
		})
	}
}

func ptr[T any](v T) *T { return &v }

// overslept makes the first run begin after five and a half hours.
func overslept(l *life) { l.now = l.began.Add(5*time.Hour + 30*time.Minute) }

// An occurrence that makes up for others rings in a run whose memo describes it, for
// acknowledgements and redeliveries.
func TestAnOccurrenceThatMakesUpIsToldFirst(t *testing.T) {
	t.Parallel()
	l := book(t, every(time.Hour, asItIs))
	overslept(l)
	l.play(1)
	require.Empty(t, l.rang())
	require.Equal(t, 5*time.Hour, l.spec.DueAt.Time().Sub(l.began))
	l.play(1)
	require.Equal(t, hours(5), l.rang())
}

// Requests to a recurring timer while it waits, and while it is delivered.
func TestARecurringTimerIsChanged(t *testing.T) {
	t.Parallel()
	at := func(l *life, after time.Duration, change timer.Change) {
		l.now = l.began.Add(after) // a signal ends the start delay
		l.during = func(run int, s *course) {
			if change.ID, change.At = after.String(), wire.At(l.began.Add(after)); run == 1 {
				s.woken(1, func() { s.signal(change) })
			}
		}
	}
	for name, c := range map[string]struct {
		given func(*life)
		runs  int
		check func(*life)
	}{
		"ring now: once more, and the rule goes on": {
			func(l *life) { at(l, 10*time.Minute, timer.Change{Ring: true}) }, 3,
			func(l *life) {
				require.Equal(l, map[int]time.Duration{1: 10 * time.Minute, 2: time.Hour}, l.rang())
			},
		},
		"another rule: the numbers go on": {
			func(l *life) {
				l.play(1)
				at(l, 90*time.Minute, timer.Change{Terms: every(2*time.Hour, asItIs)})
			}, 2,
			func(l *life) {
				require.Equal(l, map[int]time.Duration{1: time.Hour, 2: 3*time.Hour + 30*time.Minute}, l.rang())
			},
		},
		"a pause: nothing rings": {
			func(l *life) {
				at(l, 10*time.Minute, timer.Change{Pause: &timer.Pause{Stop: true, Note: "stock-taking"}})
			}, 1,
			func(l *life) {
				require.True(l, l.spec.Resting())
				require.Equal(l, "stock-taking", l.spec.Series.Note)
				require.Empty(l, l.attempts)
			},
		},
		"a pause that ends: what passed meanwhile is dropped": {
			func(l *life) {
				at(l, 10*time.Minute, timer.Change{Pause: &timer.Pause{Stop: true}})
				l.play(1)
				at(l, 4*time.Hour+time.Minute, timer.Change{Pause: &timer.Pause{}})
			}, 2,
			func(l *life) { require.Equal(l, hours(5), l.rang()) },
		},
		"ring now during a delivery: it goes on afterwards": {
			func(l *life) {
				l.onItsLadder()
				l.during = func(run int, s *course) {
					if run == 1 {
						s.later(time.Minute, func() { s.signal(timer.Change{ID: "c", Ring: true, At: s.at(time.Minute)}) })
					}
				}
			}, 3,
			func(l *life) {
				require.Equal(l, []attempted{
					{1, 1, time.Hour, time.Hour}, {2, 1, time.Hour + time.Minute, time.Hour + time.Minute},
					{1, 1, time.Hour, time.Hour + time.Minute},
				}, l.attempts)
			},
		},
		"a change that is not about when: the same delivery goes on, with its count and its wait": {
			onceOnItsLadder(timer.Change{Terms: timer.Terms{Priority: ptr(1)}}), 2, followsTheFirst,
		},
		"a change that is refused: the same delivery goes on": {
			onceOnItsLadder(timer.Change{Terms: timer.Terms{Priority: ptr(1)}, IfMatch: "9"}), 2, followsTheFirst,
		},
		"the same rule again: the same delivery goes on": {
			onceOnItsLadder(timer.Change{Terms: every(time.Hour, asItIs)}), 2, followsTheFirst,
		},
		"another rule: what is under way goes on": {
			onceOnItsLadder(timer.Change{Terms: every(2*time.Hour, asItIs)}), 2, followsTheFirst,
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

// A cancel ends the whole chain in every state of the timer. A receiver that had taken the
// call already keeps it.
func TestARecurringTimerIsCancelled(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		rule  func(*recurrence.Rule)
		given func(*life)
		rang  int
	}{
		"while it waits":     {asItIs, func(l *life) { l.now = l.began.Add(time.Minute) }, 0},
		"while it is paused": {func(r *recurrence.Rule) { r.Paused = true }, func(l *life) { l.now = l.began.Add(time.Minute) }, 0},
		"between two occurrences": {asItIs, func(l *life) {
			l.play(1)
			l.now = l.now.Add(-time.Minute)
		}, 1},
		"while it is on its ladder": {asItIs, (*life).onItsLadder, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := book(t, every(time.Hour, c.rule))
			c.given(l)
			l.during = func(_ int, s *course) {
				if l.waits {
					s.later(time.Minute, s.env.CancelWorkflow)
					return
				}
				s.woken(0, s.env.CancelWorkflow)
			}
			l.play(1)
			require.True(t, temporal.IsCanceledError(l.end), "%v", l.end)
			require.Len(t, l.attempts, c.rang)
		})
	}
}

// A change without an effect, or a refused one, drops no occurrence and rings none twice,
// under every rule for missed occurrences.
func TestAnIdleChangeDropsNoOccurrence(t *testing.T) {
	t.Parallel()
	changes := map[string]timer.Change{
		"refused":      {Terms: timer.Terms{Priority: ptr(1)}, IfMatch: "9"},
		"a label":      {Terms: timer.Terms{Labels: &timer.Labels{"a": "b"}}},
		"the rule":     {Terms: every(time.Hour, asItIs)},
		"resumed":      {Pause: &timer.Pause{}},
		"woken":        {Wake: true},
		"bulk refused": {Terms: timer.Terms{Labels: &timer.Labels{"a": "b"}}, Fingerprint: "bulk:1", IfMatch: "9"},
	}
	moments := map[string]func(l *life, change timer.Change){
		"before it rings": func(l *life, change timer.Change) {
			l.now = l.began.Add(59 * time.Minute)
			l.during = func(run int, s *course) {
				if run == 1 {
					s.woken(1, func() { s.signal(change) })
				}
			}
		},
		"as it rings": func(l *life, change timer.Change) {
			l.during = func(run int, s *course) {
				if run == 1 {
					s.woken(1, func() { s.signal(change) })
				}
			}
		},
		"during its first attempt": func(l *life, change timer.Change) {
			l.during = func(run int, s *course) {
				if run != 1 {
					return
				}
				s.register(workflows.ActivityFirstAttempt, func(_ context.Context, d timer.Delivery, _ converter.RawValue) (delivery.Report, error) {
					s.signal(change)
					return l.call(s.env.Now(), d.Spec, 1), nil
				})
			}
		},
	}
	for _, missed := range []recurrence.Missed{"", recurrence.MissedSkip, recurrence.MissedFireAll} {
		for moment, at := range moments {
			for name, change := range changes {
				t.Run(string(missed)+" "+moment+" "+name, func(t *testing.T) {
					t.Parallel()
					rule := func(r *recurrence.Rule) { r.Missed = missed }
					l := book(t, every(time.Hour, rule))
					if change.Terms.Recurrence != nil {
						change.Terms = every(time.Hour, rule)
					}
					change.ID, change.At = "c", wire.At(l.began.Add(time.Hour))
					at(l, change)
					l.play(1)
					l.during = nil
					for runs := 0; len(l.attempts) < 3 && runs < 5; runs++ {
						l.play(1)
					}
					require.Equal(t, hours(1, 2, 3), l.rang())
					require.Len(t, l.attempts, 3)
				})
			}
		}
	}
}
