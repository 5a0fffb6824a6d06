package histories

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	failurepb "go.temporal.io/api/failure/v1"
	historypb "go.temporal.io/api/history/v1"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/recurrence"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/actors"
	"github.com/wakecall/wakecall/engine/enginetest"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/internal/identity"
	"github.com/wakecall/wakecall/workflows"
)

// events of one run, a second apart.
type script struct {
	t   *testing.T
	run runHistory
	now time.Time
}

func newScript(t *testing.T) *script {
	return &script{t: t, run: runHistory{runID: "run"}, now: time.UnixMilli(1_800_000_000_000)}
}

func (s *script) encoded(values ...any) *commonpb.Payloads {
	s.t.Helper()
	all, err := kernel.Payloads.ToPayloads(values...)
	require.NoError(s.t, err)
	return all
}

// event adds one to the story.
func (s *script) event(event *historypb.HistoryEvent) {
	s.now = s.now.Add(time.Second)
	event.EventTime = timestamppb.New(s.now)
	s.run.addEvent(event)
}

// byShop is the identity of a gateway that makes a change for a caller.
func byShop() string {
	actor, _ := enginetest.Caller{}.Actor("operator")
	return identity.With("gateway", actor)
}

func (s *script) began(spec timer.Spec, previous, identity string) {
	s.beganAfter(spec, previous, identity, nil)
}

func (s *script) beganAfter(spec timer.Spec, previous, identity string, header *commonpb.Header) {
	s.event(&historypb.HistoryEvent{Attributes: &historypb.HistoryEvent_WorkflowExecutionStartedEventAttributes{
		WorkflowExecutionStartedEventAttributes: &historypb.WorkflowExecutionStartedEventAttributes{
			Input: s.encoded(spec, workflows.Encode(nil)), ContinuedExecutionRunId: previous, Header: header, Identity: identity,
		},
	}})
}

func (s *script) signalled(name string, value any, identity string) {
	s.event(&historypb.HistoryEvent{Attributes: &historypb.HistoryEvent_WorkflowExecutionSignaledEventAttributes{
		WorkflowExecutionSignaledEventAttributes: &historypb.WorkflowExecutionSignaledEventAttributes{
			SignalName: name, Input: s.encoded(value), Identity: identity,
		},
	}})
}

func (s *script) continued(spec timer.Spec) {
	s.event(&historypb.HistoryEvent{Attributes: &historypb.HistoryEvent_WorkflowExecutionContinuedAsNewEventAttributes{
		WorkflowExecutionContinuedAsNewEventAttributes: &historypb.WorkflowExecutionContinuedAsNewEventAttributes{
			Input: s.encoded(spec, workflows.Encode(nil)), NewExecutionRunId: "next",
		},
	}})
}

func (s *script) taken() { s.takenBy("worker") }

func (s *script) takenBy(identity string) {
	s.event(&historypb.HistoryEvent{Attributes: &historypb.HistoryEvent_WorkflowTaskStartedEventAttributes{
		WorkflowTaskStartedEventAttributes: &historypb.WorkflowTaskStartedEventAttributes{Identity: identity},
	}})
}

// told is what each entry says in short.
func (s *script) told() (lines []string) {
	at := wire.Instant(0)
	for _, entry := range s.run.allEntries() {
		require.LessOrEqual(s.t, at, entry.At, "in order")
		at = entry.At
		line := string(entry.Event)
		if entry.Who != nil {
			line += " by " + entry.Who.Name
		}
		if entry.WhoUnknown {
			line += " by ? of " + entry.Identity
		}
		if entry.Result != "" {
			line += ", " + string(entry.Result)
		}
		if entry.Reason != "" {
			line += ": " + entry.Reason
		}
		lines = append(lines, line)
	}
	return lines
}

func specAt(revision int) timer.Spec {
	return timer.Spec{Key: wire.Key{BusinessType: "order", BusinessID: "1"}, Memo: timer.Memo{Booking: "b", Revision: revision, DueAt: 7, CreatedAt: 5}}
}

func minutes(n int) *wire.Duration {
	d := wire.Duration(time.Duration(n) * time.Minute)
	return &d
}

// What became of each change is told from what the next run begins with.
func TestChangesInAStory(t *testing.T) {
	t.Parallel()
	s := newScript(t)
	s.began(specAt(3), "before", "starter")
	s.signalled(workflows.SignalChange, timer.Change{At: 5, ID: "1", Terms: timer.Terms{Delay: minutes(1), Payload: &timer.Payload{Data: []byte("secret")}}}, byShop())
	s.signalled(workflows.SignalChange, timer.Change{At: 5, ID: "2", Terms: timer.Terms{LatestAt: new(wire.Instant(9))}}, byShop())
	s.signalled(workflows.SignalChange, timer.Change{At: 5, ID: "3", Ring: true}, "teller")
	s.signalled(workflows.SignalChange, timer.Change{At: 5, ID: "4", Pause: &timer.Pause{Stop: true, Note: "closed"}}, byShop())
	s.signalled(workflows.SignalChange, timer.Change{At: 5, ID: "5", Pause: &timer.Pause{}}, byShop())
	s.signalled(workflows.SignalChange, timer.Change{At: 5, ID: "6", Wake: true}, "teller")
	require.Equal(t, []string{
		"changed by shop, pending", "changed by shop, pending", "fired by ? of teller, pending", "paused by shop, pending: closed", "resumed by shop, pending", "woken",
	}, s.told(), "no worker has been there")
	next := specAt(7)
	next.Refusals = []timer.Refusal{{Change: "2", FieldErrors: wire.FieldErrors{{Pointer: "/latest_at"}}}}
	s.taken() // for the changes
	s.continued(next)
	require.Equal(t, []string{
		"changed by shop, applied", "changed by shop, refused", "fired by ? of teller, applied", "paused by shop, applied: closed", "resumed by shop, applied", "woken",
	}, s.told())
	entries := s.run.allEntries()
	require.Equal(t, []int{3, 4}, []int{entries[0].RevisionBefore, entries[0].Revision})
	require.Equal(t, []timer.FieldChange{{Field: "delay", To: minutes(1)}, {Field: "payload"}}, entries[0].Changes)
	require.Equal(t, "/latest_at", entries[1].Errors[0].Pointer)
	require.Zero(t, entries[1].Revision)
	require.Equal(t, []int{4, 5}, []int{entries[2].RevisionBefore, entries[2].Revision})
	require.Equal(t, 7, entries[4].Revision)
}

// Where it cannot be told which change made which revision, none is told.
func TestRevisionsThatCannotBeTold(t *testing.T) {
	t.Parallel()
	s := newScript(t)
	s.began(specAt(1), "before", "starter")
	s.signalled(workflows.SignalChange, timer.Change{At: 5, ID: "1", Replace: true}, "teller")
	s.signalled(workflows.SignalChange, timer.Change{At: 5, ID: "2", Replace: true}, "teller")
	s.continued(specAt(2))
	for _, entry := range s.run.allEntries() {
		require.Equal(t, timer.HistoryApplied, entry.Result)
		require.Zero(t, entry.Revision)
	}
}

// A booking by PUT is a start and a signal, and told once.
func TestBookingsInAStory(t *testing.T) {
	t.Parallel()
	s := newScript(t)
	s.began(specAt(1), "", byShop())
	s.signalled(workflows.SignalChange, timer.Change{At: 5, ID: "1", Booking: "b", Replace: true}, byShop())
	require.Equal(t, []string{"booked by shop"}, s.told())
	again := specAt(1)
	again.Round = 1
	s = newScript(t)
	s.beganAfter(again, "", "starter", &commonpb.Header{Fields: map[string]*commonpb.Payload{workflows.HeaderAfter: {Data: []byte(`"run-0"`)}}})
	require.Equal(t, []string{"redelivered by ? of starter"}, s.told())
	require.Equal(t, "run-0", s.run.previous)
	require.Empty(t, actors.RunBefore(&commonpb.Header{Fields: map[string]*commonpb.Payload{workflows.HeaderAfter: {Data: []byte("x")}}}))
}

// A worker that is handed a timer has it for a due time, unless it came too early to have it.
func TestWhatATimerIsHandedOutFor(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		due  time.Duration
		lead time.Duration
		want bool
	}{
		"when it is due": {2 * time.Second, 0, true}, "overdue": {-time.Hour, 0, true},
		"preloaded": {time.Minute, 2 * time.Minute, true}, "too early": {time.Minute, time.Second, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScript(t)
			spec := specAt(1)
			spec.DueAt, spec.Preload.Lead = wire.At(s.now.Add(c.due)), wire.Duration(c.lead)
			s.began(spec, "", byShop())
			s.taken()
			last := s.run.allEntries()[1]
			require.Equal(t, timer.HistoryHandedOut, last.Event)
			want := spec.DueAt
			if !c.want {
				want = 0
			}
			require.Equal(t, want, last.DueAt)
		})
	}
}

// The end of an occurrence is told once, where the run goes on.
func TestOccurrencesInAStory(t *testing.T) {
	t.Parallel()
	recurring := specAt(1)
	recurring.Series = &timer.Series{Number: 1, Cursor: recurrence.Cursor{Booked: 5}}
	next := recurring
	next.Series = &timer.Series{Number: 2, Cursor: recurrence.Cursor{Booked: 5}, Last: &timer.Past{Occurrence: 1, DueAt: 7, Outcome: timer.Outcome{Status: timer.Delivered}}}
	s := newScript(t)
	s.began(recurring, "", byShop())
	s.taken()
	s.event(&historypb.HistoryEvent{Attributes: &historypb.HistoryEvent_MarkerRecordedEventAttributes{
		MarkerRecordedEventAttributes: &historypb.MarkerRecordedEventAttributes{Details: map[string]*commonpb.Payloads{"result": s.encoded(delivery.Report{
			Result: delivery.ResultDelivered, Attempt: 1, Attempts: []delivery.Attempt{{Number: 1, Result: delivery.ResultDelivered, EndedAt: wire.At(s.now.Add(time.Hour))}},
		})}},
	}})
	s.taken() // for what comes after the attempt
	s.continued(next)
	require.Equal(t, []string{"booked by shop", "handed_out", "attempt", "delivered"}, s.told(), "a worker's clock may be fast")
	require.Equal(t, 1, s.run.allEntries()[3].Occurrence)
	s = newScript(t)
	s.began(next, "before", "starter")
	s.signalled(workflows.SignalChange, timer.Change{At: 5, ID: "1"}, byShop())
	s.continued(next)
	require.Equal(t, []string{"changed by shop, applied"}, s.told(), "it had been told of before")
}

// An occurrence that ended while a cancel arrived is told before that.
func TestADeliveryBeforeACancelInAStory(t *testing.T) {
	t.Parallel()
	for want, outcome := range map[string]timer.Outcome{
		"delivered": {Status: timer.Delivered, Attempts: 1}, "cancelled": {Status: timer.Cancelled, Attempts: 1},
	} {
		recurring := specAt(1)
		recurring.Series = &timer.Series{Number: 4, Cursor: recurrence.Cursor{Booked: 5}}
		s := newScript(t)
		s.began(recurring, "before", "starter")
		s.event(&historypb.HistoryEvent{Attributes: &historypb.HistoryEvent_MarkerRecordedEventAttributes{
			MarkerRecordedEventAttributes: &historypb.MarkerRecordedEventAttributes{Details: map[string]*commonpb.Payloads{"result": s.encoded(delivery.Report{
				Result: delivery.ResultDelivered, Attempt: 1, Attempts: []delivery.Attempt{{Number: 1, EndedAt: wire.At(s.now.Add(time.Hour))}},
			})}},
		}})
		s.event(&historypb.HistoryEvent{Attributes: &historypb.HistoryEvent_WorkflowExecutionCanceledEventAttributes{
			WorkflowExecutionCanceledEventAttributes: &historypb.WorkflowExecutionCanceledEventAttributes{Details: s.encoded(outcome)},
		}})
		told := []string{"attempt", "delivered", "cancelled"}
		if want == "cancelled" {
			told = []string{"attempt", "cancelled"}
		}
		require.Equal(t, told, s.told())
		for _, entry := range s.run.allEntries() {
			require.Equal(t, 4, entry.Occurrence, entry.Event)
		}
	}
}

// However a timer ends, it is told, and by whom.
func TestEndsInAStory(t *testing.T) {
	t.Parallel()
	for want, end := range map[string]func(*script) *historypb.HistoryEvent{
		"expired": func(s *script) *historypb.HistoryEvent {
			return &historypb.HistoryEvent{Attributes: &historypb.HistoryEvent_WorkflowExecutionCompletedEventAttributes{
				WorkflowExecutionCompletedEventAttributes: &historypb.WorkflowExecutionCompletedEventAttributes{Result: s.encoded(timer.Outcome{Status: timer.Expired})},
			}}
		},
		"failed": func(s *script) *historypb.HistoryEvent {
			return &historypb.HistoryEvent{Attributes: &historypb.HistoryEvent_WorkflowExecutionFailedEventAttributes{
				WorkflowExecutionFailedEventAttributes: &historypb.WorkflowExecutionFailedEventAttributes{Failure: &failurepb.Failure{
					FailureInfo: &failurepb.Failure_ApplicationFailureInfo{ApplicationFailureInfo: &failurepb.ApplicationFailureInfo{
						Details: s.encoded(timer.Outcome{Status: timer.Failed, LastFailure: &delivery.Failure{Message: "HTTP 500"}}),
					}},
				}},
			}}
		},
		"failed, by the engine": func(*script) *historypb.HistoryEvent {
			return &historypb.HistoryEvent{Attributes: &historypb.HistoryEvent_WorkflowExecutionTimedOutEventAttributes{}}
		},
		"terminated by ? of tctl: by hand": func(*script) *historypb.HistoryEvent {
			return &historypb.HistoryEvent{Attributes: &historypb.HistoryEvent_WorkflowExecutionTerminatedEventAttributes{
				WorkflowExecutionTerminatedEventAttributes: &historypb.WorkflowExecutionTerminatedEventAttributes{Identity: "tctl", Reason: "by hand"},
			}}
		},
		"terminated: the policy is being deleted": func(*script) *historypb.HistoryEvent {
			return &historypb.HistoryEvent{Attributes: &historypb.HistoryEvent_WorkflowExecutionTerminatedEventAttributes{
				WorkflowExecutionTerminatedEventAttributes: &historypb.WorkflowExecutionTerminatedEventAttributes{Identity: actors.Identity, Reason: "the policy is being deleted"},
			}}
		},
	} {
		s := newScript(t)
		s.began(specAt(1), "before", "starter")
		s.signalled(workflows.SignalChange, timer.Change{At: 5, ID: "1"}, byShop())
		s.event(end(s))
		require.Equal(t, "changed by shop, void", s.told()[0], "the timer ended first")
		if want == "failed, by the engine" {
			want = "failed"
		}
		require.Equal(t, want, s.told()[1])
	}
}

// Cancels, acknowledgements, and what is none of Wakecall's.
func TestWordsInAStory(t *testing.T) {
	t.Parallel()
	s := newScript(t)
	s.began(specAt(1), "before", "starter")
	cancel := func(cause, identity string) {
		s.event(&historypb.HistoryEvent{Attributes: &historypb.HistoryEvent_WorkflowExecutionCancelRequestedEventAttributes{
			WorkflowExecutionCancelRequestedEventAttributes: &historypb.WorkflowExecutionCancelRequestedEventAttributes{Cause: cause, Identity: identity},
		}})
	}
	s.signalled(workflows.SignalAcknowledge, delivery.Acknowledgement{Attempt: 2}, byShop())
	s.signalled(workflows.SignalAcknowledge, delivery.Acknowledgement{Attempt: 3, Nack: true, Reason: "secret words"}, "teller")
	s.signalled(workflows.SignalReceipt, delivery.Report{}, "teller")
	s.signalled("hello", 1, "teller")
	cancel("", "canceller")
	cancel("", byShop())
	s.event(&historypb.HistoryEvent{Attributes: &historypb.HistoryEvent_WorkflowExecutionCanceledEventAttributes{}})
	require.Equal(t, []string{
		"acknowledged by shop", "nacked by ? of teller", "signalled by ? of teller: hello", "cancel_requested by ? of canceller", "cancel_requested by shop", "cancelled by shop",
	}, s.told())
	require.Equal(t, 3, s.run.allEntries()[1].Number)
}

// An input that nobody can read is no reason to tell nothing.
func TestAStoryThatCannotBeReadInPart(t *testing.T) {
	t.Parallel()
	s := newScript(t)
	s.began(specAt(1), "", byShop())
	broken := &commonpb.Payloads{Payloads: []*commonpb.Payload{{Data: []byte("x")}}}
	s.event(&historypb.HistoryEvent{Attributes: &historypb.HistoryEvent_WorkflowExecutionSignaledEventAttributes{
		WorkflowExecutionSignaledEventAttributes: &historypb.WorkflowExecutionSignaledEventAttributes{SignalName: workflows.SignalChange, Input: broken},
	}})
	s.event(&historypb.HistoryEvent{Attributes: &historypb.HistoryEvent_WorkflowExecutionContinuedAsNewEventAttributes{
		WorkflowExecutionContinuedAsNewEventAttributes: &historypb.WorkflowExecutionContinuedAsNewEventAttributes{Input: broken},
	}})
	require.Equal(t, []string{"booked by shop", "signalled by ? of : change"}, s.told())
}
