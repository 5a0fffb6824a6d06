package bookings

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/enginetest"
	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/workflows"
)

// operations are all that is done to a timer, and whether it has to be there or to have failed.
var operations = map[string]struct {
	act    func(ctx context.Context, d fixture) error
	there  bool
	failed bool
}{
	"add": {func(ctx context.Context, d fixture) error { _, _, err := d.Add(ctx, in(time.Hour, `1`)); return err }, false, false},
	"put": {func(ctx context.Context, d fixture) error {
		_, _, err := d.Upsert(ctx, in(time.Hour, `1`), 0)
		return err
	}, false, false},
	"replace": {func(ctx context.Context, d fixture) error {
		r := in(time.Hour, `1`)
		r.IfMatch = "*"
		_, _, err := d.Upsert(ctx, r, 0)
		return err
	}, true, false},
	"amend": {func(ctx context.Context, d fixture) error {
		_, _, err := d.Amend(ctx, in(2*time.Hour, `1`), 0)
		return err
	}, true, false},
	"fire": {func(ctx context.Context, d fixture) error { _, _, err := d.Fire(ctx, Target{Key: order1}); return err }, true, false},
	"pause": {func(ctx context.Context, d fixture) error {
		_, _, err := d.Pause(ctx, Target{Key: order1}, timer.Pause{Stop: true})
		return err
	}, true, false},
	"cancel": {func(ctx context.Context, d fixture) error {
		_, _, err := d.Cancel(ctx, Target{Key: order1})
		return err
	}, true, false},
	"redeliver": {func(ctx context.Context, d fixture) error { _, err := d.Redeliver(ctx, order1, ""); return err }, true, true},
}

// Whatever Temporal answers, nobody is told that nothing happened where that is not known.
func TestWhatTemporalAnswersIsTranslated(t *testing.T) {
	t.Parallel()
	calls := []string{
		"DescribeWorkflowExecution", "ExecuteWorkflow", "SignalWithStartWorkflow", "RequestCancelWorkflowExecution", "GetWorkflowExecutionHistory", "GetWorkflowHistory",
	}
	for name, c := range operations {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			failed := 0
			for _, call := range calls {
				for _, answer := range []error{
					serviceerror.NewUnavailable("busy"), serviceerror.NewResourceExhausted(0, "slow down"), serviceerror.NewDeadlineExceeded("late"),
					serviceerror.NewPermissionDenied("no", ""), serviceerror.NewInvalidArgument("what"), errors.New("a connection broke"),
				} {
					d := newFixture(t, orders())
					if c.there {
						d.booked(t, in(time.Hour, `1`))
					}
					if c.failed {
						d.worker.Fail(order1ID)
					}
					d.temporal.Refuse(call, order1ID, answer)
					if err := c.act(t.Context(), d); err != nil {
						failed++
						require.Equal(t, wire.Unavailable, wire.CodeOf(err), "%s: %v", call, answer)
					}
				}
			}
			require.Positive(t, failed)
			d := newFixture(t, orders())
			if c.there {
				require.Equal(t, wantedCode(name), wire.CodeOf(c.act(t.Context(), d)), "there is no timer")
				d.booked(t, in(time.Hour, `1`))
			}
			if c.failed {
				d.worker.Fail(order1ID)
			}
			require.NoError(t, c.act(t.Context(), d))
		})
	}
}

// wantedCode is what an operation says where there is no timer.
func wantedCode(operation string) wire.Code {
	if operation == "replace" {
		return wire.PreconditionFailed
	}
	return wire.NotFound
}

// An answer that is lost is told as unknown, and the same request again tells the truth.
func TestALostAnswer(t *testing.T) {
	t.Parallel()
	for _, call := range []string{"ExecuteWorkflow", "SignalWithStartWorkflow"} {
		d := newFixture(t, orders())
		d.temporal.After = func(made enginetest.Call) error {
			if made.Name == call && made.Of == order1ID {
				d.temporal.After = nil
				return serviceerror.NewUnavailable("the connection broke")
			}
			return nil
		}
		book := operations["add"].act
		if call == "SignalWithStartWorkflow" {
			book = operations["put"].act
		}
		require.Equal(t, wire.Unavailable, wire.CodeOf(book(t.Context(), d)), call)
		require.NoError(t, book(t.Context(), d), call)
		require.Equal(t, 1, d.temporal.RunsOf(order1ID), call)
	}
}

// No operation is about an id that no timer can have.
func TestAnIDThatNoTimerHas(t *testing.T) {
	t.Parallel()
	d := newFixture(t, orders())
	r := in(time.Hour, `1`)
	r.Key.BusinessID = "a b"
	target := Target{Key: r.Key}
	_, _, add := d.Add(t.Context(), r)
	_, _, put := d.Upsert(t.Context(), r, 0)
	_, _, amend := d.Amend(t.Context(), r, 0)
	_, _, fire := d.Fire(t.Context(), target)
	_, _, cancel := d.Cancel(t.Context(), target)
	_, redeliver := d.Redeliver(t.Context(), r.Key, "")
	for _, err := range []error{add, put, amend, fire, cancel, redeliver} {
		require.Equal(t, wire.InvalidRequest, wire.CodeOf(err))
	}
	require.Empty(t, d.temporal.Calls("ExecuteWorkflow"))
}

// While a cancel is pending, nothing that comes after it is accepted.
func TestNothingIsLostBehindACancel(t *testing.T) {
	t.Parallel()
	for name, c := range operations {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				d := newFixture(t, orders())
				d.booked(t, in(time.Hour, `1`))
				require.NoError(t, operations["cancel"].act(t.Context(), d))
				err := c.act(t.Context(), d)
				if name == "cancel" {
					require.NoError(t, err, "it is the same word again")
					return
				}
				require.Equal(t, wire.CancelPending, wire.CodeOf(err))
			})
		})
	}
}

// A PUT whose timer is cancelled while it is on its way books anew where the cancel came first, and
// is told of the cancel where that came after it.
func TestAPutThatMeetsACancel(t *testing.T) {
	t.Parallel()
	for name, cancelFirst := range map[string]bool{"the cancel came first": true, "the put came first": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				d := newFixture(t, orders())
				first := d.booked(t, in(time.Hour, `1`))
				if cancelFirst {
					require.NoError(t, d.temporal.CancelWorkflow(t.Context(), order1ID, ""))
				}
				d.temporal.OnEvent = func(_ string, event *historypb.HistoryEvent) {
					d.temporal.OnEvent = nil
					if !cancelFirst {
						require.NoError(t, d.temporal.CancelWorkflow(t.Context(), order1ID, ""))
					}
					d.worker.Cancel(order1ID)
				}
				view, effect, err := d.Upsert(t.Context(), in(2*time.Hour, `2`), time.Minute)
				if !cancelFirst {
					require.Equal(t, wire.AlreadyFinished, wire.CodeOf(err))
					return
				}
				require.NoError(t, err)
				require.Equal(t, Created, effect)
				require.NotEqual(t, first.RunID, view.RunID)
			})
		})
	}
}

// Where the policy frees ids, a PUT that meets the end of a timer books anew.
func TestAPutThatMeetsAnEnd(t *testing.T) {
	t.Parallel()
	for _, reuse := range []policy.Reuse{"", policy.ReuseAfterEnd} {
		synctest.Test(t, func(t *testing.T) {
			current := orders()
			current.Reuse = reuse
			d := newFixture(t, current)
			d.booked(t, in(time.Hour, `1`))
			d.temporal.OnEvent = func(string, *historypb.HistoryEvent) {
				d.temporal.OnEvent = nil
				d.worker.Deliver(order1ID)
			}
			_, effect, err := d.Upsert(t.Context(), in(2*time.Hour, `2`), time.Minute)
			if reuse == "" {
				require.Equal(t, wire.AlreadyFinished, wire.CodeOf(err))
				return
			}
			require.NoError(t, err)
			require.Equal(t, Created, effect)
			require.Equal(t, 2, d.temporal.RunsOf(order1ID))
		})
	}
}

// A quota that is full keeps no timer from being replaced.
func TestAPutWithoutRoom(t *testing.T) {
	t.Parallel()
	full, one := orders(), 1
	full.Limits.Pending = &one
	d := newFixture(t, full)
	d.worker.Work(t)
	d.booked(t, in(time.Hour, `1`))
	_, effect, err := d.Upsert(t.Context(), in(2*time.Hour, `2`), time.Minute)
	require.NoError(t, err)
	require.Equal(t, Done, effect)
	other := in(time.Hour, `1`)
	other.Key.BusinessID = "2"
	_, _, err = d.Upsert(t.Context(), other, 0)
	require.Equal(t, wire.QuotaExceeded, wire.CodeOf(err))
}

// A change goes with the timer as it is, and leaves somebody to call.
func TestAChangeThatDoesNotFit(t *testing.T) {
	t.Parallel()
	own := delivery.Callback{Destination: delivery.HTTP("https://own.test/")}
	streams := orders()
	streams.Callback = delivery.Callback{Destination: delivery.Destination{Stream: true}}
	often := orders()
	often.MinInterval = wire.Duration(time.Hour)
	past := wire.At(time.Now()).Add(-30 * 24 * time.Hour)
	for name, c := range map[string]struct {
		policy policy.Policy
		terms  timer.Terms
		code   wire.Code
	}{
		"a receiver of its own":         {orders(), timer.Terms{Callback: &own}, ""},
		"one beside those that connect": {streams, timer.Terms{Callback: &own}, wire.InvalidRequest},
		"a rule that rings too often":   {often, timer.Terms{Recurrence: every(time.Minute)}, wire.InvalidRequest},
		"a due time too long ago":       {orders(), timer.Terms{DueAt: &past}, wire.InvalidRequest},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newFixture(t, c.policy)
			d.booked(t, in(time.Hour, `1`))
			_, _, err := d.Amend(t.Context(), Request{Key: order1, Terms: c.terms}, 0)
			require.Equal(t, c.code == "", err == nil, err)
			if err != nil {
				require.Equal(t, c.code, wire.CodeOf(err))
				require.Empty(t, d.temporal.Calls("SignalWithStartWorkflow"), "a change that is refused does nothing")
			}
		})
	}
	d := newFixture(t, orders())
	d.temporal.Refuse("DescribeWorkflowExecution", workflows.PolicyID("order"), errors.New("down"))
	_, _, err := d.Amend(t.Context(), Request{Key: order1, Terms: timer.Terms{Recurrence: every(time.Hour)}}, 0)
	require.Equal(t, wire.Unavailable, wire.CodeOf(err), "how often it may ring is not known")
}

// A timer is given a task, unless it has ended since.
func TestATimerIsWoken(t *testing.T) {
	t.Parallel()
	d := newFixture(t, orders())
	view := d.booked(t, in(time.Hour, `1`))
	spec := timer.Spec{Key: order1, Memo: view.Memo}
	woken, err := d.Wake(t.Context(), spec)
	require.NoError(t, err)
	require.True(t, woken)
	d.temporal.Refuse("SignalWithStartWorkflow", "", serviceerror.NewUnavailable("busy"))
	_, err = d.Wake(t.Context(), spec)
	require.Equal(t, wire.Unavailable, wire.CodeOf(err))
	d.temporal.Before = nil
	d.worker.Deliver(order1ID)
	woken, err = d.Wake(t.Context(), spec)
	require.NoError(t, err)
	require.False(t, woken)
	require.Equal(t, 1, d.temporal.RunsOf(order1ID), "nothing is started")
}

// A pause that finds the timer as it should be is believed once no worker has anything to apply.
func TestAPauseWaitsForWhatIsBeingApplied(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before func(d fixture)
		took   time.Duration
	}{
		"a worker has its task": {func(d fixture) { d.worker.Hold(order1ID, "w") }, tuning.SettledWait},
		"an attempt is called off": {func(d fixture) {
			d.worker.Pend(order1ID, &workflowpb.PendingActivityInfo{State: enumspb.PENDING_ACTIVITY_STATE_CANCEL_REQUESTED})
		}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				d := newFixture(t, orders())
				d.booked(t, in(time.Hour, `1`))
				c.before(d)
				began := time.Now()
				_, effect, err := d.Pause(t.Context(), Target{Key: order1}, timer.Pause{Stop: false})
				require.NoError(t, err)
				require.Equal(t, Pending, effect, "it is asked for all the same")
				require.InDelta(t, float64(c.took), float64(time.Since(began)), float64(2*tuning.TaskPoll))
			})
		})
	}
}

// What cannot be undone of a booking whose policy is closed meanwhile is told as unknown, and what
// has ended needs no undoing.
func TestABookingThatCannotBeUndone(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer error
		code   wire.Code
	}{
		"Temporal is away": {serviceerror.NewUnavailable("busy"), wire.Unavailable},
		"it has ended":     {serviceerror.NewNotFound("it has ended"), ""},
	} {
		synctest.Test(t, func(t *testing.T) {
			temporal := &enginetest.Temporal{}
			temporal.Policy(t, orders())
			closed := orders()
			closed.ClosedUntil = wire.At(time.Now().Add(time.Hour))
			temporal.Refuse("TerminateWorkflowExecution", order1ID, c.answer)
			d := newFixtureOn(t, slow{temporal, func() { temporal.Policy(t, closed) }}, 0)
			_, _, err := d.Add(t.Context(), in(time.Hour, `1`))
			require.Equal(t, c.code == "", err == nil, name)
			if err != nil {
				require.Equal(t, c.code, wire.CodeOf(err), name)
			}
		})
	}
}

// A booking whose policy is deleted meanwhile is undone, unless it has a receiver of its own.
func TestABookingWithoutAPolicyAnyMore(t *testing.T) {
	t.Parallel()
	for _, own := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			temporal := &enginetest.Temporal{}
			temporal.Policy(t, orders())
			r := in(time.Hour, `1`)
			if own {
				r.Terms.Callback = &delivery.Callback{Destination: delivery.HTTP("https://own.test/")}
			}
			d := newFixtureOn(t, slow{temporal, func() { enginetest.Worker{On: temporal}.Close(workflows.PolicyID("order"), nil) }}, 0)
			_, created, err := d.Add(t.Context(), r)
			require.Equal(t, own, created)
			if !own {
				require.Equal(t, wire.UnknownBusinessType, wire.CodeOf(err))
			}
		})
	}
}

// room is a worker with room for some timers.
type room struct{ left int }

func (r *room) Room(timer.Memo, float64) bool {
	r.left--
	return r.left >= 0
}

// What is due soon is handed to a worker of this process as it is booked, if that has room and
// nothing speaks against it.
func TestAnEagerBooking(t *testing.T) {
	t.Parallel()
	rate := 5.0
	paced, paused := orders(), orders()
	paced.Limits.CallbacksPerSecond, paused.Paused = &rate, true
	for name, c := range map[string]struct {
		policy  policy.Policy
		request Request
		room    int
		want    bool
	}{
		"due soon":        {orders(), in(time.Second, `1`), 1, true},
		"no room":         {orders(), in(time.Second, `1`), 0, false},
		"due later":       {orders(), in(time.Hour, `1`), 1, false},
		"Temporal paces":  {paced, in(time.Second, `1`), 1, false},
		"a paused type":   {paused, in(time.Second, `1`), 1, false},
		"a recurring one": {orders(), Request{Key: order1, Terms: timer.Terms{Recurrence: every(time.Minute)}}, 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newFixture(t, c.policy)
			d.PreloadHere(&room{left: c.room})
			spec, _, err := d.Adder.admission.admit(t.Context(), c.request)
			require.NoError(t, err)
			eager := d.Adder.starter.eagerly(t.Context(), spec)
			require.Equal(t, c.want, eager.Eager)
			require.Equal(t, c.want, startOptions(eager).EnableEagerStart)
			if c.want {
				require.Zero(t, startDelay(eager), "Temporal starts nothing eagerly that has a delay")
			}
			_, created, err := d.Add(t.Context(), c.request)
			require.NoError(t, err)
			require.True(t, created)
		})
	}
}

// The Web UI says when a timer is due and who it calls, and not more than fits.
func TestTheSummaryOfATimer(t *testing.T) {
	t.Parallel()
	spec := timer.Spec{Key: order1, Memo: timer.Memo{DueAt: wire.At(time.Unix(1_800_000_000, 0))}, Target: "https://orders.test/"}
	require.Equal(t, "due 2027-01-15T08:00:00.000Z, calls https://orders.test/", summary(spec))
	spec.Target = strings.Repeat("x", 2*tuning.SummaryTarget)
	require.Len(t, summary(spec), len("due 2027-01-15T08:00:00.000Z, calls ")+tuning.SummaryTarget+3)
	spec.Target, spec.Suspended = "", true
	require.Equal(t, "paused", summary(spec))
}

// A key names its booking however often the id was booked since, with another key, without one, or
// by a PUT.
func TestAKeyNamesOneBooking(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newFixture(t, orders())
		first := d.booked(t, under("first", in(time.Hour, `1`)))
		for n := range 6 {
			d.worker.Fail(order1ID)
			<-time.After(tuning.VisibilityLag)
			switch n % 3 {
			case 0:
				d.booked(t, in(time.Hour, `2`))
			case 1:
				d.booked(t, under("other"+strconv.Itoa(n), in(time.Hour, `3`)))
			default:
				_, effect, err := d.Upsert(t.Context(), in(time.Hour, `4`), 0)
				require.NoError(t, err)
				require.Equal(t, Created, effect)
			}
			again, created, err := d.Add(t.Context(), under("first", in(time.Hour, `1`)))
			require.NoError(t, err)
			require.False(t, created)
			require.Equal(t, first.RunID, again.RunID, n)
			require.Equal(t, wire.IdempotencyKeyReused, d.refused(t, under("first", in(time.Hour, `9`))))
			require.Equal(t, wire.AlreadyExists, d.refused(t, under("unheard of", in(time.Hour, `9`))))
		}
		d.temporal.Refuse("ListWorkflow", "", errors.New("down"))
		require.Equal(t, wire.Unavailable, d.refused(t, under("unheard of", in(time.Hour, `9`))), "whether it was used is not known")
	})
}

// A request whose key the timer does not remember waits until visibility shows the bookings before. It waits
// no longer where the clock of the gateway that booked the timer is ahead.
func TestHowLongAKeyIsLookedFor(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before int
		under  string
		ahead  time.Duration
		want   time.Duration
	}{
		"booked without a key":          {before: 0, want: tuning.VisibilityLag},
		"by a clock that is ahead":      {before: 0, ahead: time.Hour, want: tuning.VisibilityLag},
		"by a clock that is far behind": {before: 0, ahead: -time.Hour},
		"it remembers all keys":         {before: timer.MaxEarlierKeys - 1, under: "last"},
		"it may have forgotten some":    {before: timer.MaxEarlierKeys, under: "last", want: tuning.VisibilityLag},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				d := newFixture(t, orders())
				for n := range c.before {
					d.booked(t, under(strconv.Itoa(n), in(time.Hour, `1`)))
					d.worker.Fail(order1ID)
				}
				memo := d.booked(t, under(c.under, in(time.Hour, `2`))).Memo
				memo.CreatedAt = memo.CreatedAt.Add(c.ahead)
				d.worker.Say(t, order1ID, workflows.MemoTimer, memo)
				began := time.Now()
				require.Equal(t, wire.AlreadyExists, d.refused(t, under("unheard of", in(time.Hour, `9`))))
				require.Equal(t, c.want, time.Since(began))
			})
		})
	}
}

// Of a timer that failed, a redelivery is of the run that was found, and of no booking after it.
func TestARetrialOfARun(t *testing.T) {
	t.Parallel()
	nobody := orders()
	nobody.Callback.URL = ""
	for name, c := range map[string]struct {
		since func(d fixture, found timer.View) Retrial
		code  wire.Code
	}{
		"the one that was found": {func(_ fixture, found timer.View) Retrial { return Retrial{RunID: found.RunID, Job: "bulk:1"} }, ""},
		"tried again since": {func(d fixture, found timer.View) Retrial {
			_, err := d.Redeliver(context.Background(), order1, "")
			require.NoError(t, err)
			return Retrial{RunID: found.RunID}
		}, wire.Overtaken},
		"being cancelled": {func(d fixture, _ timer.View) Retrial {
			_, _, err := d.Add(context.Background(), in(time.Hour, `1`))
			require.NoError(t, err)
			require.NoError(t, d.temporal.CancelWorkflow(context.Background(), order1ID, ""))
			return Retrial{}
		}, wire.CancelPending},
		"a policy that is closed": {func(d fixture, _ timer.View) Retrial {
			closed := orders()
			closed.ClosedUntil = wire.At(time.Now().Add(time.Hour))
			d.temporal.Policy(t, closed)
			return Retrial{}
		}, wire.Unavailable},
		"nobody to call": {func(d fixture, _ timer.View) Retrial {
			d.temporal.Policy(t, nobody)
			return Retrial{}
		}, wire.InvalidRequest},
		"somebody was quicker": {func(d fixture, _ timer.View) Retrial {
			d.temporal.Before = func(call enginetest.Call) error {
				if call.Name == "ExecuteWorkflow" && call.Of == order1ID {
					d.temporal.Before = nil
					_, err := d.Redeliver(context.Background(), order1, "")
					return err
				}
				return nil
			}
			return Retrial{}
		}, wire.Overtaken},
		"its run ended while the policy was read once more": {func(d fixture, _ timer.View) Retrial {
			d.temporal.After = func(call enginetest.Call) error {
				if call.Name == "ExecuteWorkflow" && call.Of == order1ID {
					d.temporal.After = nil
					d.worker.Deliver(order1ID)
					d.temporal.Refuse("DescribeWorkflowExecution", workflows.PolicyID("order"), serviceerror.NewUnavailable("busy"))
				}
				return nil
			}
			return Retrial{}
		}, wire.AlreadyFinished},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			temporal := &enginetest.Temporal{}
			temporal.Policy(t, orders())
			d := newFixtureOn(t, temporal, 0)
			d.temporal, d.worker = temporal, enginetest.Worker{On: temporal}
			found := d.booked(t, in(time.Hour, `1`))
			d.worker.Fail(order1ID)
			again := c.since(d, found)
			view, err := d.Retry(t.Context(), order1, again)
			require.Equal(t, c.code == "", err == nil, err)
			if err != nil {
				require.Equal(t, c.code, wire.CodeOf(err))
				return
			}
			require.Equal(t, 1, view.Memo.Round)
		})
	}
}
