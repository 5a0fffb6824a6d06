package bookings

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"

	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/enginetest"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/engine/visibility"
	"github.com/wakecall/wakecall/workflows"
)

// With a worker at hand, a change is answered once it took effect.
func TestAChangeIsAnsweredWithItsEffect(t *testing.T) {
	t.Parallel()
	d := newFixture(t, orders())
	d.worker.Work(t)
	first := d.booked(t, in(time.Hour, `1`))

	moved, effect, err := d.Amend(t.Context(), in(2*time.Hour, `1`), time.Minute)
	require.NoError(t, err)
	require.Equal(t, Done, effect)
	require.Equal(t, first.Revision+1, moved.Revision)
	require.Greater(t, moved.DueAt, first.DueAt)
	require.Equal(t, first.Revision, moved.Found.Revision, "it tells what it came upon")

	put, effect, err := d.Upsert(t.Context(), in(3*time.Hour, `2`), time.Minute)
	require.NoError(t, err)
	require.Equal(t, Done, effect)
	require.Equal(t, moved.Revision+1, put.Revision)
	require.Equal(t, 3, d.temporal.RunsOf(order1ID))
}

func TestAPutBooksWhatIsNotThere(t *testing.T) {
	t.Parallel()
	d := newFixture(t, orders())
	view, effect, err := d.Upsert(t.Context(), in(time.Hour, `1`), 0)
	require.NoError(t, err)
	require.Equal(t, Created, effect)
	require.Equal(t, timer.Scheduled, view.Status)

	conditional := in(time.Hour, `1`)
	conditional.Key.BusinessID, conditional.IfMatch = "2", "*"
	_, _, err = d.Upsert(t.Context(), conditional, 0)
	require.Equal(t, wire.PreconditionFailed, wire.CodeOf(err), "If-Match asks for one that is there")
}

// Without a worker a change is durable, and told as pending once the wait is over.
func TestAChangeThatNoWorkerHasApplied(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newFixture(t, orders())
		d.booked(t, in(time.Hour, `1`))
		began := time.Now()
		view, effect, err := d.Amend(t.Context(), in(2*time.Hour, `1`), 3*time.Second)
		require.NoError(t, err)
		require.Equal(t, Pending, effect)
		require.NotEmpty(t, view.PendingChange)
		require.Equal(t, 3*time.Second, time.Since(began))
	})
}

// A change that meets a delivery is refused with the timer's true state.
func TestAChangeThatLosesTheRace(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newFixture(t, orders())
		d.booked(t, in(time.Hour, `1`))
		time.AfterFunc(time.Second, func() { d.worker.Deliver(order1ID) })
		_, _, err := d.Amend(t.Context(), in(2*time.Hour, `1`), time.Minute)
		require.Equal(t, wire.AlreadyFinished, wire.CodeOf(err))
		require.Equal(t, timer.Delivered, stateOf(t, err).Status)

		_, _, err = d.Fire(t.Context(), Target{Key: order1})
		require.Equal(t, wire.AlreadyFinished, wire.CodeOf(err))
		_, _, err = d.Upsert(t.Context(), in(time.Hour, `1`), 0)
		require.Equal(t, wire.AlreadyFinished, wire.CodeOf(err))
	})
}

// repeating makes each call twice, as the connection does where the first answer was lost.
type repeating struct {
	*enginetest.Temporal
	between func()
}

//nolint:revive // the client's own arguments
func (r repeating) SignalWithStartWorkflow(
	ctx context.Context, id, name string, value any, options client.StartWorkflowOptions, workflow any, args ...any,
) (client.WorkflowRun, error) {
	if run, err := r.Temporal.SignalWithStartWorkflow(ctx, id, name, value, options, workflow, args...); err != nil {
		return run, err
	}
	r.between()
	options.WorkflowIDReusePolicy = enumspb.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE
	return r.Temporal.SignalWithStartWorkflow(ctx, id, name, value, options, workflow, args...)
}

// ExecuteWorkflow implements [client.Client]. Temporal knows a repeated start in the first run only.
func (r repeating) ExecuteWorkflow(
	ctx context.Context, options client.StartWorkflowOptions, workflow any, args ...any,
) (client.WorkflowRun, error) {
	if run, err := r.Temporal.ExecuteWorkflow(ctx, options, workflow, args...); err != nil {
		return run, err
	}
	r.between()
	options.WorkflowIDReusePolicy = enumspb.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE
	return r.Temporal.ExecuteWorkflow(ctx, options, workflow, args...)
}

// ends are the ways in which a timer ends, and its status then.
var ends = map[timer.Status]func(worker enginetest.Worker){
	timer.Delivered: func(worker enginetest.Worker) { worker.Deliver(order1ID) },
	timer.Failed:    func(worker enginetest.Worker) { worker.Fail(order1ID) },
	timer.Cancelled: func(worker enginetest.Worker) { worker.Cancel(order1ID) },
}

// A PUT that books a timer books it once, also where its call is repeated after the timer has ended.
func TestAPutIsRepeatedAfterTheEnd(t *testing.T) {
	t.Parallel()
	for status, end := range ends {
		for _, reuse := range policy.Reuses() {
			temporal := &enginetest.Temporal{}
			reused := orders()
			reused.Reuse = reuse
			temporal.Policy(t, reused)
			d := newFixtureOn(t, repeating{temporal, func() { end(enginetest.Worker{On: temporal}) }}, time.Hour)
			view, effect, err := d.Upsert(t.Context(), in(time.Hour, `1`), time.Minute)
			require.NoError(t, err)
			require.Equal(t, []any{Created, status, 1}, []any{effect, view.Status, temporal.RunsOf(order1ID)}, reuse)
		}
	}
}

// A PUT that books a timer, and whose call is repeated after a change of it, is no change: a worker that was
// told of one would wait for it.
func TestAPutIsRepeatedAfterAChange(t *testing.T) {
	t.Parallel()
	edit := timer.Change{ID: "c", Terms: timer.Terms{Payload: in(0, `2`).Terms.Payload}, At: wire.At(time.Now()), Fingerprint: "f"}
	temporal := &enginetest.Temporal{}
	temporal.Policy(t, orders())
	d := newFixtureOn(t, repeating{temporal, func() {
		worker := enginetest.Worker{On: temporal}
		worker.Apply(t, order1ID, edit)
		worker.Hold(order1ID, "worker-7")
	}}, time.Hour)
	view, effect, err := d.Upsert(t.Context(), in(time.Second, `1`), 0)
	require.NoError(t, err)
	require.Equal(t, []any{Created, 2}, []any{effect, view.Revision})
	require.Empty(t, temporal.Marks(order1ID))
	require.Zero(t, temporal.RunsOf(workflows.NotifyID(view.RunID)))
}

// losing loses the first call. The connection repeats it.
type losing struct {
	*enginetest.Temporal
	first *sync.Once
}

//nolint:revive // the client's own arguments
func (l losing) SignalWithStartWorkflow(
	ctx context.Context, id, name string, value any, options client.StartWorkflowOptions, workflow any, args ...any,
) (client.WorkflowRun, error) {
	l.first.Do(func() { options.WorkflowIDReusePolicy = enumspb.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE })
	return l.Temporal.SignalWithStartWorkflow(ctx, id, name, value, options, workflow, args...)
}

// A PUT whose first try was lost books an id that is free, and no other.
func TestAPutWhoseFirstTryWasLost(t *testing.T) {
	t.Parallel()
	for status, end := range ends {
		for _, reuse := range policy.Reuses() {
			temporal := &enginetest.Temporal{}
			reused := orders()
			reused.Reuse = reuse
			temporal.Policy(t, reused)
			newFixtureOn(t, temporal, time.Hour).booked(t, in(time.Hour, `1`))
			end(enginetest.Worker{On: temporal})
			_, effect, err := newFixtureOn(t, losing{temporal, &sync.Once{}}, time.Hour).Upsert(t.Context(), in(time.Hour, `1`), time.Minute)
			if bookable(reuse, status) {
				require.NoError(t, err)
				require.Equal(t, []any{Created, 2}, []any{effect, temporal.RunsOf(order1ID)}, "%s, %s", status, reuse)
			} else {
				require.Equal(t, wire.AlreadyFinished, wire.CodeOf(err), "%s, %s", status, reuse)
			}
		}
	}
}

// A booking whose call is repeated is the one that was made, whatever has become of the timer since.
func TestABookingIsRepeated(t *testing.T) {
	t.Parallel()
	edit := timer.Change{ID: "c", Terms: in(2*time.Hour, `2`).Terms.FixLocalDue(), At: wire.At(time.Now()), Fingerprint: "f"}
	for name, c := range map[string]struct {
		between func(worker enginetest.Worker)
		status  timer.Status
	}{
		"edited":          {func(worker enginetest.Worker) { worker.Apply(t, order1ID, edit) }, timer.Scheduled},
		"edited and rung": {func(worker enginetest.Worker) { worker.Apply(t, order1ID, edit); worker.Deliver(order1ID) }, timer.Delivered},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, reuse := range policy.Reuses() {
				temporal := &enginetest.Temporal{}
				reused := orders()
				reused.Reuse = reuse
				temporal.Policy(t, reused)
				d := newFixtureOn(t, repeating{temporal, func() { c.between(enginetest.Worker{On: temporal}) }}, time.Hour)
				view, _, err := d.Add(t.Context(), in(time.Hour, `1`))
				require.NoError(t, err)
				require.Equal(t, []any{2, c.status}, []any{view.Revision, view.Status})
			}
		})
	}
}

// A change is made and answered once, also where its call is repeated after a worker has applied it, and
// after the timer has rung.
func TestAChangeIsRepeated(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change  func(d fixture, first timer.View) (timer.View, Effect, error)
		between func(worker enginetest.Worker)
		status  timer.Status
	}{
		"with a precondition": {func(d fixture, first timer.View) (timer.View, Effect, error) {
			r := in(2*time.Hour, `2`)
			r.IfMatch = first.Memo.Tag()
			return d.Amend(t.Context(), r, time.Minute)
		}, func(enginetest.Worker) {}, timer.Scheduled},
		"a fire that has rung": {func(d fixture, _ timer.View) (timer.View, Effect, error) {
			return d.Fire(t.Context(), Target{Key: order1, Wait: time.Minute})
		}, func(worker enginetest.Worker) { worker.Deliver(order1ID) }, timer.Delivered},
		"a PUT": {func(d fixture, _ timer.View) (timer.View, Effect, error) {
			return d.Upsert(t.Context(), in(2*time.Hour, `2`), time.Minute)
		}, func(worker enginetest.Worker) { worker.Deliver(order1ID) }, timer.Delivered},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			temporal := &enginetest.Temporal{}
			temporal.Policy(t, orders())
			worker := enginetest.Worker{On: temporal}
			worker.Work(t)
			first := newFixtureOn(t, temporal, time.Hour).booked(t, in(time.Hour, `1`))
			d := newFixtureOn(t, repeating{temporal, func() { c.between(worker) }}, time.Hour)
			view, effect, err := c.change(d, first)
			require.NoError(t, err)
			require.Equal(t, Done, effect)
			require.Equal(t, []any{first.Revision + 1, c.status}, []any{view.Revision, view.Status})
		})
	}
}

// A run may close between the end of the wait and the look at the timer. The answer then says what
// became of the change, and not that it is pending.
func TestAChangeWhoseRunClosesAsTheWaitEnds(t *testing.T) {
	t.Parallel()
	atTheLook := func(d fixture, do func()) {
		waited := false
		d.temporal.Before = func(call enginetest.Call) error {
			switch {
			case call.Name == "GetWorkflowHistory":
				waited = true
			case call.Name == "DescribeWorkflowExecution" && waited:
				d.temporal.Before = nil
				do()
			}
			return nil
		}
	}
	lost := newFixture(t, orders())
	lost.booked(t, in(time.Hour, `1`))
	atTheLook(lost, func() { lost.worker.Deliver(order1ID) })
	_, _, err := lost.Amend(t.Context(), in(2*time.Hour, `1`), 0)
	require.Equal(t, wire.AlreadyFinished, wire.CodeOf(err))
	require.Equal(t, timer.Delivered, stateOf(t, err).Status)

	won := newFixture(t, orders())
	first := won.booked(t, in(time.Hour, `1`))
	var change timer.Change
	won.temporal.OnEvent = func(_ string, event *historypb.HistoryEvent) {
		require.NoError(t, enginetest.Payloads.FromPayloads(event.GetWorkflowExecutionSignaledEventAttributes().GetInput(), &change))
	}
	atTheLook(won, func() { won.worker.Apply(t, order1ID, change) })
	moved, effect, err := won.Amend(t.Context(), in(2*time.Hour, `1`), 0)
	require.NoError(t, err)
	require.Equal(t, Done, effect)
	require.Equal(t, first.Revision+1, moved.Revision)
	require.Empty(t, moved.PendingChange)
}

// A change that does not fit what came first is told so, and not as done.
func TestAChangeThatWasOvertaken(t *testing.T) {
	t.Parallel()
	d := newFixture(t, orders())
	d.worker.Work(t)
	first := d.booked(t, in(time.Hour, `1`))
	conditional := in(2*time.Hour, `1`)
	conditional.IfMatch = first.Memo.Tag()
	_, _, err := d.Amend(t.Context(), conditional, time.Minute)
	require.NoError(t, err)
	_, _, err = d.Amend(t.Context(), conditional, time.Minute)
	require.Equal(t, wire.PreconditionFailed, wire.CodeOf(err), "seen before it is sent")

	// The condition holds when it is sent, and not when it is applied.
	work := d.temporal.OnEvent
	d.temporal.OnEvent = func(id string, event *historypb.HistoryEvent) {
		d.temporal.OnEvent = work
		first := timer.Change{ID: "first", Terms: in(4*time.Hour, `1`).Terms.FixLocalDue(), At: wire.At(time.Now()), Fingerprint: "f"}
		var late timer.Change
		require.NoError(t, enginetest.Payloads.FromPayloads(event.GetWorkflowExecutionSignaledEventAttributes().GetInput(), &late))
		d.worker.Apply(t, id, first, late)
	}
	conditional.IfMatch = stateOf(t, err).Memo.Tag()
	_, _, err = d.Amend(t.Context(), conditional, time.Minute)
	require.Equal(t, wire.PreconditionFailed, wire.CodeOf(err), "seen as it is applied")
}

func TestWhatAChangeNeeds(t *testing.T) {
	t.Parallel()
	d := newFixture(t, orders())
	_, _, err := d.Amend(t.Context(), in(time.Hour, `1`), 0)
	require.Equal(t, wire.NotFound, wire.CodeOf(err))
	_, _, err = d.Cancel(t.Context(), Target{Key: order1})
	require.Equal(t, wire.NotFound, wire.CodeOf(err))
	d.booked(t, in(time.Hour, `1`))
	_, _, err = d.Change(t.Context(), Target{Key: order1, Status: timer.Paused}, timer.Change{Ring: true, At: wire.At(time.Now())})
	require.Equal(t, wire.Overtaken, wire.CodeOf(err), "it is in another status")
	_, _, err = d.Cancel(t.Context(), Target{Key: order1, IfMatch: `"other"`})
	require.Equal(t, wire.PreconditionFailed, wire.CodeOf(err))
}

func TestACancelIsAnsweredWithItsEffect(t *testing.T) {
	t.Parallel()
	d := newFixture(t, orders())
	d.worker.Work(t)
	d.booked(t, in(time.Hour, `1`))
	view, effect, err := d.Cancel(t.Context(), Target{Key: order1, Wait: time.Minute})
	require.NoError(t, err)
	require.Equal(t, Done, effect)
	require.Equal(t, timer.Cancelled, view.Status)
	require.False(t, view.Unchanged)

	view, effect, err = d.Cancel(t.Context(), Target{Key: order1, Wait: time.Minute})
	require.NoError(t, err, "it is so already")
	require.Equal(t, Done, effect)
	require.True(t, view.Unchanged)

	d.booked(t, in(time.Hour, `2`))
	d.worker.Deliver(order1ID)
	_, _, err = d.Cancel(t.Context(), Target{Key: order1})
	require.Equal(t, wire.AlreadyFinished, wire.CodeOf(err))
}

// Without a worker a cancel is durable, and is answered as pending with the timer as it is.
func TestACancelThatNoWorkerHasApplied(t *testing.T) {
	t.Parallel()
	d := newFixture(t, orders())
	d.booked(t, in(time.Hour, `1`))
	view, effect, err := d.Cancel(t.Context(), Target{Key: order1})
	require.NoError(t, err)
	require.Equal(t, Pending, effect)
	require.Equal(t, timer.Scheduled, view.Status)
	require.True(t, view.CancelRequested)
}

// A cancel of a run that gives way to a change goes on to the next run.
func TestACancelFollowsTheTimer(t *testing.T) {
	t.Parallel()
	d := newFixture(t, orders())
	d.booked(t, in(time.Hour, `1`))
	cancels := 0
	d.worker.Work(t)
	work := d.temporal.OnEvent
	d.temporal.OnEvent = func(id string, event *historypb.HistoryEvent) {
		if cancels++; cancels == 1 { // a change comes first
			d.worker.Apply(t, id, timer.Change{ID: "c", Terms: in(2*time.Hour, `1`).Terms.FixLocalDue(), At: wire.At(time.Now()), Fingerprint: "f"})
			return
		}
		work(id, event)
	}
	view, effect, err := d.Cancel(t.Context(), Target{Key: order1, Wait: time.Minute})
	require.NoError(t, err)
	require.Equal(t, Done, effect)
	require.Equal(t, timer.Cancelled, view.Status)
	require.Equal(t, 2, cancels)
}

// A timer that a worker holds hears of a change by a mark, and by a notification.
func TestAHeldTimerIsTold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newFixture(t, orders())
		first := d.booked(t, in(time.Second, `1`))
		d.worker.Hold(order1ID, "worker-7")
		changed, effect, err := d.Amend(t.Context(), in(2*time.Hour, `1`), 0)
		require.NoError(t, err)
		require.Equal(t, Pending, effect, "its worker has yet to apply it")
		require.Equal(t, first.RunID, changed.RunID)
		marks := d.temporal.Marks(order1ID)
		require.Len(t, marks, 1)
		require.Contains(t, marks[0], workflows.ChangeMark(first.RunID))
		require.Equal(t, 1, d.temporal.RunsOf(workflows.NotifyID(first.RunID)))

		_, _, err = d.Cancel(context.WithoutCancel(t.Context()), Target{Key: order1})
		require.NoError(t, err)
	})
}

// Another change may move the timer into a worker's hands after this one has read it. The worker is told
// all the same: a signal alone is hidden from it, and it would ring.
func TestATimerThatIsHeldSince(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newFixture(t, orders())
		first := d.booked(t, in(time.Hour, `1`))
		d.temporal.Before = func(call enginetest.Call) error {
			if call.Name == "SignalWithStartWorkflow" {
				d.temporal.Before = nil
				soon := in(time.Second, `1`).Terms.FixLocalDue()
				d.worker.Apply(t, order1ID, timer.Change{ID: "c", Terms: soon, At: wire.At(time.Now()), Fingerprint: "f"})
				d.worker.Hold(order1ID, "worker-7")
			}
			return nil
		}
		changed, effect, err := d.Amend(t.Context(), in(2*time.Hour, `1`), 0)
		require.NoError(t, err)
		require.Equal(t, Pending, effect)
		require.NotEqual(t, first.RunID, changed.RunID)
		require.Len(t, d.temporal.Marks(order1ID), 1)
		require.Equal(t, 1, d.temporal.RunsOf(workflows.NotifyID(changed.RunID)))
	})
}

// A change of which the worker could not be told may come too late, so its effect is unknown.
func TestAHeldTimerThatIsNotTold(t *testing.T) {
	t.Parallel()
	for _, call := range []string{"StartWorkflowExecution", "ExecuteWorkflow"} {
		d := newFixture(t, orders())
		d.booked(t, in(time.Second, `1`))
		d.worker.Hold(order1ID, "worker-7")
		d.temporal.Refuse(call, "", serviceerror.NewUnavailable("busy"))
		_, _, err := d.Amend(t.Context(), in(2*time.Hour, `1`), 0)
		require.Equal(t, wire.Unavailable, wire.CodeOf(err), call)
	}
}

func TestAPause(t *testing.T) {
	t.Parallel()
	d := newFixture(t, orders())
	d.worker.Work(t)
	first := d.booked(t, in(time.Hour, `1`))
	paused, effect, err := d.Pause(t.Context(), Target{Key: order1, Wait: time.Minute}, timer.Pause{Stop: true})
	require.NoError(t, err)
	require.Equal(t, Done, effect)
	require.Equal(t, timer.Paused, paused.Status)
	runs := d.temporal.RunsOf(order1ID)
	again, effect, err := d.Pause(t.Context(), Target{Key: order1}, timer.Pause{Stop: true})
	require.NoError(t, err)
	require.Equal(t, Done, effect)
	require.True(t, again.Unchanged)
	require.Equal(t, runs, d.temporal.RunsOf(order1ID), "it is so already")
	_, _, err = d.Pause(t.Context(), Target{Key: order1, IfMatch: first.Memo.Tag()}, timer.Pause{})
	require.Equal(t, wire.PreconditionFailed, wire.CodeOf(err))
}

func TestARedelivery(t *testing.T) {
	t.Parallel()
	d := newFixture(t, orders())
	_, err := d.Redeliver(t.Context(), order1, "")
	require.Equal(t, wire.NotFound, wire.CodeOf(err))
	first := d.booked(t, in(time.Hour, `1`))
	_, err = d.Redeliver(t.Context(), order1, "")
	require.Equal(t, wire.Overtaken, wire.CodeOf(err), "it has not failed")
	require.Zero(t, d.redeliveries(t))

	d.worker.Fail(order1ID)
	_, err = d.Redeliver(t.Context(), order1, "1-00000000")
	require.Equal(t, wire.PreconditionFailed, wire.CodeOf(err), "the failed one is another booking")
	require.Equal(t, first.RunID, stateOf(t, err).RunID)
	again, err := d.Redeliver(t.Context(), order1, first.Memo.Tag())
	require.NoError(t, err)
	require.Equal(t, first.Memo.Round+1, again.Memo.Round)
	require.Equal(t, first.WebhookID, again.WebhookID, "the same message")
	require.Equal(t, 1, d.redeliveries(t))

	d.worker.Deliver(order1ID)
	_, err = d.Redeliver(t.Context(), order1, "")
	require.Equal(t, wire.AlreadyFinished, wire.CodeOf(err))
}

// redeliveries is how many of them visibility shows.
func (d *fixture) redeliveries(t *testing.T) int {
	t.Helper()
	k := kernel.New(d.temporal, "default", "")
	defer k.EndWaits()
	n, err := k.Count(t.Context(), visibility.Redeliveries())
	require.NoError(t, err)
	return n
}

func stateOf(t *testing.T, err error) *timer.View {
	t.Helper()
	refused, ok := err.(*wire.Error) //nolint:errorlint // it is the value itself
	require.True(t, ok)
	require.NotNil(t, timer.StateOf(refused))
	return timer.StateOf(refused)
}
