package timers

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	activitypb "go.temporal.io/api/activity/v1"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/recurrence"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/emergencies"
	"github.com/wakecall/wakecall/engine/enginetest"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/engine/policies"
	"github.com/wakecall/wakecall/engine/queues"
	"github.com/wakecall/wakecall/engine/waits"
	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/workflows"
)

var order1 = wire.Key{BusinessType: "order", BusinessID: "1"}

const order1ID = "order/1"

// fixture has the timer order/1, which is due in an hour.
type fixture struct {
	*Reader
	on     *enginetest.Temporal
	worker enginetest.Worker
	spec   timer.Spec
}

func shelved(t *testing.T, change func(terms *timer.Terms)) fixture {
	t.Helper()
	on := &enginetest.Temporal{}
	on.Policy(t, policy.Policy{BusinessType: "order", Version: 1, Callback: delivery.Callback{Destination: delivery.HTTP("https://orders.test/")}}.WithDefaults())
	hour := wire.Duration(time.Hour)
	terms := timer.Terms{Delay: &hour, Payload: &timer.Payload{Data: []byte(`{"n":1}`), ContentType: timer.ContentTypeJSON}}
	change(&terms)
	spec, err := timer.Admit(order1, terms, "b", time.Now())
	require.NoError(t, err)
	_, err = on.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{
		ID: order1ID, Memo: map[string]any{workflows.MemoTimer: spec.Memo}, StartDelay: time.Hour,
		TypedSearchAttributes: temporal.NewSearchAttributes(
			workflows.AttrBusinessType.ValueSet("order"), workflows.AttrBusinessID.ValueSet("1"), workflows.AttrDueAt.ValueSet(spec.DueAt.Time().UTC()),
		),
	}, workflows.TypeTimer, spec, workflows.Encode(terms.Payload))
	require.NoError(t, err)
	k := kernel.New(on, "default", "http://ui.test")
	t.Cleanup(k.EndWaits)
	known := policies.New(k, policies.Config{TTL: time.Hour})
	reader := NewReader(k, known, waits.New(known, emergencies.New(k, time.Hour), queues.New(k, known), nil))
	return fixture{Reader: reader, on: on, worker: enginetest.Worker{On: on}, spec: spec}
}

func asItIs(*timer.Terms) {}

func (s fixture) shown(t *testing.T) timer.View {
	t.Helper()
	view, err := s.Get(t.Context(), order1)
	require.NoError(t, err)
	return view
}

// wake puts the timer on the queue of the workers.
func (s fixture) wake(t *testing.T) {
	t.Helper()
	_, err := s.on.SignalWithStartWorkflow(t.Context(), order1ID, workflows.SignalChange, nil, client.StartWorkflowOptions{}, workflows.TypeTimer)
	require.NoError(t, err)
}

func TestATimerIsShownAsItStands(t *testing.T) {
	t.Parallel()
	s := shelved(t, asItIs)
	view := s.shown(t)
	require.Equal(t, timer.Scheduled, view.Status)
	require.Equal(t, s.spec.DueAt, view.DueAt)
	require.Equal(t, "https://orders.test/", view.Callback.URL, "the policy's")
	require.Contains(t, view.Links.WebUI, "http://ui.test/")
	require.JSONEq(t, `{"n":1}`, string(view.Payload.Data))
	require.Equal(t, timer.ContentTypeJSON, view.Payload.ContentType)

	s.worker.Deliver(order1ID)
	view = s.shown(t)
	require.Equal(t, timer.Delivered, view.Status)
	require.Equal(t, 1, view.Attempts)
}

// A change begins another run of a delivery. It shows the attempts of the run before also where no worker
// has taken it yet.
func TestADeliveryIsShownAfterAChange(t *testing.T) {
	t.Parallel()
	s := shelved(t, asItIs)
	s.worker.Cancel(order1ID)
	late, ended := int64(12), wire.At(time.Now())
	spec := s.spec
	spec.Ongoing = &delivery.Report{
		Result: delivery.ResultRetry, Attempt: 2, LatenessMS: &late, EndedAt: ended, RetryIn: wire.Duration(time.Hour),
		Failure: &delivery.Failure{Status: 500, Message: "HTTP 500"},
	}
	_, err := s.on.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{
		ID: order1ID, Memo: map[string]any{workflows.MemoTimer: spec.Memo},
		TypedSearchAttributes: temporal.NewSearchAttributes(workflows.AttrState.ValueSet(string(timer.Delivering))),
	}, workflows.TypeTimer, spec, workflows.Encode(nil))
	require.NoError(t, err)
	view := s.shown(t)
	require.Equal(t, timer.Delivering, view.Status)
	require.Equal(t, []any{2, &late, spec.Ongoing.Failure}, []any{view.Attempts, view.LatenessMS, view.LastFailure})
	require.Equal(t, ended.Add(time.Hour), view.NextAttemptAt)
}

func TestAFailedTimerIsShown(t *testing.T) {
	t.Parallel()
	s := shelved(t, asItIs)
	s.worker.Fail(order1ID)
	view := s.shown(t)
	require.Equal(t, timer.Failed, view.Status)
	require.Equal(t, 3, view.Attempts)
}

func TestWhatIsNoTimer(t *testing.T) {
	t.Parallel()
	s := shelved(t, asItIs)
	for _, key := range []wire.Key{{BusinessType: "order", BusinessID: "2"}, {BusinessType: "policy:x", BusinessID: "1"}} {
		_, err := s.Get(t.Context(), key)
		require.Error(t, err)
	}
	_, err := s.on.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: "order/foreign"}, "SomebodyElses")
	require.NoError(t, err)
	_, err = s.Get(t.Context(), wire.Key{BusinessType: "order", BusinessID: "foreign"})
	require.ErrorIs(t, err, ErrForeign)
	require.Equal(t, wire.NotFound, wire.CodeOf(err))
	s.on.Err = errors.New("down")
	_, err = s.Get(t.Context(), order1)
	require.Equal(t, wire.Unavailable, wire.CodeOf(err))
}

// A timer that is due and that no worker has taken waits for one, if Temporal has handed it out. One that
// Temporal has lost is only overdue.
func TestATimerThatNoWorkerTook(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := shelved(t, asItIs)
		<-time.After(time.Hour + 2*tuning.TakenWithin)
		lost := s.shown(t)
		require.Empty(t, lost.WaitsFor)
		require.Equal(t, timer.ReasonOverdue, lost.Why(wire.At(time.Now()))[0].Fact)
		s.wake(t)
		untaken := s.shown(t)
		require.Equal(t, delivery.WaitsForWorker, untaken.WaitsFor)
		require.Equal(t, wire.At(time.Now()), untaken.Why(wire.At(time.Now()))[0].Since, "the last poll")
		s.worker.Hold(order1ID, "worker-7")
		require.Equal(t, timer.Delivering, s.shown(t).Status)
	})
}

// A timer waits for a worker once it has done so for a while.
func TestATimerThatIsAboutToBeTaken(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := shelved(t, asItIs)
		<-time.After(time.Hour + tuning.TakenWithin/2)
		s.wake(t)
		require.Empty(t, s.shown(t).WaitsFor, "not for long enough")
		<-time.After(tuning.TakenWithin)
		require.Equal(t, delivery.WaitsForWorker, s.shown(t).WaitsFor)
	})
}

// The worker that has the task makes the first attempt. Once it has ended the task, the worker is no
// longer the answer.
func TestTheWorkerOfAFirstAttemptIsKnown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := shelved(t, asItIs)
		explained := func() timer.View {
			view, err := s.Explained(t.Context(), order1)
			require.NoError(t, err)
			return view
		}
		require.Empty(t, explained().Circumstances.Worker, "it is not due")
		<-time.After(time.Hour + time.Second)
		s.worker.Hold(order1ID, "worker-7")
		s.worker.Record(order1ID, enumspb.EVENT_TYPE_WORKFLOW_TASK_STARTED, &historypb.HistoryEvent{
			Attributes: &historypb.HistoryEvent_WorkflowTaskStartedEventAttributes{
				WorkflowTaskStartedEventAttributes: &historypb.WorkflowTaskStartedEventAttributes{Identity: "worker-7"},
			},
		})
		require.Equal(t, "worker-7", explained().Circumstances.Worker)
		require.NotZero(t, explained().Circumstances.AttemptSince)
		s.worker.Record(order1ID, enumspb.EVENT_TYPE_WORKFLOW_TASK_COMPLETED, &historypb.HistoryEvent{})
		require.Empty(t, explained().Circumstances.Worker)
	})
}

// An attempt that waits shows what came before it, and what it waits for.
func TestARetryIsShown(t *testing.T) {
	t.Parallel()
	s := shelved(t, asItIs)
	report := delivery.Report{Result: delivery.ResultRetry, Attempt: 2, Failure: &delivery.Failure{Status: 503, Message: "busy"}}
	pending := &workflowpb.PendingActivityInfo{
		ActivityType: &commonpb.ActivityType{Name: workflows.ActivityDeliver}, State: enumspb.PENDING_ACTIVITY_STATE_SCHEDULED, Attempt: 3,
		NextAttemptScheduleTime: timestamppb.New(time.Now().Add(time.Minute)), ScheduledTime: timestamppb.New(time.Now()),
		LastFailure:     enginetest.Failure(enginetest.Encoded(t, report)),
		ActivityOptions: &activitypb.ActivityOptions{TaskQueue: &taskqueuepb.TaskQueue{Name: workflows.DeliveryQueue("order")}},
	}
	s.worker.Pend(order1ID, pending)
	view := s.shown(t)
	require.Equal(t, timer.Delivering, view.Status)
	require.Equal(t, 2, view.Attempts, "the third has not begun")
	require.Equal(t, 503, view.LastFailure.Status)
	require.NotZero(t, view.NextAttemptAt)

	pending.State = enumspb.PENDING_ACTIVITY_STATE_STARTED
	s.worker.Pend(order1ID, pending)
	pending.LastStartedTime, pending.LastWorkerIdentity = timestamppb.New(time.Now()), "worker-7"
	s.worker.Pend(order1ID, pending)
	require.Equal(t, 3, s.shown(t).Attempts)
	require.Zero(t, s.shown(t).NextAttemptAt)
	watch := &workflowpb.PendingActivityInfo{
		ActivityType: &commonpb.ActivityType{Name: workflows.ActivityWatchStream}, State: enumspb.PENDING_ACTIVITY_STATE_STARTED,
		LastStartedTime: timestamppb.New(time.Now()), LastWorkerIdentity: "worker-8",
	}
	for _, all := range [][]*workflowpb.PendingActivityInfo{{pending}, {pending, watch}, {watch, pending}} {
		s.worker.Pend(order1ID, all...)
		require.Equal(t, "worker-7", s.shown(t).Circumstances.Worker, "it makes the attempt, and no watch")
	}
}

func TestLists(t *testing.T) {
	t.Parallel()
	s := shelved(t, asItIs)
	lister := NewLister(s.kernel, s.Reader)
	for want, filter := range map[string]timer.Filter{
		"all": {}, "of its type": {BusinessType: "order"}, "by its id": {BusinessType: "order", BusinessID: "1"}, "scheduled": {Status: timer.Scheduled},
		"due then": {DueFrom: s.spec.DueAt, DueTo: s.spec.DueAt},
	} {
		page, err := lister.List(t.Context(), PageRequest{Filter: filter, Size: 10})
		require.NoError(t, err)
		require.Len(t, page.Timers, 1, want)
		n, err := lister.Count(t.Context(), filter)
		require.NoError(t, err)
		require.Equal(t, 1, n)
	}
	for _, filter := range []timer.Filter{{BusinessType: "invoice"}, {Status: timer.Delivered}, {DueFrom: s.spec.DueAt.Add(time.Minute)}} {
		page, err := lister.List(t.Context(), PageRequest{Filter: filter, Size: 10})
		require.NoError(t, err)
		require.Empty(t, page.Timers)
	}
	s.worker.Fail(order1ID)
	page, err := lister.List(t.Context(), PageRequest{Filter: timer.Filter{Status: timer.Failed}, Size: 10, Progress: true, OnePerBooking: true})
	require.NoError(t, err)
	require.Len(t, page.Timers, 1)
	require.Equal(t, 3, page.Timers[0].Attempts, "a list does not know; it is asked for")
}

// A sorted list tells its next page where it has come to.
func TestASortedListGoesOn(t *testing.T) {
	t.Parallel()
	s := shelved(t, asItIs)
	lister := NewLister(s.kernel, s.Reader)
	page, err := lister.List(t.Context(), PageRequest{Sort: timer.DueFirst, Size: 10})
	require.NoError(t, err)
	require.Len(t, page.Timers, 1)
	_, err = lister.List(t.Context(), PageRequest{Sort: timer.DueFirst, Size: 10, Token: []byte("?")})
	require.Equal(t, wire.InvalidRequest, wire.CodeOf(err), "a token that is not ours")
}

// The occurrences of a timer are not those of an earlier one with its id.
func TestOccurrencesAreOfOneBooking(t *testing.T) {
	t.Parallel()
	every := wire.Duration(time.Hour)
	s := shelved(t, func(terms *timer.Terms) { terms.Delay, terms.Recurrence = nil, &recurrence.Rule{Every: &every} })
	rung := func() (numbers []int) {
		past, err := NewSeries(s.kernel, s.Reader).Occurrences(t.Context(), order1, 10, nil)
		require.NoError(t, err)
		for _, one := range past.Past {
			numbers = append(numbers, one.Occurrence)
		}
		return numbers
	}
	s.worker.Occur(t, order1ID)
	s.worker.Occur(t, order1ID)
	require.ElementsMatch(t, []int{1, 2}, rung())
	require.NoError(t, s.on.TerminateWorkflow(t.Context(), order1ID, "", "by hand"))

	again := s.spec
	again.Booking = "c"
	_, err := s.on.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{
		ID: order1ID, Memo: map[string]any{workflows.MemoTimer: again.Memo}, StartDelay: time.Hour,
	}, workflows.TypeTimer, again, workflows.Encode(nil))
	require.NoError(t, err)
	require.Empty(t, rung())
	s.worker.Occur(t, order1ID)
	require.Equal(t, []int{1}, rung())
}

// An occurrence that ends while a cancel arrives is the last one, and counts by its own end.
func TestTheOccurrenceBeforeACancel(t *testing.T) {
	t.Parallel()
	every := wire.Duration(time.Hour)
	late := int64(3)
	for name, c := range map[string]struct {
		details []any
		want    []timer.Past
	}{
		"between two": {nil, nil},
		"delivered": {
			[]any{timer.Outcome{Status: timer.Delivered, Attempts: 1, LatenessMS: &late, DeliveredAt: 9, Earlier: 2, Again: true}},
			[]timer.Past{{Outcome: timer.Outcome{Status: timer.Delivered, Attempts: 1, LatenessMS: &late, DeliveredAt: 9}}},
		},
		"on its ladder": {
			[]any{timer.Outcome{Status: timer.Cancelled, Attempts: 2}},
			[]timer.Past{{Outcome: timer.Outcome{Status: timer.Cancelled, Attempts: 2}}},
		},
		"before its first attempt": {[]any{timer.Outcome{Status: timer.Cancelled, Earlier: 2}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := shelved(t, func(terms *timer.Terms) { terms.Delay, terms.Recurrence = nil, &recurrence.Rule{Every: &every} })
			s.worker.Occur(t, order1ID)
			second, err := s.Get(t.Context(), order1)
			require.NoError(t, err)
			s.worker.Cancel(order1ID, c.details...)
			past, err := NewSeries(s.kernel, s.Reader).Occurrences(t.Context(), order1, 10, nil)
			require.NoError(t, err)
			for i := range c.want {
				c.want[i].Occurrence, c.want[i].DueAt, c.want[i].WebhookID = 2, second.DueAt, second.WebhookID
			}
			require.Equal(t, c.want, append([]timer.Past(nil), past.Past[:len(past.Past)-1]...), "and the first one")
			require.Equal(t, 1, past.Past[len(past.Past)-1].Occurrence)

			view, err := s.Get(t.Context(), order1)
			require.NoError(t, err)
			require.Equal(t, []any{timer.Cancelled, wire.Instant(0)}, []any{view.Status, view.DeliveredAt})
			require.Equal(t, 1+len(c.want), view.LastOccurrence.Occurrence)
		})
	}
}

func TestARecurringTimer(t *testing.T) {
	t.Parallel()
	every := wire.Duration(time.Hour)
	s := shelved(t, func(terms *timer.Terms) { terms.Delay, terms.Recurrence = nil, &recurrence.Rule{Every: &every} })
	series := NewSeries(s.kernel, s.Reader)
	upcoming, err := series.Upcoming(t.Context(), order1, 3)
	require.NoError(t, err)
	require.Len(t, upcoming.Times, 3)
	past, err := series.Occurrences(t.Context(), order1, 10, nil)
	require.NoError(t, err)
	require.Empty(t, past.Past)

	once := shelved(t, asItIs)
	_, err = NewSeries(once.kernel, once.Reader).Upcoming(t.Context(), order1, 3)
	require.Equal(t, wire.NotRecurring, wire.CodeOf(err))
}
