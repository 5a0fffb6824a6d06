package histories

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	workflowpb "go.temporal.io/api/workflow/v1"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/bookings"
	"github.com/wakecall/wakecall/engine/emergencies"
	"github.com/wakecall/wakecall/engine/enginetest"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/engine/policies"
	"github.com/wakecall/wakecall/engine/queues"
	"github.com/wakecall/wakecall/engine/timers"
	"github.com/wakecall/wakecall/engine/waits"
	"github.com/wakecall/wakecall/internal/quota"
)

var order1 = wire.Key{BusinessType: "order", BusinessID: "1"}

const order1ID = "order/1"

// fixture has timers of type order, and what tells of them.
type fixture struct {
	*Histories
	*Attempts
	booked *bookings.Bookings
	t      *testing.T
	on     *enginetest.Temporal
	worker enginetest.Worker
}

func open(t *testing.T) *fixture {
	t.Helper()
	on := &enginetest.Temporal{}
	on.Policy(t, policy.Policy{BusinessType: "order", Version: 1, Callback: delivery.Callback{Destination: delivery.HTTP("https://orders.test/")}}.WithDefaults())
	k := kernel.New(on, "default", "")
	t.Cleanup(k.EndWaits)
	known := policies.New(k, policies.Config{TTL: time.Hour})
	reader := timers.NewReader(k, known, waits.New(known, emergencies.New(k, time.Hour), queues.New(k, known), nil))
	s := &fixture{
		Histories: New(k, reader), Attempts: NewAttempts(k, reader), t: t, on: on, worker: enginetest.Worker{On: on},
		booked: bookings.New(bookings.Config{Kernel: k, Reader: reader, Policies: known, Limiter: &quota.Local{}}),
	}
	s.worker.Work(t)
	return s
}

// book books order/1.
func (s *fixture) book() timer.View {
	s.t.Helper()
	hour := wire.Duration(time.Hour)
	view, created, err := s.booked.Add(enginetest.WithCaller(s.t), bookings.Request{Key: order1, Terms: timer.Terms{Delay: &hour}})
	require.NoError(s.t, err)
	require.True(s.t, created)
	return view
}

// report is that of so many attempts, the last one with a result.
func report(n int, result delivery.Result) delivery.Report {
	made := delivery.Report{Result: result, Attempt: n}
	for number := range n {
		made.Attempts = append(made.Attempts, delivery.Attempt{Number: number + 1, EndedAt: wire.At(time.Now())})
	}
	return made
}

// attempted has a worker make so many attempts within the workflow task.
func (s *fixture) attempted(n int) {
	s.t.Helper()
	s.worker.Record(order1ID, enumspb.EVENT_TYPE_MARKER_RECORDED, &historypb.HistoryEvent{
		Attributes: &historypb.HistoryEvent_MarkerRecordedEventAttributes{MarkerRecordedEventAttributes: &historypb.MarkerRecordedEventAttributes{
			Details: map[string]*commonpb.Payloads{"result": enginetest.Encoded(s.t, report(n, delivery.ResultRetry))},
		}},
	})
}

// retries has an activity that is tried again tell of so many attempts.
func (s *fixture) retries(n int) {
	s.t.Helper()
	s.worker.Pend(order1ID, &workflowpb.PendingActivityInfo{
		State: enumspb.PENDING_ACTIVITY_STATE_SCHEDULED, LastFailure: enginetest.Failure(enginetest.Encoded(s.t, report(n, delivery.ResultRetry))),
	})
}

// made are the numbers of the attempts of the first page, the last one first.
func (s *fixture) made() (numbers []int) {
	s.t.Helper()
	page, err := s.Attempts.List(s.t.Context(), order1, 10, nil)
	require.NoError(s.t, err)
	for _, attempt := range page.Attempts {
		numbers = append(numbers, attempt.Number)
	}
	return numbers
}

// events are what a story tells, in its order.
func (s *fixture) events(size int, from string) (events []timer.HistoryEvent, next string) {
	s.t.Helper()
	page, err := s.Histories.List(s.t.Context(), order1, size, from)
	require.NoError(s.t, err)
	for _, entry := range page.Entries {
		events = append(events, entry.Event)
	}
	return events, page.Next
}

// later lets a second pass, so that no two runs start at the same time.
func later() { <-time.After(time.Second) }
