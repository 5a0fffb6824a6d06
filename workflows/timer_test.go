package workflows_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/mock"
	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/recurrence"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/workflows"
)

var (
	delivered = delivery.Report{Result: delivery.ResultDelivered, Attempt: 1}
	failed    = delivery.Report{Result: delivery.ResultFailed, Attempt: 1, Failure: &delivery.Failure{Status: 410, Message: "HTTP 410"}}
)

// rings sets the answer of the first attempt, and counts its calls.
func (s *course) rings(attempt func(timer.Delivery) (delivery.Report, error)) (asked *int) {
	asked = new(int)
	s.register(workflows.ActivityFirstAttempt, func(_ context.Context, d timer.Delivery, _ converter.RawValue) (delivery.Report, error) {
		*asked++
		return attempt(d)
	})
	return asked
}

// hourly makes the timer a recurring one whose first occurrence is due now.
func (s *course) hourly(change func(*recurrence.Rule)) {
	every := wire.Duration(time.Hour)
	rule := recurrence.Rule{Every: &every}
	change(&rule)
	booked := s.at(-time.Hour)
	spec, err := timer.Admit(s.spec.Key, timer.Terms{Recurrence: &rule}, "b", booked.Time())
	require.NoError(s, err)
	spec.Behaviour, s.spec = s.spec.Behaviour, spec
	s.spec.Behaviour = workflows.BehaviourNow
}

// All ends of a run of a timer after its first task.
func TestHowARunEnds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		given func(*course)
		check func(*course)
	}{
		"delivered": {func(s *course) { s.ring = delivered }, func(s *course) {
			outcome, _ := s.ended()
			require.Equal(s, timer.Delivered, outcome.Status)
		}},
		"failed": {func(s *course) { s.ring = failed }, func(s *course) {
			var app *temporal.ApplicationError
			require.ErrorAs(s, s.env.GetWorkflowError(), &app)
			require.Equal(s, workflows.ErrorFailed, app.Type())
			var outcome timer.Outcome
			require.NoError(s, app.Details(&outcome))
			require.Equal(s, 410, outcome.LastFailure.Status)
		}},
		"expired on the fast path": {func(s *course) { s.ring = delivery.Report{Result: delivery.ResultExpired} }, func(s *course) {
			outcome, _ := s.ended()
			require.Equal(s, timer.Expired, outcome.Status)
		}},
		"not due yet": {func(s *course) { s.spec.DueAt = s.at(time.Hour) }, func(s *course) {
			require.Equal(s, s.at(time.Hour), s.next().DueAt)
			require.Equal(s, time.Hour, s.backoff())
		}},
		"paused": {func(s *course) {
			s.hourly(func(r *recurrence.Rule) { r.Paused = true })
		}, func(s *course) {
			require.True(s, s.next().Resting())
			require.Equal(s, wire.MaxAhead, s.backoff())
		}},
		"handed back": {func(s *course) { s.ring.Result = delivery.ResultWorkerStopping }, func(s *course) {
			require.False(s, s.next().NotPreloaded)
			require.Zero(s, s.backoff())
		}},
		// No worker is asked twice to hold it: it wakes when it rings and no earlier.
		"crowded out": {func(s *course) {
			s.spec.Preload = policy.Preload{Lead: wire.Duration(50 * time.Second), Window: wire.Duration(time.Minute)}
			s.spec.DueAt = s.at(50 * time.Second)
			s.ring.Result = delivery.ResultRejected
		}, func(s *course) {
			require.True(s, s.next().NotPreloaded)
			require.Zero(s, s.next().Lead())
			require.Equal(s, 50*time.Second, s.backoff())
		}},
		"cancelled while it was cold": {func(s *course) {
			s.register(workflows.ActivityFirstAttempt, func(context.Context, timer.Delivery, converter.RawValue) (delivery.Report, error) {
				s.Error("a timer that is cancelled rings")
				return s.ring, nil
			})
			s.woken(0, s.env.CancelWorkflow)
		}, func(s *course) { require.True(s, temporal.IsCanceledError(s.env.GetWorkflowError())) }},
		"cancelled and moved while it was cold": {func(s *course) {
			s.woken(1, func() {
				s.signal(timer.Change{ID: "c", Terms: timer.Terms{Delay: ptr(wire.Duration(time.Hour))}, At: s.at(0)})
				s.env.CancelWorkflow()
			})
		}, func(s *course) { require.True(s, temporal.IsCanceledError(s.env.GetWorkflowError())) }},
		"moved while it was cold": {func(s *course) {
			s.woken(1, func() {
				s.signal(timer.Change{ID: "c", Terms: timer.Terms{Delay: ptr(wire.Duration(time.Hour))}, At: s.at(0)})
			})
		}, func(s *course) {
			require.Equal(s, s.at(time.Hour), s.next().DueAt)
			require.Equal(s, 2, s.next().Revision)
			require.Equal(s, time.Hour, s.backoff())
		}},
		"moved two hundred times, the last one wins": {func(s *course) {
			s.woken(200, func() {
				for n := range 200 {
					s.signal(timer.Change{ID: fmt.Sprint(n), Terms: timer.Terms{Delay: ptr(wire.Duration(n+1) * wire.Duration(time.Minute))}, At: s.at(0)})
				}
			})
		}, func(s *course) {
			require.Equal(s, s.at(200*time.Minute), s.next().DueAt)
			require.Equal(s, 201, s.next().Revision)
		}},
		"pushed out a hundred times, never past its longest wait": {func(s *course) {
			s.spec.Debounce = &timer.Debounce{First: s.at(-4 * time.Minute), Last: s.at(-time.Minute), MaxWait: wire.Duration(5 * time.Minute)}
			s.woken(100, func() {
				for n := range 100 {
					s.signal(timer.Change{ID: fmt.Sprint(n), Replace: true, At: s.at(time.Duration(n) * time.Second), Terms: timer.Terms{
						Delay: ptr(wire.Duration(30 * time.Second)), MaxWait: ptr(wire.Duration(5 * time.Minute)),
						Payload: &timer.Payload{Data: []byte{'0' + byte(n%10)}},
					}})
				}
			})
		}, func(s *course) {
			require.Equal(s, s.at(time.Minute), s.next().DueAt)
			require.Equal(s, s.at(99*time.Second), s.next().Debounce.Last)
			require.Equal(s, time.Minute, s.backoff())
		}},
		"delivered although it was cancelled on the way": {func(s *course) {
			s.rings(func(timer.Delivery) (delivery.Report, error) { s.env.CancelWorkflow(); return delivered, nil })
		}, func(s *course) {
			outcome, _ := s.ended()
			require.Equal(s, timer.Delivered, outcome.Status)
		}},
		"cancelled, the attempt on the way having failed": {func(s *course) {
			s.rings(func(timer.Delivery) (delivery.Report, error) {
				s.env.CancelWorkflow()
				return delivery.Report{Result: delivery.ResultRetry, Attempt: 1}, nil
			})
		}, func(s *course) { require.True(s, temporal.IsCanceledError(s.env.GetWorkflowError())) }},
		"delivered by a redelivery": {func(s *course) { s.ring, s.spec = delivered, s.spec.TriedAgain(nil) }, func(s *course) {
			outcome, _ := s.ended()
			require.True(s, outcome.Again)
		}},
		"a redelivery rung by hand": {func(s *course) {
			s.ring, s.spec = delivered, s.spec.TriedAgain(nil)
			s.spec.Rung.DueAt--
		}, func(s *course) {
			outcome, _ := s.ended()
			require.False(s, outcome.Again)
		}},
		"the last occurrence by a redelivery": {func(s *course) {
			once := 1
			s.hourly(func(r *recurrence.Rule) { r.MaxOccurrences = &once })
			s.ring, s.spec = delivered, s.spec.TriedAgain(nil)
		}, func(s *course) {
			outcome, _ := s.ended()
			require.True(s, outcome.Again)
		}},
		"an occurrence by a redelivery, and on": {func(s *course) {
			s.hourly(func(*recurrence.Rule) {})
			s.ring, s.spec = delivered, s.spec.TriedAgain(nil)
		}, func(s *course) {
			require.False(s, s.next().Series.Last.Again, "lists show it")
			require.True(s, s.next().Rung.EndedFor(s.next().Series.Last.DueAt))
		}},
		"on to the next occurrence": {func(s *course) {
			s.hourly(func(*recurrence.Rule) {})
			s.ring = delivered
		}, func(s *course) {
			require.Equal(s, s.at(time.Hour), s.next().DueAt)
			require.Equal(s, timer.Delivered, s.next().Series.Last.Status)
		}},
		"stopped by its receiver": {func(s *course) {
			s.hourly(func(*recurrence.Rule) {})
			s.ring = delivered
			s.ring.Stop = true
		}, func(s *course) {
			outcome, _ := s.ended()
			require.Equal(s, timer.Delivered, outcome.Status)
			require.True(s, outcome.Stopped)
		}},
		"the last occurrence": {func(s *course) {
			once := 1
			s.hourly(func(r *recurrence.Rule) { r.MaxOccurrences = &once })
			s.ring = delivered
		}, func(s *course) {
			outcome, _ := s.ended()
			require.Equal(s, timer.Delivered, outcome.Status)
		}},
		"a rule that is over": {func(s *course) {
			s.hourly(func(r *recurrence.Rule) { r.EndAt = s.at(30 * time.Minute); r.Missed = recurrence.MissedSkip })
			s.env.SetStartTime(s.due.Add(3 * time.Hour))
		}, func(s *course) {
			outcome, _ := s.ended()
			require.Equal(s, timer.Expired, outcome.Status)
		}},
		"a fast path that breaks down": {func(s *course) {
			s.rings(func(timer.Delivery) (delivery.Report, error) { return delivery.Report{}, errors.New("broken") })
			s.deliver = func(*course, activity.Info) (delivery.Report, error) { return delivered, nil }
		}, func(s *course) {
			outcome, _ := s.ended()
			require.Equal(s, timer.Delivered, outcome.Status)
			require.Len(s, s.deliveries, 1)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newCourse(t)
			c.given(s)
			s.run()
			c.check(s)
		})
	}
}

// What comes while the worker that had the task before is asked counts before the timer rings.
func TestAChangeDuringTheQuestion(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		comes func(*course)
		rings int
		check func(*course)
	}{
		"nothing": {func(*course) {}, 2, func(s *course) {
			outcome, _ := s.ended()
			require.Equal(s, timer.Delivered, outcome.Status)
		}},
		"moved": {func(s *course) {
			s.signal(timer.Change{ID: "c", Terms: timer.Terms{Delay: ptr(wire.Duration(time.Hour))}, At: s.at(0)})
		}, 1, func(s *course) { require.Equal(s, 2, s.next().Revision) }},
		"cancelled": {func(s *course) { s.env.CancelWorkflow() }, 1, func(s *course) {
			require.True(s, temporal.IsCanceledError(s.env.GetWorkflowError()))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newCourse(t)
			asked := s.rings(func(d timer.Delivery) (delivery.Report, error) {
				if !d.Asked {
					return delivery.Report{Result: delivery.ResultElsewhere, Worker: "dead"}, nil
				}
				return delivered, nil
			})
			s.register(workflows.ActivityAsk, func(context.Context, timer.Delivery) (delivery.Report, error) {
				c.comes(s)
				return delivery.Report{Result: delivery.ResultUseQueue}, nil
			})
			s.run()
			require.Equal(t, c.rings, *asked)
			c.check(s)
		})
	}
}

// Whether the first task of a run rings is foretold by its input alone.
func TestWhetherTheFirstTaskRings(t *testing.T) {
	t.Parallel()
	foretold := map[bool]int{}
	for name, given := range map[string]func(*course){
		"due":             func(*course) {},
		"overdue":         func(s *course) { s.spec.DueAt = s.at(-24 * time.Hour) },
		"due in a moment": func(s *course) { s.spec.DueAt = s.at(100 * time.Millisecond) },
		"due in an hour":  func(s *course) { s.spec.DueAt = s.at(time.Hour) },
		"preloaded": func(s *course) {
			s.spec.Preload = policy.Preload{Lead: wire.Duration(50 * time.Second), Window: wire.Duration(time.Minute)}
			s.spec.DueAt = s.at(50 * time.Second)
		},
		"crowded out": func(s *course) {
			s.spec.Preload = policy.Preload{Lead: wire.Duration(50 * time.Second), Window: wire.Duration(time.Minute)}
			s.spec.DueAt, s.spec.NotPreloaded = s.at(50*time.Second), true
		},
		"paused":                func(s *course) { s.spec.Suspended = true },
		"paused beyond its end": func(s *course) { s.spec.Suspended, s.spec.LatestAt = true, s.at(-time.Second) },
		"too late":              func(s *course) { s.spec.LatestAt = s.at(-time.Second) },
		"goes on":               func(s *course) { s.spec.Ongoing = &delivery.Report{Result: delivery.ResultRetry, Attempt: 1} },
		"recurring":             func(s *course) { s.hourly(func(*recurrence.Rule) {}) },
		"recurring, in an hour": func(s *course) { s.hourly(func(*recurrence.Rule) {}); s.spec.DueAt = s.at(time.Hour) },
		"recurring and paused":  func(s *course) { s.hourly(func(r *recurrence.Rule) { r.Paused = true }) },
		"recurring, makes up":   func(s *course) { s.hourly(func(*recurrence.Rule) {}); s.env.SetStartTime(s.due.Add(3 * time.Hour)) },
		"recurring, skips": func(s *course) {
			s.hourly(func(r *recurrence.Rule) { r.Missed = recurrence.MissedSkip })
			s.env.SetStartTime(s.due.Add(150 * time.Minute))
		},
		"recurring, over": func(s *course) {
			s.hourly(func(r *recurrence.Rule) { r.EndAt = s.at(30 * time.Minute); r.Missed = recurrence.MissedSkip })
			s.env.SetStartTime(s.due.Add(3 * time.Hour))
		},
	} {
		s := newCourse(t)
		given(s)
		s.deliver = func(*course, activity.Info) (delivery.Report, error) { return delivered, nil }
		asked := s.rings(func(timer.Delivery) (delivery.Report, error) {
			return delivery.Report{Result: delivery.ResultWorkerStopping}, nil
		})
		rings := workflows.FirstTaskRings(s.spec, s.env.Now())
		s.run()
		require.Equal(t, *asked > 0, rings, name)
		foretold[rings]++
	}
	require.Greater(t, foretold[true], 3)
	require.Greater(t, foretold[false], 3)
}

// A first task that is handed out again finds the attempt's report, and makes no second attempt.
func TestAReceiptTakesThePlaceOfAnAttempt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		receipt delivery.Report
		rung    int
	}{
		"this worker knows":        {delivered, 0},
		"nobody knows":             {delivery.Report{Result: delivery.ResultUseQueue}, 1},
		"another worker knows":     {delivery.Report{Result: delivery.ResultElsewhere, Worker: "other"}, 0},
		"the other one has failed": {delivery.Report{Result: delivery.ResultElsewhere, Worker: "dead"}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newCourse(t)
			s.env.SetCurrentHistoryLength(4) // one event more than a first task finds
			rung := s.rings(func(d timer.Delivery) (delivery.Report, error) {
				require.Equal(t, c.receipt.Worker != "", d.Asked)
				return delivered, nil
			})
			s.register(workflows.ActivityReceipt, func(context.Context, timer.Delivery) (delivery.Report, error) { return c.receipt, nil })
			s.register(workflows.ActivityAsk, func(context.Context, timer.Delivery) (delivery.Report, error) {
				if c.receipt.Worker == "dead" {
					return delivery.Report{}, errors.New("nobody answers")
				}
				return delivered, nil
			})
			s.run()
			outcome, _ := s.ended()
			require.Equal(t, timer.Delivered, outcome.Status)
			require.Equal(t, c.rung, *rung)
		})
	}
}

// A worker that does not answer is asked again as long as the next one says that it lives. It may have
// rung the timer.
func TestABusyWorkerIsAskedAgain(t *testing.T) {
	t.Parallel()
	const asks = tuning.ReceiptQuestions
	for name, c := range map[string]struct {
		answers   map[int]delivery.Report // by the number of the question
		questions int
		rung      int
	}{
		"it answers the second question": {map[int]delivery.Report{2: delivered}, 2, 0},
		"it answers the last question":   {map[int]delivery.Report{3: delivered}, 3, 0},
		"it knows of no attempt":         {map[int]delivery.Report{2: {Result: delivery.ResultUseQueue}}, 2, 1},
		"it answers none":                {nil, asks, 1},
	} {
		for _, handedOutAgain := range []bool{false, true} {
			t.Run(fmt.Sprint(name, handedOutAgain), func(t *testing.T) {
				t.Parallel()
				s := newCourse(t)
				elsewhere := delivery.Report{Result: delivery.ResultElsewhere, Worker: "other"}
				if handedOutAgain {
					s.env.SetCurrentHistoryLength(4) // one event more than a first task finds
				}
				s.register(workflows.ActivityReceipt, func(context.Context, timer.Delivery) (delivery.Report, error) { return elsewhere, nil })
				rung, questions := 0, 0
				s.rings(func(d timer.Delivery) (delivery.Report, error) {
					if !d.Asked || d.Unanswered.Times > 0 && d.Unanswered.Times < asks {
						return elsewhere, nil
					}
					rung++
					return delivered, nil
				})
				s.register(workflows.ActivityAsk, func(context.Context, timer.Delivery) (delivery.Report, error) {
					questions++
					if answer, ok := c.answers[questions]; ok {
						return answer, nil
					}
					return delivery.Report{}, temporal.NewTimeoutError(enumspb.TIMEOUT_TYPE_SCHEDULE_TO_START, nil)
				})
				s.run()
				outcome, _ := s.ended()
				require.Equal(t, timer.Delivered, outcome.Status)
				require.Equal(t, 1, outcome.Attempts)
				require.Equal(t, c.questions, questions)
				require.Equal(t, c.rung, rung)
			})
		}
	}
}

// A change that arrived before the task was handed out again applies before the next attempt: it was
// answered as durable. A wakeup alone changes nothing.
func TestAChangeBesideAReceipt(t *testing.T) {
	t.Parallel()
	failed := delivery.Report{Result: delivery.ResultRetry, Attempt: 1, PolicyVersion: 1}
	move := timer.Change{ID: "c", Terms: timer.Terms{Delay: ptr(wire.Duration(time.Hour))}}
	for name, c := range map[string]struct {
		receipt  delivery.Report
		changes  []timer.Change
		attempts int
		moved    bool
	}{
		"moved":            {failed, []timer.Change{move}, 0, true},
		"moved and woken":  {failed, []timer.Change{{Wake: true}, move}, 0, true},
		"not attempted":    {delivery.Report{Result: delivery.ResultRetry}, []timer.Change{move}, 0, true},
		"woken":            {failed, []timer.Change{{Wake: true}}, 1, false},
		"delivered before": {delivered, []timer.Change{move}, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newCourse(t)
			s.env.SetCurrentHistoryLength(6 + len(c.changes)) // more than a first task finds
			s.register(workflows.ActivityReceipt, func(context.Context, timer.Delivery) (delivery.Report, error) { return c.receipt, nil })
			s.deliver = func(*course, activity.Info) (delivery.Report, error) { return delivered, nil }
			s.woken(len(c.changes), func() {
				for _, change := range c.changes {
					change.At = s.at(0)
					s.signal(change)
				}
			})
			s.run()
			require.Len(t, s.deliveries, c.attempts)
			if !c.moved {
				outcome, _ := s.ended()
				require.Equal(t, timer.Delivered, outcome.Status)
				return
			}
			after := next(t, s.env)
			require.Equal(t, 2, after.Revision)
			require.Equal(t, s.at(time.Hour), after.DueAt)
		})
	}
}

// The signals that wake a run are no sign of an earlier attempt.
func TestWhatWokeARunIsNoSecondTask(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		changes, events int
		wake            func(*course)
	}{
		"its time": {0, 3, nil},
		"a cancel": {0, 4, func(s *course) { s.env.CancelWorkflow() }},
		"two wakes": {2, 5, func(s *course) {
			s.signal(timer.Change{Wake: true, At: s.at(0)})
			s.signal(timer.Change{Wake: true, At: s.at(0)})
		}},
		"a re-order": {1, 5, func(s *course) { s.signal(timer.Change{ID: "c", Ring: true, At: s.at(0)}); s.env.CancelWorkflow() }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newCourse(t)
			s.ring = delivered
			s.env.SetCurrentHistoryLength(c.events)
			s.register(workflows.ActivityReceipt, func(context.Context, timer.Delivery) (delivery.Report, error) {
				t.Error("asked for a receipt")
				return delivery.Report{}, nil
			})
			if c.wake != nil {
				s.woken(c.changes, func() { c.wake(s) })
			}
			s.run()
		})
	}
}

// The attributes of the next run: its due time and, only while it is paused, its state.
func TestWhatARunHandsOn(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		given func(*course)
		due   time.Duration
		state string
		marks []string
	}{
		"marked anew": {func(s *course) {
			s.ring = delivery.Report{Result: delivery.ResultRetry, Attempt: 1}
			s.later(time.Minute, func() {
				s.signal(timer.Change{ID: "c", Terms: timer.Terms{Delay: ptr(wire.Duration(time.Hour)), Labels: &timer.Labels{"b": "2", "a": "1"}}, At: s.at(0)})
			})
		}, time.Hour, "", []string{"a=1", "b=2"}},
		"moved while it was delivering": {func(s *course) {
			s.ring = delivery.Report{Result: delivery.ResultRetry, Attempt: 1}
			s.later(time.Minute, func() {
				s.signal(timer.Change{ID: "c", Terms: timer.Terms{Delay: ptr(wire.Duration(time.Hour))}, At: s.at(0)})
			})
		}, time.Hour, "", nil},
		"paused": {func(s *course) { s.hourly(func(r *recurrence.Rule) { r.Paused = true }) }, 0, "paused", []string{timer.KeywordRecurring}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newCourse(t)
			require.NoError(t, s.env.SetTypedSearchAttributesOnStart(workflows.AllAttributes()))
			c.given(s)
			s.run()
			handed, marks := temporalSearchAttributes(t, s.info)
			require.Equal(t, c.marks, marks)
			require.Equal(t, c.state, handed[workflows.AttrState.GetName()])
			require.NotContains(t, handed, "TemporalChangeVersion", "what the SDK noted of the run that ends")
			require.Equal(t, s.at(c.due).Time().Format(time.RFC3339Nano), handed[workflows.AttrDueAt.GetName()])
			require.Contains(t, string(s.info.Memo.GetFields()[workflows.MemoTimer].GetData()), s.next().DueAt.String())
		})
	}
}

func temporalSearchAttributes(t *testing.T, info *workflow.Info) (values map[string]string, marks []string) {
	values = map[string]string{}
	for name, encoded := range info.SearchAttributes.GetIndexedFields() { //nolint:staticcheck // what the SDK copies
		if name == workflows.AttrLabels.GetName() {
			require.NoError(t, converter.GetDefaultDataConverter().FromPayload(encoded, &marks))
			continue
		}
		var value string
		require.NoError(t, converter.GetDefaultDataConverter().FromPayload(encoded, &value))
		values[name] = value
	}
	return values, marks
}

// A delivery that ends badly raises one alert, if one is requested, and does not wait for it.
func TestABadEndIsAlerted(t *testing.T) {
	t.Parallel()
	for result, event := range map[delivery.Result]timer.EventType{
		delivery.ResultFailed: timer.EventFailed, delivery.ResultExpired: timer.EventExpired, delivery.ResultDelivered: "",
	} {
		t.Run(string(result), func(t *testing.T) {
			t.Parallel()
			s := newCourse(t)
			s.ring = delivery.Report{Result: result, Attempt: 2, Alert: true}
			var told []timer.Event
			s.register(workflows.ActivityAlert, func(_ context.Context, event timer.Event) error {
				told = append(told, event)
				return nil
			})
			s.run()
			if event == "" {
				require.Empty(t, told)
				return
			}
			require.Len(t, told, 1)
			require.Equal(t, event, told[0].Type)
			require.Equal(t, s.spec.WebhookID(), told[0].Data.WebhookID)
		})
	}
}

// The outcome of a delivery is sent to the recipient named by the policy or by the timer.
func TestAnOutcomeIsTold(t *testing.T) {
	t.Parallel()
	own := &delivery.Alert{Destination: delivery.HTTP("https://own.example/")}
	for name, c := range map[string]struct {
		report delivery.Report
		given  func(*timer.Spec)
		want   timer.EventType
		own    *delivery.Destination
	}{
		"delivered":                     {delivery.Report{Result: delivery.ResultDelivered, OnDelivered: true}, nil, timer.EventDelivered, nil},
		"failed":                        {delivery.Report{Result: delivery.ResultFailed, OnFailed: true}, nil, timer.EventFailed, nil},
		"expired":                       {delivery.Report{Result: delivery.ResultExpired, OnFailed: true}, nil, timer.EventExpired, nil},
		"delivered, where failures are": {delivery.Report{Result: delivery.ResultDelivered, OnFailed: true}, nil, "", nil},
		"failed, where successes are":   {delivery.Report{Result: delivery.ResultFailed, OnDelivered: true}, nil, "", nil},
		"the timer's own of a success":  {delivery.Report{Result: delivery.ResultDelivered}, func(s *timer.Spec) { s.OnDelivered = own }, timer.EventDelivered, &own.Destination},
		"the timer's own of a failure":  {delivery.Report{Result: delivery.ResultFailed, OnFailed: true}, func(s *timer.Spec) { s.OnFailed = own }, timer.EventFailed, &own.Destination},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newCourse(t)
			s.ring = c.report
			s.ring.Attempt, s.ring.EndedAt = 2, s.at(0)
			if c.given != nil {
				c.given(&s.spec)
			}
			var told []timer.Event
			s.register(workflows.ActivityAlert, func(_ context.Context, event timer.Event) error {
				told = append(told, event)
				return nil
			})
			s.run()
			if c.want == "" {
				require.Empty(t, told)
				return
			}
			require.Len(t, told, 1)
			require.Equal(t, c.want, told[0].Type)
			require.True(t, told[0].Outcome)
			require.Equal(t, c.own, told[0].Own)
			require.Equal(t, c.want == timer.EventDelivered, told[0].Data.DeliveredAt != 0)
		})
	}
}

// Temporal's own lists show how a timer stands and, if they cannot tell, how it ended.
func TestTheStateThatListsShow(t *testing.T) {
	t.Parallel()
	retried := delivery.Report{Result: delivery.ResultRetry, Attempt: 1}
	answers := func(report delivery.Report, err error) func(*course, activity.Info) (delivery.Report, error) {
		return func(*course, activity.Info) (delivery.Report, error) { return report, err }
	}
	for name, c := range map[string]struct {
		given func(*course)
		shown []timer.Status
	}{
		"delivered at once":     {func(s *course) { s.ring = delivered }, nil},
		"failed at once":        {func(s *course) { s.ring = failed }, nil},
		"expired at once":       {func(s *course) { s.ring = delivery.Report{Result: delivery.ResultExpired} }, []timer.Status{timer.Expired}},
		"delivered by a retry":  {func(s *course) { s.ring, s.deliver = retried, answers(delivered, nil) }, []timer.Status{timer.Delivering, timer.Delivered}},
		"failed by a retry":     {func(s *course) { s.ring, s.deliver = retried, answers(failed, nil) }, []timer.Status{timer.Delivering, timer.Failed}},
		"cancelled on its way":  {func(s *course) { s.ring = retried; s.later(time.Hour, s.env.CancelWorkflow) }, []timer.Status{timer.Delivering, timer.Cancelled}},
		"expired on its ladder": {func(s *course) { s.ring = retried; s.ring.Latest = s.at(time.Hour) }, []timer.Status{timer.Delivering, timer.Expired}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newCourse(t)
			var shown []timer.Status
			s.env.OnUpsertTypedSearchAttributes(mock.Anything).Return(nil).Run(func(args mock.Arguments) {
				if state, ok := args.Get(0).(temporal.SearchAttributes).GetKeyword(workflows.AttrState); ok {
					shown = append(shown, timer.Status(state))
				}
			})
			c.given(s)
			s.run()
			require.Equal(t, c.shown, shown)
		})
	}
}
