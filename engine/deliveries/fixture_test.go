package deliveries

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
	"github.com/wakecall/wakecall/engine/histories"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/engine/policies"
	"github.com/wakecall/wakecall/engine/queues"
	"github.com/wakecall/wakecall/engine/timers"
	"github.com/wakecall/wakecall/engine/waits"
	"github.com/wakecall/wakecall/internal/quota"
	"github.com/wakecall/wakecall/workflows"
)

var order1 = wire.Key{BusinessType: "order", BusinessID: "1"}

const order1ID = "order/1"

// fixture has the timer order/1, whose second attempt was accepted and waits for word.
type fixture struct {
	*Deliveries
	t      *testing.T
	on     *enginetest.Temporal
	worker enginetest.Worker
	kernel *kernel.Kernel
	booked *bookings.Bookings
	of     Accepted
}

// accepted is the record of that attempt.
func accepted() delivery.Acceptance {
	return delivery.Acceptance{Attempt: 2, Until: wire.At(time.Now()).Add(time.Hour)}
}

func open(t *testing.T) *fixture {
	t.Helper()
	on := &enginetest.Temporal{}
	on.Policy(t, policy.Policy{BusinessType: "order", Version: 1, Callback: delivery.Callback{Destination: delivery.HTTP("https://orders.test/")}}.WithDefaults())
	k := kernel.New(on, "default", "")
	t.Cleanup(k.EndWaits)
	known := policies.New(k, policies.Config{TTL: time.Hour})
	reader := timers.NewReader(k, known, waits.New(known, emergencies.New(k, time.Hour), queues.New(k, known), nil))
	s := &fixture{Deliveries: New(k, reader, histories.NewAttempts(k, reader), nil), t: t, on: on, worker: enginetest.Worker{On: on}, kernel: k}
	s.booked = bookings.New(bookings.Config{Kernel: k, Reader: reader, Policies: known, Limiter: &quota.Local{}})
	hour := wire.Duration(time.Hour)
	view, _, err := s.booked.Add(t.Context(), bookings.Request{Key: order1, Terms: timer.Terms{Delay: &hour}})
	require.NoError(t, err)
	s.of = Accepted{Key: order1, WebhookID: view.WebhookID, Attempt: 2}
	s.delivering(accepted())
	on.OnEvent = s.told
	return s
}

// delivering has the timer be delivered, with what is known of the attempt that was accepted last.
func (s *fixture) delivering(a delivery.Acceptance) {
	s.t.Helper()
	s.worker.State(s.t, order1ID, timer.Delivering)
	s.worker.Say(s.t, order1ID, workflows.MemoAcceptance, a)
}

// edit has a change begin another run, which has no worker yet.
func (s *fixture) edit() {
	s.t.Helper()
	s.worker.Apply(s.t, order1ID, timer.Change{
		ID: "c", Terms: timer.Terms{Labels: &timer.Labels{"a": "b"}}, At: wire.At(time.Now()), Fingerprint: "f",
	})
}

// wait has the next attempt wait for a worker.
func (s *fixture) wait() {
	s.worker.Pend(order1ID, &workflowpb.PendingActivityInfo{State: enumspb.PENDING_ACTIVITY_STATE_SCHEDULED, Attempt: 1})
}

// told does what the workflow does with the word of a receiver.
func (s *fixture) told(_ string, event *historypb.HistoryEvent) {
	signal := event.GetWorkflowExecutionSignaledEventAttributes()
	if signal.GetSignalName() != workflows.SignalAcknowledge {
		return
	}
	var word delivery.Acknowledgement
	require.NoError(s.t, enginetest.Payloads.FromPayloads(signal.GetInput(), &word))
	if !word.Nack {
		s.worker.Deliver(order1ID)
		return
	}
	next := accepted()
	next.Result, next.SettledAt, next.Failure = delivery.ResultRetry, wire.At(time.Now()), &delivery.Failure{Class: delivery.Nacked}
	s.delivering(next)
}

func (s *fixture) said(word delivery.Acknowledgement, wait time.Duration) (timer.View, bookings.Effect, error) {
	return s.Acknowledge(s.t.Context(), s.of, word, wait)
}

// words are how often the timer was told of a word.
func (s *fixture) words() int { return len(s.on.Signals(order1ID)) }

// marker is the event of attempts that were made within a workflow task.
func marker(t *testing.T, made delivery.Report) *historypb.HistoryEvent {
	t.Helper()
	return &historypb.HistoryEvent{Attributes: &historypb.HistoryEvent_MarkerRecordedEventAttributes{
		MarkerRecordedEventAttributes: &historypb.MarkerRecordedEventAttributes{Details: map[string]*commonpb.Payloads{"result": enginetest.Encoded(t, made)}},
	}}
}
