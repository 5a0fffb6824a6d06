package delivery

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/trace/noop"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"github.com/wakecall/wakecall/activities/delivery/receipts"
	"github.com/wakecall/wakecall/activities/send"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/tuning"
)

// queue is the way of one delivery over the queue: what its tries find, and what
// they leave.
type queue struct {
	*testing.T
	attempter *Attempter
	env       *testsuite.TestActivityEnvironment
	delivery  timer.Delivery

	policy    policy.Policy
	policyErr error
	state     timer.RunState
	// stateErr is why it cannot be told how the delivery stands.
	stateErr error
	// full reports whether the type makes as many attempts as it may.
	full bool
	// entering happens while an attempt waits for a slot, and heard is when Temporal has heard of
	// this worker again.
	entering func()
	heard    time.Time
	revoked  delivery.Result
	// paused reports whether somebody has paused the type, and pausedErr why that cannot be told.
	paused    bool
	pausedErr error
	// answer is the receiver's.
	answer func(context.Context) delivery.Answer
	calls  []send.Envelope
	wishes []policy.BackPressure
	// observed are the reports for the counts of the process.
	observed []delivery.Report
}

func newQueue(t *testing.T) *queue {
	q := &queue{T: t, state: timer.RunState{Wanted: true}, answer: answers(delivery.Answer{Delivered: true, Status: 200})}
	attempter, err := NewAttempter(Config{
		Runs: onQueue{q: q}, Policies: onQueue{q: q}, Emergencies: onQueue{q: q}, Bulkhead: onQueue{q: q}, Observer: onQueue{q: q},
		Failover: onQueue{q: q}, Tasks: had{},
		Queue:  func(policy.Policy, bool) string { return "default-test-taskqueue" },
		Sender: send.New(send.Transports{delivery.DestinationHTTP: onQueue{q: q}}, noop.NewTracerProvider().Tracer("")),
	})
	require.NoError(t, err)
	q.attempter = attempter
	q.delivery.Spec = timer.Spec{Key: wire.Key{BusinessType: "x", BusinessID: "1"}, Memo: timer.Memo{CreatedAt: wire.At(time.Now()), DueAt: wire.At(time.Now())}}
	q.policy = policy.Policy{
		BusinessType: "x", Version: 1, Callback: delivery.Callback{Destination: delivery.HTTP("http://receiver.example")},
		Retry: delivery.Retry{Steps: []wire.Duration{wire.Duration(10 * time.Second), wire.Duration(time.Minute)}},
	}.WithDefaults()
	return q
}

// forgetReceipts makes the worker another one: the test's timers are all of one run.
func (q *queue) forgetReceipts() {
	store, err := receipts.New()
	require.NoError(q, err)
	q.attempter.receipts = store
}

// runFirst makes a first attempt that is due.
func runFirst(ctx context.Context, attempter *Attempter, delivery timer.Delivery) (delivery.Report, error) {
	t := &try{Attempter: attempter, attempt: attempt{delivery: delivery, payload: converter.NewRawValue(nil)}}
	return t.runFirst(ctx, time.Now())
}

// onQueue is what surrounds a try.
type onQueue struct {
	q *queue
	Runs
	Observer
	Bulkhead
}

func (o onQueue) AwaitState(context.Context, wire.Key, string) (timer.RunState, error) {
	return o.q.state, o.q.stateErr
}

func (o onQueue) Policy(context.Context, string) (policy.Policy, error) {
	return o.q.policy, o.q.policyErr
}

func (o onQueue) Paused(context.Context, string) (bool, error) { return o.q.paused, o.q.pausedErr }

func (o onQueue) HoldBack(_ context.Context, _ string, wish policy.BackPressure) error {
	o.q.wishes = append(o.q.wishes, wish)
	return nil
}

func (o onQueue) EnterQueue(context.Context, string, int) (leave func(), ok bool) {
	if o.q.entering != nil {
		o.q.entering()
	}
	return func() {}, !o.q.full
}

func (o onQueue) Enter(ctx context.Context, businessType string, _, limit int) (leave func(), ok bool) {
	return o.EnterQueue(ctx, businessType, limit)
}

func (onQueue) Crashed(string, time.Time) bool { return false }

func (onQueue) Lives(string) bool { return false }

func (onQueue) Heard() bool { return true }

func (o onQueue) CutOff(since time.Time) bool { return since.Before(o.q.heard) }

func (o onQueue) Revoked(context.Context, wire.Key, timer.Hold) (delivery.Result, error) {
	return o.q.revoked, nil
}

func (o onQueue) Attempted(_ string, report delivery.Report, _ time.Duration) {
	o.q.observed = append(o.q.observed, report)
}

func (o onQueue) Send(ctx context.Context, e send.Envelope) send.Outcome {
	o.q.calls = append(o.q.calls, e)
	began := time.Now()
	return send.Outcome{Answer: o.q.answer(ctx), FirstByte: began, Ended: time.Now()}
}

// answers is a receiver with one answer.
func answers(answer delivery.Answer) func(context.Context) delivery.Answer {
	return func(context.Context) delivery.Answer { return answer }
}

// hangs is a receiver without an answer.
func hangs(ctx context.Context) delivery.Answer {
	<-ctx.Done()
	return delivery.Answer{Class: delivery.Timeout}
}

// try makes one try, and goes on to the next: what it leaves is what that finds.
func (q *queue) try() delivery.Report {
	q.Helper()
	var suite testsuite.WorkflowTestSuite
	q.env = suite.NewTestActivityEnvironment()
	q.env.SetTestTimeout(time.Hour)
	return q.tryIn(q.env)
}

func (q *queue) tryIn(env *testsuite.TestActivityEnvironment) (report delivery.Report) {
	q.Helper()
	env.RegisterActivity(q.attempter.Deliver)
	if q.state.Last != nil {
		env.SetHeartbeatDetails(q.state.Last)
	}
	result, err := env.ExecuteActivity(q.attempter.Deliver, q.delivery, converter.NewRawValue(nil))
	if err == nil {
		require.NoError(q, result.Get(&report))
		return report
	}
	app, ok := errors.AsType[*temporal.ApplicationError](err)
	require.True(q, ok, err)
	require.NoError(q, app.Details(&report), err)
	q.state.Last = &report
	return report
}

func (q *queue) numbers() (numbers []string) {
	for _, call := range q.calls {
		numbers = append(numbers, call.Headers[send.HeaderAttempt])
	}
	return numbers
}

// A timer that comes while its type is held back waits by itself only until its queue
// is stopped: a wait until the end would outlast back-pressure that is lifted.
func TestWhatIsHeldBackWaitsForItsQueue(t *testing.T) {
	for end, wait := range map[time.Duration]time.Duration{time.Second: time.Second, time.Hour: tuning.BackPressureHeard} {
		synctest.Test(t, func(t *testing.T) {
			q := newQueue(t)
			q.policy.BackPressure = &policy.BackPressure{Until: wire.At(time.Now().Add(end))}
			report := q.try()
			require.Equal(t, delivery.ResultRetry, report.Result)
			require.Equal(t, wait, report.RetryIn.D())
			require.Empty(t, q.calls)
		})
	}
}

// A type that is paused leaves the fast path, whatever its policy says.
func TestWhatIsPausedGoesToItsQueue(t *testing.T) {
	q := newQueue(t)
	paused := &try{Attempter: q.attempter, attempt: attempt{settings: settings{policy: q.policy, paused: true}}}
	_, ok := paused.acquireFastPath(t.Context())
	require.False(t, ok)
}

// Only attempts that left a report use up the ladder.
func TestWhatUsesUpTheLadder(t *testing.T) {
	lateness := int64(7)
	second := delivery.Report{Result: delivery.ResultRetry, Attempt: 2, LatenessMS: &lateness, Failure: &delivery.Failure{Status: 500, Message: "HTTP 500"}}
	for name, spoil := range map[string]func(*queue){
		"nobody knows how it stands": func(q *queue) { q.stateErr = errors.New("no answer") },
		"the policy cannot be read":  func(q *queue) { q.policyErr = errors.New("no answer") },
		"there is no policy":         func(q *queue) { q.policyErr = &wire.Error{Code: wire.NotFound}; q.policy = policy.Policy{} },
		"back-pressure holds the type": func(q *queue) {
			q.policy.BackPressure = &policy.BackPressure{Until: wire.At(time.Now().Add(time.Second))}
		},
		"the type does all it may":     func(q *queue) { q.full = true },
		"paused by its policy":         func(q *queue) { q.policy.Paused = true },
		"somebody has paused it":       func(q *queue) { q.paused = true },
		"nobody knows if it is paused": func(q *queue) { q.pausedErr = errors.New("no answer") },
	} {
		t.Run(name, func(t *testing.T) {
			for from, prior := range map[string]*delivery.Report{"from the first attempt": nil, "from the third": &second} {
				t.Run(from, func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						q := newQueue(t)
						q.delivery.Prior = prior
						made, policy := 0, q.policy
						if prior != nil {
							made = prior.Attempt
						}
						for range 3 {
							spoil(q)
							report := q.try()
							require.Equal(t, delivery.ResultRetry, report.Result)
							require.Equal(t, made, report.Attempt)
							require.NotZero(t, report.RetryIn)
							<-time.After(report.RetryIn.D())
							if prior != nil {
								require.Equal(t, prior.Failure, report.Failure, "it shows the failure of the last attempt")
								require.Equal(t, prior.LatenessMS, report.LatenessMS)
							}
						}
						require.Empty(t, q.calls)
						q.stateErr, q.policyErr, q.full, q.policy, q.paused, q.pausedErr = nil, nil, false, policy, false, nil
						q.answer = answers(delivery.Answer{Class: delivery.Answered, Status: 500})
						report := q.try()
						require.Equal(t, made+1, report.Attempt)
						require.Equal(t, q.calls[0].Headers[send.HeaderAttempt], itoa(made+1))
						require.Equal(t, made+1 == 3, report.Result == delivery.ResultFailed, "two steps make three attempts")
					})
				})
			}
		})
	}
}

// A timer is late once, by its first attempt: not by a retry, and not by an attempt of a later
// round for the same due time.
func TestATimerIsLateOnce(t *testing.T) {
	before := int64(3)
	for name, c := range map[string]struct {
		rung *timer.Rung
		want []*int64
		kept int64
	}{
		"its first round":              {nil, []*int64{new(int64(20)), nil}, 20},
		"redelivered":                  {&timer.Rung{LatenessMS: &before, Ended: true}, []*int64{nil, nil}, 3},
		"moved since":                  {&timer.Rung{DueAt: 5, LatenessMS: &before}, []*int64{new(int64(20)), nil}, 20},
		"nothing was sent, and paused": {&timer.Rung{}, []*int64{nil, nil}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q := newQueue(t)
				if c.rung != nil && c.rung.DueAt == 0 {
					c.rung.DueAt = q.delivery.Spec.DueAt
				}
				q.delivery.Spec.Rung = c.rung
				q.answer = answers(delivery.Answer{Class: delivery.Answered, Status: 500})
				<-time.After(20 * time.Millisecond)
				for range c.want {
					report := q.try()
					if c.kept == 0 {
						require.Nil(t, report.LatenessMS)
					} else {
						require.Equal(t, c.kept, *report.LatenessMS, "what is shown of the timer")
					}
					q.delivery.Prior = &report
					<-time.After(report.RetryIn.D())
				}
				require.Len(t, q.observed, len(c.want))
				for n, want := range c.want {
					require.Equal(t, want, q.observed[n].LatenessMS)
				}
			})
		})
	}
}

// A round that calls no receiver keeps the lateness of the one before.
func TestARoundWithoutACallKeepsItsLateness(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(t)
		q.delivery.Spec.Rung = &timer.Rung{DueAt: q.delivery.Spec.DueAt, LatenessMS: new(int64(3))}
		q.delivery.Spec.LatestAt = q.delivery.Spec.DueAt.Add(time.Second)
		<-time.After(time.Minute)
		report := q.try()
		require.Equal(t, delivery.ResultExpired, report.Result)
		require.Equal(t, new(int64(3)), report.LatenessMS)
	})
}

func itoa(n int) string { return string(rune('0' + n)) }

// The number of an attempt goes by what was recorded last, wherever that is: a
// try whose worker died left nothing, and Temporal forgets the failure before it.
func TestNumberByWhatWasRecorded(t *testing.T) {
	third := &delivery.Report{Result: delivery.ResultRetry, Attempt: 3}
	for name, c := range map[string]struct {
		prior, recorded, latest *delivery.Report
		number                  string
	}{
		"nothing yet":              {nil, nil, nil, "1"},
		"before this queue":        {third, nil, nil, "4"},
		"by a worker that is gone": {&delivery.Report{Result: delivery.ResultRetry, Attempt: 1}, third, nil, "4"},
		"in the record of the run": {nil, nil, third, "4"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q := newQueue(t)
				q.delivery.Prior, q.state.Last = c.prior, c.latest
				var suite testsuite.WorkflowTestSuite
				env := suite.NewTestActivityEnvironment()
				if c.recorded != nil {
					env.SetHeartbeatDetails(c.recorded)
				}
				require.Equal(t, delivery.ResultDelivered, q.tryIn(env).Result)
				require.Equal(t, []string{c.number}, q.numbers())
			})
		})
	}
}

// The record of an attempt may be lost on the way to Temporal, which hands the try out again.
// The worker that made it does not make it again: its success ends the delivery, and its
// failure counts on the ladder.
func TestAnAttemptThatWasNotRecordedIsNotMadeAgain(t *testing.T) {
	busy := answers(delivery.Answer{Class: delivery.Answered, Status: 500, Text: "busy"})
	lost := func(q *queue, recorded *delivery.Report) delivery.Report {
		q.try()
		q.state.Last = recorded
		return q.try()
	}
	t.Run("it failed, and the next one is not due", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			q := newQueue(t)
			q.answer = busy
			report := lost(q, nil)
			require.Equal(t, delivery.ResultRetry, report.Result)
			require.Positive(t, report.RetryIn)
			require.Len(t, report.Attempts, 1)
			require.Equal(t, []string{"1"}, q.numbers())
			<-time.After(report.RetryIn.D())
			require.Len(t, q.try().Attempts, 2)
			require.Equal(t, []string{"1", "2"}, q.numbers())
		})
	})
	t.Run("it failed, and the next one is due", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			q := newQueue(t)
			q.answer = busy
			first := q.try()
			<-time.After(first.RetryIn.D())
			q.try()
			q.state.Last = &first
			<-time.After(time.Hour)
			report := q.try()
			require.Equal(t, delivery.ResultFailed, report.Result, "two steps make three attempts")
			require.Equal(t, []string{"1", "2", "3"}, q.numbers())
			require.Len(t, report.Attempts, 3)
			q.state.Last = &first
			require.Equal(t, report, q.try(), "what was lost is put together with what was not")
			require.Len(t, q.calls, 3)
		})
	})
	t.Run("it was delivered", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			q := newQueue(t)
			require.Equal(t, delivery.ResultDelivered, lost(q, nil).Result)
			require.Equal(t, []string{"1"}, q.numbers())
		})
	})
	t.Run("another worker made it", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			q := newQueue(t)
			q.answer = busy
			q.try()
			q.state.Last = nil
			q.forgetReceipts()
			require.Equal(t, 1, q.try().Attempt)
			require.Equal(t, []string{"1", "1"}, q.numbers(), "the control: nobody here knows of it")
		})
	})
}

// A change ends a run. Temporal forgets the failure of an attempt that ends just before, and
// the next run finds it with the worker, unless it makes another delivery.
func TestTheRunAfterAChangeKnowsTheLastAttempt(t *testing.T) {
	for name, c := range map[string]struct {
		change  func(*timer.Spec)
		numbers []string
	}{
		"another label":    {func(s *timer.Spec) { s.Revision = 2 }, []string{"1", "2"}},
		"another body":     {func(s *timer.Spec) { s.Revision, s.Content = 2, 2 }, []string{"1", "2"}},
		"another delivery": {func(s *timer.Spec) { s.Round++ }, []string{"1", "1"}},
		"another booking":  {func(s *timer.Spec) { s.Booking = "again" }, []string{"1", "1"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q := newQueue(t)
				q.answer = answers(delivery.Answer{Class: delivery.Answered, Status: 500})
				wait := q.try().RetryIn
				q.state.Last = nil
				c.change(&q.delivery.Spec)
				require.Equal(t, 1, q.try().Attempt, "it waits, or is the first")
				<-time.After(wait.D())
				if len(q.calls) == 1 {
					require.Len(t, q.try().Attempts, 2)
				}
				require.Equal(t, c.numbers, q.numbers())
			})
		})
	}
	t.Run("a final failure is of its run alone", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			q := newQueue(t)
			q.answer, q.policy.Retry.Steps = answers(delivery.Answer{Class: delivery.Answered, Status: 500}), []wire.Duration{}
			require.Equal(t, delivery.ResultFailed, q.try().Result)
			_, found := q.attempter.receipts.Get(retryReceipt(q.delivery.Spec))
			require.False(t, found)
		})
	})
}

// The first try gives the wait of an attempt made elsewhere into Temporal's hands.
func TestTheFirstTryWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(t)
		q.delivery.Prior = &delivery.Report{
			Result: delivery.ResultRetry, Attempt: 1, EndedAt: wire.At(time.Now()), RetryIn: wire.Duration(10 * time.Second), Latest: wire.At(time.Now().Add(4 * time.Second)),
		}
		require.Equal(t, *q.delivery.Prior, q.try(), "it may reach past the latest time, which the workflow keeps")
		require.Empty(t, q.calls)
	})
}

// A try that comes sooner than its ladder says calls nobody, and comes again for
// the rest of the wait.
func TestTooSoonATry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(t)
		q.state.Last = &delivery.Report{Result: delivery.ResultRetry, Attempt: 2, EndedAt: wire.At(time.Now()), RetryIn: wire.Duration(10 * time.Second)}
		<-time.After(4 * time.Second)
		report := q.try()
		require.Equal(t, delivery.ResultRetry, report.Result)
		require.Equal(t, 2, report.Attempt)
		require.EqualValues(t, 6*time.Second, report.RetryIn)
		require.Empty(t, q.calls)
	})
}

// A timer that nobody can be called for waits longer each time, and expires by
// its own terms.
func TestUncalled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(t)
		q.policy, q.policyErr = policy.Policy{}, &wire.Error{Code: wire.NotFound}
		q.delivery.Spec.ExpiresAfter = wire.Duration(10 * time.Minute)
		var waits []time.Duration
		for {
			report := q.try()
			require.Equal(t, errUncalled.Error(), report.Failure.Message)
			if report.Result == delivery.ResultExpired {
				break
			}
			waits = append(waits, report.RetryIn.D())
			<-time.After(report.RetryIn.D())
		}
		require.Equal(t, []time.Duration{time.Second, 2 * time.Second, 4 * time.Second}, waits[:3])
		require.Equal(t, tuning.LongestUncalled, waits[len(waits)-1])
	})
}

// A paused timer comes to an attempt only when its latest time has passed, by the engine's
// clock. Nobody is called, whatever the clock of this worker says.
func TestATimerThatRestsIsNotCalled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(t)
		q.delivery.Spec.Suspended, q.delivery.Spec.LatestAt = true, wire.At(time.Now().Add(time.Minute))
		require.Equal(t, delivery.ResultExpired, q.try().Result)
		require.Empty(t, q.calls)
		q.delivery.Spec.Suspended = false
		require.Equal(t, delivery.ResultDelivered, q.try().Result)
		require.Len(t, q.calls, 1)
	})
}

// What keeps an attempt from beginning is shown in our own words. Those of a fault, which
// name addresses, stand in the log.
func TestWhyNoAttemptBegins(t *testing.T) {
	dial := errors.New("rpc error: dial tcp 10.20.30.40:7233: connect refused")
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"Temporal does not answer": {&wire.Error{Code: wire.Unavailable, Message: "Repeat it.", Cause: dial}, string(delivery.PolicyUnread)},
		"a fault of no kind":       {dial, string(delivery.PolicyUnread)},
		"no key opens the policy":  {&wire.Error{Code: wire.Internal, Message: "No key opens /signing_secrets.", Cause: dial}, "No key opens /signing_secrets."},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q := newQueue(t)
				q.policy, q.policyErr = policy.Policy{}, c.err
				require.Equal(t, c.want, q.try().Failure.Message)
			})
		})
	}
}

// The attempt is the live policy's, and ends early enough to be recorded.
func TestAnAttemptEndsBeforeItsTask(t *testing.T) {
	for name, c := range map[string]struct{ task, timeout, took time.Duration }{
		"there is time":   {2 * time.Minute, time.Minute, time.Minute},
		"there is none":   {16 * time.Second, 30 * time.Second, 16*time.Second - tuning.ReportSlack},
		"it is over":      {time.Second, 30 * time.Second, delivery.MinAttemptTimeout},
		"a short attempt": {16 * time.Second, time.Second, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), c.task)
				defer cancel()
				p := settings{callback: delivery.Callback{Timeout: wire.Duration(c.timeout)}}
				require.Equal(t, c.took, p.withDeadline(ctx).callback.Timeout.D())
			})
		})
	}
}

// A broker that accepts no messages holds its whole type back, as a receiver does that
// asks for patience.
func TestABlockedBrokerHoldsItsTypeBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(t)
		q.answer = answers(delivery.Answer{Class: delivery.BrokerBlocked, RetryAfter: tuning.BlockedPatience})
		report := q.try()
		require.Equal(t, delivery.ResultRetry, report.Result)
		require.Len(t, q.wishes, 1)
		require.Equal(t, tuning.BlockedPatience, q.wishes[0].Until.Time().Sub(q.wishes[0].Since.Time()))
		require.Zero(t, q.wishes[0].Status)
	})
}

// What a receiver asks for is granted as far as the policy says, to the type and
// to the timer, which leaves the rest of the wait to its type.
func TestPatience(t *testing.T) {
	for name, c := range map[string]struct {
		asks    time.Duration
		most    time.Duration
		granted time.Duration
		own     time.Duration
	}{
		"a little":         {12 * time.Second, time.Hour, 12 * time.Second, 12 * time.Second},
		"an hour":          {time.Hour, time.Hour, time.Hour, tuning.BackPressureHeard},
		"2^32 seconds":     {1 << 32 * time.Second, time.Hour, time.Hour, tuning.BackPressureHeard},
		"up to a minute":   {time.Hour, time.Minute, time.Minute, tuning.BackPressureHeard},
		"less than a step": {time.Hour, time.Second, time.Second, 10 * time.Second},
		"nothing":          {time.Hour, 0, 0, 10 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q := newQueue(t)
				most := wire.Duration(c.most)
				q.policy.MaxBackPressure = &most
				q.answer = answers(delivery.Answer{Class: delivery.Answered, Status: 503, RetryAfter: c.asks})
				report := q.try()
				require.Equal(t, c.own, report.RetryIn.D())
				if c.granted == 0 {
					require.Empty(t, q.wishes)
					return
				}
				require.Len(t, q.wishes, 1)
				require.Equal(t, c.granted, q.wishes[0].Until.Time().Sub(q.wishes[0].Since.Time()))

				q = newQueue(t)
				q.policy.MaxBackPressure = &most
				q.answer = answers(delivery.Answer{Class: delivery.Answered, Status: 503, RetryAfter: c.asks})
				q.delivery.Spec.Callback = &delivery.Callback{Destination: delivery.HTTP("http://other.example")}
				require.Equal(t, max(c.granted, 10*time.Second), q.try().RetryIn.D(), "who calls elsewhere waits by itself")
				require.Empty(t, q.wishes)
			})
		})
	}
}

// An attempt in flight is waited for when the timer is cancelled, and not when
// its worker stops for good.
func TestWhatEndsAnAttempt(t *testing.T) {
	for name, c := range map[string]struct {
		stopped bool
		cause   error
		took    time.Duration
	}{
		"a cancel":                      {false, temporal.NewCanceledError(), 10 * time.Second},
		"a cancel while it stops":       {true, temporal.NewCanceledError(), 10 * time.Second},
		"its task is gone":              {false, errors.New("not found"), 10 * time.Second},
		"its worker is told to give up": {true, errors.New("worker is now shutdown"), time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q := newQueue(t)
				q.answer = hangs
				began := time.Now()
				var suite testsuite.WorkflowTestSuite
				env := suite.NewTestActivityEnvironment()
				env.SetTestTimeout(time.Hour)
				stop := make(chan struct{})
				if c.stopped {
					close(stop)
				}
				env.SetWorkerStopChannel(stop)
				var took time.Duration
				deliver := func(ctx context.Context) error {
					ctx, end := context.WithCancelCause(ctx)
					time.AfterFunc(time.Second, func() { end(c.cause) })
					_, _ = q.attempter.Deliver(ctx, q.delivery, converter.NewRawValue(nil))
					took = time.Since(began)
					return nil
				}
				env.RegisterActivity(deliver)
				_, err := env.ExecuteActivity(deliver)
				require.NoError(t, err)
				require.Equal(t, c.took, took)
			})
		})
	}
}

// What a receiver has said by the time that its worker has to give up is recorded, whatever
// of its answer is still on the way: who took it is not called again.
func TestAnAnswerOutlivesItsWorker(t *testing.T) {
	for name, c := range map[string]struct {
		answer delivery.Answer
		result delivery.Result
	}{
		"it took it":          {delivery.Answer{Delivered: true, Status: 200}, delivery.ResultDelivered},
		"it wants no more":    {delivery.Answer{Class: delivery.Answered, Status: 410, NoRetry: true}, delivery.ResultFailed},
		"it wants it later":   {delivery.Answer{Class: delivery.Answered, Status: 503}, delivery.ResultRetry},
		"a broker refused it": {delivery.Answer{Class: delivery.Refused}, delivery.ResultRetry},
		"it said nothing":     {delivery.Answer{Class: delivery.BrokenAnswer}, ""},
		"nor did it in time":  {delivery.Answer{Class: delivery.Timeout}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q := newQueue(t)
				q.answer = func(ctx context.Context) delivery.Answer {
					<-ctx.Done()
					return c.answer
				}
				var suite testsuite.WorkflowTestSuite
				env := suite.NewTestActivityEnvironment()
				env.SetTestTimeout(time.Hour)
				stop := make(chan struct{})
				close(stop)
				env.SetWorkerStopChannel(stop)
				deliver := func(ctx context.Context) (delivery.Report, error) {
					ctx, end := context.WithCancelCause(ctx)
					time.AfterFunc(time.Second, func() { end(errors.New("worker is now shutdown")) })
					return q.attempter.Deliver(ctx, q.delivery, converter.NewRawValue(nil))
				}
				env.RegisterActivity(deliver)
				value, err := env.ExecuteActivity(deliver)
				var report delivery.Report
				if app, failed := errors.AsType[*temporal.ApplicationError](err); failed {
					_ = app.Details(&report)
				} else if err == nil {
					require.NoError(t, value.Get(&report))
				}
				require.Equal(t, c.result, report.Result)
			})
		})
	}
}

// A worker that stood still while its try was given to another one calls nobody.
func TestATryThatWasTakenOver(t *testing.T) {
	for try, calls := range map[int]int{0: 1, 1: 1, 2: 0} {
		synctest.Test(t, func(t *testing.T) {
			q := newQueue(t)
			q.state.Try = try
			var suite testsuite.WorkflowTestSuite
			env := suite.NewTestActivityEnvironment()
			env.RegisterActivity(q.attempter.Deliver)
			_, err := env.ExecuteActivity(q.attempter.Deliver, q.delivery, converter.NewRawValue(nil))
			require.Equal(t, calls == 0, temporal.IsCanceledError(err), "try %d: %v", try, err)
			require.Len(t, q.calls, calls)
		})
	}
}

// changes has a change accepted while the attempt takes a while to begin.
func (q *queue) changes(while time.Duration) {
	<-time.After(while)
	q.state.Wanted, q.revoked = false, delivery.ResultInterrupted
}

// A worker asks once more before the call if it stood still while an attempt waited for its turn, or if the attempt
// took long to begin.
func TestAnAttemptThatWasTakenOverAsItWaited(t *testing.T) {
	stands := func(q *queue) { <-time.After(time.Minute); q.heard = time.Now() }
	for name, c := range map[string]struct {
		entering func(*queue)
		calls    int
	}{
		"at once":                    {func(*queue) {}, 1},
		"it stood still":             {stands, 1},
		"and another one has it":     {func(q *queue) { stands(q); q.state.Try, q.revoked = 2, delivery.ResultWorkerStopping }, 0},
		"another one, for all known": {func(q *queue) { q.state.Try, q.revoked = 2, delivery.ResultWorkerStopping }, 1},
		"changed, a moment ago":      {func(q *queue) { q.changes(tuning.ConfirmedFor) }, 1},
		"changed, and it took long":  {func(q *queue) { q.changes(tuning.ConfirmedFor + time.Millisecond) }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			for _, first := range []bool{true, false} {
				synctest.Test(t, func(t *testing.T) {
					q := newQueue(t)
					q.entering = func() { c.entering(q) }
					var suite testsuite.WorkflowTestSuite
					env := suite.NewTestActivityEnvironment()
					env.SetTestTimeout(time.Hour)
					attempt := q.attempter.Deliver
					if first {
						attempt = func(ctx context.Context, d timer.Delivery, _ converter.RawValue) (delivery.Report, error) {
							return runFirst(ctx, q.attempter, d)
						}
					}
					env.RegisterActivityWithOptions(attempt, activity.RegisterOptions{Name: "attempt"})
					_, err := env.ExecuteActivity("attempt", q.delivery, converter.NewRawValue(nil))
					require.Equal(t, !first && c.calls == 0, temporal.IsCanceledError(err), "%v", err)
					require.Len(t, q.calls, c.calls)
				})
			}
		})
	}
}

// A long attempt gives signs of life, which carry the last report along; one of
// the default length gives none.
func TestSignsOfLife(t *testing.T) {
	for timeout, beats := range map[time.Duration]int32{delivery.DefaultAttemptTimeout - time.Millisecond: 0, time.Minute: 1} {
		synctest.Test(t, func(t *testing.T) {
			q := newQueue(t)
			q.answer, q.policy.Callback.Timeout = hangs, wire.Duration(timeout)
			q.state.Last = &delivery.Report{Result: delivery.ResultRetry, Attempt: 2}
			var suite testsuite.WorkflowTestSuite
			env := suite.NewTestActivityEnvironment()
			env.SetTestTimeout(time.Hour)
			var heard atomic.Int32
			env.SetOnActivityHeartbeatListener(func(_ *activity.Info, details converter.EncodedValues) {
				var report delivery.Report
				require.NoError(t, details.Get(&report))
				require.Equal(t, 2, report.Attempt)
				heard.Add(1)
			})
			require.Equal(t, 3, q.tryIn(env).Attempt)
			require.GreaterOrEqual(t, heard.Load(), beats)
			require.Equal(t, beats == 0, heard.Load() == 0)
		})
	}
}
