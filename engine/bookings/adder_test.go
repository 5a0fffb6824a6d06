package bookings

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"

	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/enginetest"
	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/workflows"
)

func TestABookingIsMadeOnce(t *testing.T) {
	t.Parallel()
	d := newFixture(t, orders())
	first := d.booked(t, in(time.Hour, `1`))
	require.Equal(t, timer.Scheduled, first.Status)
	require.Equal(t, "https://orders.test/", first.Callback.URL)

	again, created, err := d.Add(t.Context(), in(time.Hour, `1`))
	require.NoError(t, err)
	require.False(t, created)
	require.Equal(t, first.RunID, again.RunID)
	require.Equal(t, wire.AlreadyExists, d.refused(t, in(time.Hour, `2`)), "other content")
	require.Equal(t, 1, d.temporal.RunsOf(order1ID))
}

// An id is free again after a cancel and after a failure, and after every end where the policy
// says so.
func TestWhenAnIDIsFreeAgain(t *testing.T) {
	t.Parallel()
	reused := orders()
	reused.Reuse = policy.ReuseAfterEnd
	for name, c := range map[string]struct {
		policy policy.Policy
		end    func(d fixture)
		code   wire.Code // of the refusal; "" for none
	}{
		"delivered":             {orders(), func(d fixture) { d.worker.Deliver(order1ID) }, wire.AlreadyFinished},
		"failed":                {orders(), func(d fixture) { d.worker.Fail(order1ID) }, ""},
		"terminated":            {orders(), func(d fixture) { _ = d.temporal.TerminateWorkflow(context.Background(), order1ID, "", "") }, ""},
		"delivered, and reused": {reused, func(d fixture) { d.worker.Deliver(order1ID) }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newFixture(t, c.policy)
			first := d.booked(t, in(time.Hour, `1`))
			c.end(d)
			if c.code != "" {
				require.Equal(t, c.code, d.refused(t, in(time.Hour, `1`)))
				return
			}
			require.NotEqual(t, first.RunID, d.booked(t, in(time.Hour, `1`)).RunID)
		})
	}
}

// A booking that finds no room is refused for the want of it only if its id is free.
func TestWhyABookingWithoutRoomIsRefused(t *testing.T) {
	t.Parallel()
	full := &wire.Error{Code: wire.QuotaExceeded}
	for status, free := range map[timer.Status]map[policy.Reuse]bool{
		timer.Cancelled: {policy.ReuseAfterFailure: true, policy.ReuseAfterEnd: true},
		timer.Failed:    {policy.ReuseAfterFailure: true, policy.ReuseAfterEnd: true},
		timer.Delivered: {policy.ReuseAfterFailure: false, policy.ReuseAfterEnd: true},
		timer.Expired:   {policy.ReuseAfterFailure: false, policy.ReuseAfterEnd: true},
	} {
		for reuse, free := range free {
			finished := &wire.Error{Code: wire.AlreadyFinished, State: &timer.View{Status: status}}
			require.Equal(t, free, errors.Is(orFull(reuse, finished, full), full), "%s, reuse %q", status, reuse)
		}
	}
	taken := &wire.Error{Code: wire.AlreadyExists, State: &timer.View{}}
	require.ErrorIs(t, orFull(policy.ReuseAfterEnd, taken, full), taken, "an open timer has the id")
}

func TestAnIdempotencyKeyNamesOneBooking(t *testing.T) {
	t.Parallel()
	d := newFixture(t, orders())
	first := d.booked(t, under("k", in(time.Hour, `1`)))
	d.worker.Deliver(order1ID)

	again, created, err := d.Add(t.Context(), under("k", in(time.Hour, `1`)))
	require.NoError(t, err, "the request that booked it, though it has ended")
	require.False(t, created)
	require.Equal(t, first.RunID, again.RunID)
	require.Equal(t, timer.Delivered, again.Status)
	require.Equal(t, wire.IdempotencyKeyReused, d.refused(t, under("k", in(time.Hour, `2`))))
	require.Equal(t, wire.AlreadyFinished, d.refused(t, under("other", in(time.Hour, `1`))))
}

// A booking repeated under its key is answered with the timer that it made, also where it would
// be refused by now: its due time has long passed, its latest time, or its rule has ended.
func TestARepeatedBookingThatCameTooLate(t *testing.T) {
	t.Parallel()
	for name, terms := range map[string]func(at func(time.Duration) *wire.Instant) timer.Terms{
		"the due time": func(at func(time.Duration) *wire.Instant) timer.Terms { return timer.Terms{DueAt: at(time.Hour)} },
		"the latest time": func(at func(time.Duration) *wire.Instant) timer.Terms {
			return timer.Terms{DueAt: at(40 * time.Hour), LatestAt: at(41 * time.Hour)}
		},
		"the end of the rule": func(at func(time.Duration) *wire.Instant) timer.Terms {
			rule := every(time.Hour)
			rule.EndAt = *at(2 * time.Hour)
			return timer.Terms{Recurrence: rule}
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			at := func(d time.Duration) *wire.Instant { return new(wire.At(began.Add(d))) }
			request := under("k", Request{Key: order1, Terms: terms(at)})
			d := newFixture(t, orders())
			first := d.booked(t, request)
			d.worker.Deliver(order1ID)
			<-time.After(48 * time.Hour)

			again, created, err := d.Add(t.Context(), request)
			require.NoError(t, err, name)
			require.False(t, created, name)
			require.Equal(t, first.RunID, again.RunID, name)
			require.Equal(t, timer.Delivered, again.Status, name)
			require.Equal(t, "https://orders.test/", again.Callback.URL, name)

			require.Equal(t, wire.InvalidRequest, d.refused(t, under("another", request)), name)
			request.Terms.Priority = new(1)
			require.Equal(t, wire.InvalidRequest, d.refused(t, request), name)
		})
	}
}

// A key is found behind another booking of its id.
func TestAKeyOfABookingBefore(t *testing.T) {
	t.Parallel()
	d := newFixture(t, orders())
	first := d.booked(t, under("k", in(time.Hour, `1`)))
	d.worker.Fail(order1ID)
	d.booked(t, under("l", in(time.Hour, `2`)))

	again, created, err := d.Add(t.Context(), under("k", in(time.Hour, `1`)))
	require.NoError(t, err)
	require.False(t, created)
	require.Equal(t, first.RunID, again.RunID)
	require.Equal(t, timer.Failed, again.Status)
}

func TestAnIDThatSomethingElseHas(t *testing.T) {
	t.Parallel()
	d := newFixture(t, orders())
	_, err := d.temporal.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: order1ID}, "SomebodyElses")
	require.NoError(t, err)
	require.Equal(t, wire.IDTaken, d.refused(t, in(time.Hour, `1`)))
}

// A booking after a cancel that no worker has carried out is made once it was, or is refused.
func TestABookingAfterAPendingCancel(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newFixture(t, orders())
		first := d.booked(t, in(time.Hour, `1`))
		_, effect, err := d.Cancel(t.Context(), Target{Key: order1})
		require.NoError(t, err)
		require.Equal(t, Pending, effect)
		require.Equal(t, wire.CancelPending, d.refused(t, in(time.Hour, `1`)), "no worker comes")

		time.AfterFunc(time.Second, func() { _ = d.temporal.TerminateWorkflow(context.Background(), order1ID, "", "") })
		require.NotEqual(t, first.RunID, d.booked(t, in(time.Hour, `1`)).RunID)
	})
}

func TestWhatABookingIsRefusedFor(t *testing.T) {
	t.Parallel()
	closed, nobody, often := orders(), orders(), orders()
	closed.ClosedUntil = wire.At(time.Now().Add(time.Hour))
	nobody.Callback.URL = ""
	often.MinInterval = wire.Duration(time.Hour)
	for name, c := range map[string]struct {
		policy policy.Policy
		change func(r *Request)
		code   wire.Code
	}{
		"no policy":         {orders(), func(r *Request) { r.Key.BusinessType = "invoice" }, wire.UnknownBusinessType},
		"nobody to call":    {nobody, func(*Request) {}, wire.InvalidRequest},
		"no time":           {orders(), func(r *Request) { r.Terms.Delay = nil }, wire.InvalidRequest},
		"a malformed id":    {orders(), func(r *Request) { r.Key.BusinessID = "a b" }, wire.InvalidRequest},
		"rings too often":   {often, func(r *Request) { r.Terms.Delay, r.Terms.Recurrence = nil, every(time.Minute) }, wire.InvalidRequest},
		"a closed policy":   {closed, func(*Request) {}, wire.Unavailable},
		"a policy at peace": {orders(), func(*Request) {}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, r := newFixture(t, c.policy), in(time.Hour, `1`)
			c.change(&r)
			_, _, err := d.Add(t.Context(), r)
			require.Equal(t, c.code == "", err == nil)
			require.Equal(t, c.code == "", d.temporal.RunsOf(order1ID) == 1)
			if err != nil {
				require.Equal(t, c.code, wire.CodeOf(err))
			}
		})
	}
}

func TestWithoutTemporalABookingIsUnknown(t *testing.T) {
	t.Parallel()
	d := newFixture(t, orders())
	d.temporal.Err = errors.New("down")
	require.Equal(t, wire.Unavailable, d.refused(t, in(time.Hour, `1`)))
}

// The quota of open timers counts what visibility knows, and what was booked since.
func TestTheQuotaOfOpenTimers(t *testing.T) {
	t.Parallel()
	full, two := orders(), 2
	full.Limits.Pending = &two
	d := newFixture(t, full)
	d.booked(t, in(time.Hour, `1`))
	second, third := in(time.Hour, `1`), in(time.Hour, `1`)
	second.Key.BusinessID, third.Key.BusinessID = "2", "3"
	d.booked(t, second)
	require.Equal(t, wire.QuotaExceeded, d.refused(t, third))
	_, created, err := d.Add(t.Context(), in(time.Hour, `1`))
	require.NoError(t, err, "what was booked before needs no room")
	require.False(t, created)
	require.Equal(t, wire.AlreadyExists, d.refused(t, in(time.Hour, `2`)), "a taken id is refused as such")
}

// A booking whose outcome is unknown may have opened a timer, so it counts in the quota.
func TestABookingOfUnknownOutcomeKeepsItsPlace(t *testing.T) {
	t.Parallel()
	full, one := orders(), 1
	full.Limits.Pending = &one
	d := newFixture(t, full)
	d.temporal.Refuse("ExecuteWorkflow", order1ID, serviceerror.NewUnavailable("busy"))
	require.Equal(t, wire.Unavailable, d.refused(t, in(time.Hour, `1`)))
	second := in(time.Hour, `1`)
	second.Key.BusinessID = "2"
	require.Equal(t, wire.QuotaExceeded, d.refused(t, second))
}

func TestTheRateOfBookings(t *testing.T) {
	t.Parallel()
	slow, rate := orders(), 1.0
	slow.Limits.AddsPerSecond, slow.Limits.AddsBurst = &rate, 1
	d := newFixture(t, slow)
	d.Adder.admission.limiter = limits{}
	_, _, err := d.Add(t.Context(), in(time.Hour, `1`))
	refused, ok := errors.AsType[*wire.Error](err)
	require.True(t, ok)
	require.Equal(t, quotaAdds, refused.Quota.Name)
	require.Equal(t, time.Second, refused.Quota.RetryAfter)
	_, _, err = d.Upsert(t.Context(), in(time.Hour, `1`), 0)
	require.Equal(t, wire.QuotaExceeded, wire.CodeOf(err))
	require.Zero(t, d.temporal.RunsOf(order1ID))
}

// slow is a Temporal that takes its time to start a workflow.
type slow struct {
	*enginetest.Temporal
	meanwhile func()
}

func (s slow) ExecuteWorkflow(ctx context.Context, options client.StartWorkflowOptions, workflow any, args ...any) (client.WorkflowRun, error) {
	<-time.After(tuning.PolicyReadSlack + time.Millisecond)
	s.meanwhile()
	return s.Temporal.ExecuteWorkflow(ctx, options, workflow, args...)
}

// A booking whose policy was closed while it was made is undone before it is acknowledged.
func TestABookingThatMetTheEndOfItsPolicyIsUndone(t *testing.T) {
	t.Parallel()
	for _, closing := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			temporal := &enginetest.Temporal{}
			temporal.Policy(t, orders())
			closed := orders()
			closed.ClosedUntil = wire.At(time.Now().Add(time.Hour))
			d := newFixtureOn(t, slow{temporal, func() {
				if closing {
					temporal.Policy(t, closed)
				}
			}}, 0)
			_, created, err := d.Add(t.Context(), in(time.Hour, `1`))
			require.Equal(t, !closing, created)
			require.Equal(t, !closing, temporal.Status(order1ID) == enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING)
			if closing {
				require.Equal(t, wire.Unavailable, wire.CodeOf(err))
			}
		})
	}
}

// What is started says what lists and rules need, and is replaced by nothing.
func TestHowATimerIsStarted(t *testing.T) {
	t.Parallel()
	r := in(time.Hour, `1`)
	r.Terms.Labels = &timer.Labels{"env": "test"}
	spec, _, err := newFixture(t, orders()).Adder.admission.admit(t.Context(), r)
	require.NoError(t, err)
	options := startOptions(spec)
	require.Equal(t, order1ID, options.ID)
	require.Equal(t, enumspb.WORKFLOW_ID_CONFLICT_POLICY_FAIL, options.WorkflowIDConflictPolicy)
	require.Equal(t, enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE_FAILED_ONLY, options.WorkflowIDReusePolicy)
	require.True(t, options.WorkflowExecutionErrorWhenAlreadyStarted)
	labels, ok := options.TypedSearchAttributes.GetKeywordList(workflows.AttrLabels)
	require.True(t, ok)
	require.Contains(t, labels, "env=test")
	require.InDelta(t, time.Hour, startDelay(spec), float64(time.Minute))
	require.Contains(t, options.StaticSummary, "calls https://orders.test/")
}
