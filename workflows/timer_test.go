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

	"github.com/wakecall/wakecall/timer"
	"github.com/wakecall/wakecall/workflows"
)

var (
	delivered = timer.Report{Result: timer.ResultDelivered, Attempt: 1}
	failed    = timer.Report{Result: timer.ResultFailed, Attempt: 1, Failure: &timer.Failure{Status: 410, Message: "HTTP 410"}}
)

// rings makes the first attempt answer in its own way, and counts how often it is asked.
func (s *course) rings(attempt func(timer.Delivery) (timer.Report, error)) (asked *int) {
	asked = new(int)
	s.register(workflows.ActivityRing, func(_ context.Context, d timer.Delivery, _ converter.RawValue) (timer.Report, error) {
		*asked++
		return attempt(d)
	})
	return asked
}

// hourly makes the timer a recurring one whose first occurrence is due now.
func (s *course) hourly(change func(*timer.Recurrence)) {
	every := timer.Duration(time.Hour)
	rule := timer.Recurrence{Every: &every}
	change(&rule)
	booked := s.at(-time.Hour)
	spec, err := timer.Admit(s.spec.Key, timer.Terms{Recurrence: &rule}, "b", booked.Time())
	require.NoError(s, err)
	spec.Behaviour, s.spec = s.spec.Behaviour, spec
	s.spec.Behaviour = workflows.BehaviourNow
}

// Every way in which a run of a timer ends after its first task.
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
		"expired on the fast path": {func(s *course) { s.ring = timer.Report{Result: timer.ResultExpired} }, func(s *course) {
			outcome, _ := s.ended()
			require.Equal(s, timer.Expired, outcome.Status)
		}},
		"not due yet": {func(s *course) { s.spec.DueAt = s.at(time.Hour) }, func(s *course) {
			require.Equal(s, s.at(time.Hour), s.next().DueAt)
			require.Equal(s, time.Hour, s.backoff())
		}},
		"paused": {func(s *course) {
			s.hourly(func(r *timer.Recurrence) { r.Paused = true })
		}, func(s *course) {
			require.True(s, s.next().Resting())
			require.Equal(s, timer.MaxAhead, s.backoff())
		}},
		"handed back": {func(s *course) { s.ring.Result = timer.ResultWorkerStopping }, func(s *course) {
			require.False(s, s.next().NotPreloaded)
			require.Zero(s, s.backoff())
		}},
		"on to the next occurrence": {func(s *course) {
			s.hourly(func(*timer.Recurrence) {})
			s.ring = delivered
		}, func(s *course) {
			require.Equal(s, s.at(time.Hour), s.next().DueAt)
			require.Equal(s, timer.Delivered, s.next().Series.Last.Status)
		}},
		"the last occurrence": {func(s *course) {
			once := 1
			s.hourly(func(r *timer.Recurrence) { r.MaxOccurrences = &once })
			s.ring = delivered
		}, func(s *course) {
			outcome, _ := s.ended()
			require.Equal(s, timer.Delivered, outcome.Status)
		}},
		"a rule that is over": {func(s *course) {
			s.hourly(func(r *timer.Recurrence) { r.EndAt = s.at(30 * time.Minute); r.Missed = timer.MissedSkip })
			s.env.SetStartTime(s.due.Add(3 * time.Hour))
		}, func(s *course) {
			outcome, _ := s.ended()
			require.Equal(s, timer.Expired, outcome.Status)
		}},
		"a fast path that breaks down": {func(s *course) {
			s.rings(func(timer.Delivery) (timer.Report, error) { return timer.Report{}, errors.New("broken") })
			s.deliver = func(*course, activity.Info) (timer.Report, error) { return delivered, nil }
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

// A first task that is handed out again finds what came of the attempt, and no
// second one is made.
func TestAReceiptTakesThePlaceOfAnAttempt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		receipt timer.Report
		rung    int
	}{
		"this worker knows":        {delivered, 0},
		"nobody knows":             {timer.Report{Result: timer.ResultUseQueue}, 1},
		"another worker knows":     {timer.Report{Result: timer.ResultElsewhere, Worker: "other"}, 0},
		"the other one has failed": {timer.Report{Result: timer.ResultElsewhere, Worker: "dead"}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newCourse(t)
			s.env.SetCurrentHistoryLength(9)
			rung := s.rings(func(d timer.Delivery) (timer.Report, error) {
				require.Equal(t, c.receipt.Worker != "", d.Asked)
				return delivered, nil
			})
			s.register(workflows.ActivityReceipt, func(context.Context, timer.Delivery) (timer.Report, error) { return c.receipt, nil })
			s.register(workflows.ActivityAsk, func(context.Context, timer.Delivery) (timer.Report, error) {
				if c.receipt.Worker == "dead" {
					return timer.Report{}, errors.New("nobody answers")
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

// A delivery that ends badly raises one alert, where somebody wants it, and is not
// held up by it.
func TestABadEndIsAlerted(t *testing.T) {
	t.Parallel()
	for result, event := range map[timer.Result]timer.EventType{
		timer.ResultFailed: timer.EventFailed, timer.ResultExpired: timer.EventExpired, timer.ResultDelivered: "",
	} {
		t.Run(string(result), func(t *testing.T) {
			t.Parallel()
			s := newCourse(t)
			s.ring = timer.Report{Result: result, Attempt: 2, Alert: true}
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
