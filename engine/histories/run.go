package histories

import (
	"slices"

	commonpb "go.temporal.io/api/common/v1"
	failurepb "go.temporal.io/api/failure/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/converter"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/actors"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/engine/timers"
	"github.com/wakecall/wakecall/internal/identity"
	"github.com/wakecall/wakecall/workflows"
)

// runHistory holds the entries from the history of one run.
type runHistory struct {
	attemptsOfRun
	key     wire.Key
	runID   string
	began   wire.Instant
	entries []timer.HistoryEntry
	// previous is the run that this one continues; empty for the first of a booking. A
	// retried timer names the run that it retries.
	previous string
	// changes are the entries of changes that wait to be applied, with their indexes.
	changes []waitingChange
	// interrupted reports whether a change or a cancel came before the run began to deliver,
	// and delivering whether it has begun.
	interrupted, delivering bool
	// cancel is the last request for cancellation; nil for none.
	cancel *timer.HistoryEntry
	// ends are the entries of the end of the run. They come after all others.
	ends []timer.HistoryEntry
}

// waitingChange is a change with the index of its entry.
type waitingChange struct {
	at     int
	change timer.Change
}

// addEvent adds the entries of an event.
func (s *runHistory) addEvent(event *historypb.HistoryEvent) {
	s.read(event)
	entry := timer.HistoryEntry{At: wire.At(event.GetEventTime().AsTime()), RunID: s.runID}
	switch of := event.GetAttributes().(type) {
	case *historypb.HistoryEvent_WorkflowExecutionStartedEventAttributes:
		s.start(entry, of.WorkflowExecutionStartedEventAttributes)
	case *historypb.HistoryEvent_WorkflowExecutionSignaledEventAttributes:
		s.signal(entry, of.WorkflowExecutionSignaledEventAttributes)
	case *historypb.HistoryEvent_WorkflowExecutionCancelRequestedEventAttributes:
		s.addCancelRequest(entry, of.WorkflowExecutionCancelRequestedEventAttributes)
	case *historypb.HistoryEvent_WorkflowTaskStartedEventAttributes:
		s.addHandOut(entry, of.WorkflowTaskStartedEventAttributes)
	case *historypb.HistoryEvent_MarkerRecordedEventAttributes, *historypb.HistoryEvent_ActivityTaskScheduledEventAttributes:
		s.delivering = true
	default:
		s.end(entry, event)
	}
}

func (s *runHistory) add(entry timer.HistoryEntry) { s.entries = append(s.entries, entry) }

// by sets the author of an entry, as far as the identity in its event names one.
func by(entry timer.HistoryEntry, of string) timer.HistoryEntry {
	entry.Identity, entry.Who = identity.Parse(of)
	entry.WhoUnknown = entry.Who == nil
	return entry
}

// start adds a booking, or a retry. A run that continues another one adds nothing.
func (s *runHistory) start(entry timer.HistoryEntry, of *historypb.WorkflowExecutionStartedEventAttributes) {
	s.began, s.previous = entry.At, of.GetContinuedExecutionRunId()
	if s.previous != "" {
		return
	}
	s.previous = actors.RunBefore(of.GetHeader())
	entry = by(entry, of.GetIdentity())
	entry.Event, entry.Revision, entry.DueAt = timer.HistoryBooked, s.spec.Revision, s.spec.DueAt
	if s.spec.Round > 0 {
		entry.Event = timer.HistoryRedelivered
	}
	if s.spec.Series != nil {
		entry.Occurrence = s.spec.Series.Number
	}
	s.add(entry)
}

// signal adds a change, or a receiver's acknowledgement.
func (s *runHistory) signal(entry timer.HistoryEntry, of *historypb.WorkflowExecutionSignaledEventAttributes) {
	entry = by(entry, of.GetIdentity())
	switch of.GetSignalName() {
	case workflows.SignalChange:
		s.change(entry, of.GetInput())
	case workflows.SignalAcknowledge:
		var word delivery.Acknowledgement
		if kernel.Payloads.FromPayloads(of.GetInput(), &word) == nil {
			entry.Event, entry.Number = timer.HistoryAcknowledged, word.Attempt
			if word.Nack {
				entry.Event = timer.HistoryNacked
			}
			s.add(entry)
		}
	case workflows.SignalReceipt: // a message among workers
	default:
		entry.Event, entry.Reason = timer.HistorySignalled, of.GetSignalName()
		s.add(entry)
	}
}

func (s *runHistory) change(entry timer.HistoryEntry, input *commonpb.Payloads) {
	var change timer.Change
	if kernel.Payloads.FromPayloads(input, &change) != nil { // it was not made by Wakecall
		entry.Event, entry.Reason = timer.HistorySignalled, workflows.SignalChange
		s.add(entry)
		return
	}
	if change.Booking != "" && change.Booking == s.spec.Booking {
		return // it is the booking itself
	}
	s.interrupted = true
	if change.Wake {
		entry.Event, entry.WhoUnknown = timer.HistoryWoken, false
		s.add(entry)
		return
	}
	entry.Event, entry.Result, entry.Changes = timer.HistoryChanged, timer.HistoryPending, change.Terms.Changes(&s.spec.Memo)
	switch {
	case change.Ring:
		entry.Event = timer.HistoryFired
	case change.Pause != nil && change.Pause.Stop:
		entry.Event, entry.Reason = timer.HistoryPaused, change.Pause.Note
	case change.Pause != nil:
		entry.Event, entry.Reason = timer.HistoryResumed, change.Pause.Note
	}
	s.changes = append(s.changes, waitingChange{len(s.entries), change})
	s.add(entry)
}

// addHandOut adds that a worker got the timer. A task that began too early, or by which an occurrence
// was missed, rings nothing at the due time of the run.
func (s *runHistory) addHandOut(entry timer.HistoryEntry, of *historypb.WorkflowTaskStartedEventAttributes) {
	if s.interrupted || s.delivering {
		return
	}
	entry.Event, entry.Identity = timer.HistoryHandedOut, identity.Process(of.GetIdentity())
	if workflows.FirstTaskRings(s.spec, entry.At.Time()) {
		entry.DueAt = s.spec.DueAt
	}
	s.add(entry)
}

func (s *runHistory) addCancelRequest(entry timer.HistoryEntry, of *historypb.WorkflowExecutionCancelRequestedEventAttributes) {
	s.interrupted = true
	entry = by(entry, of.GetIdentity())
	entry.Event, entry.Reason = timer.HistoryCancelRequested, of.GetCause()
	s.cancel = &entry
	s.add(entry)
}

// end adds how the run closed, if an event says so.
func (s *runHistory) end(entry timer.HistoryEntry, event *historypb.HistoryEvent) {
	switch of := event.GetAttributes().(type) {
	case *historypb.HistoryEvent_WorkflowExecutionContinuedAsNewEventAttributes:
		s.addContinuation(entry, of.WorkflowExecutionContinuedAsNewEventAttributes.GetInput())
		return
	case *historypb.HistoryEvent_WorkflowExecutionCompletedEventAttributes:
		entry = endedWith(entry, of.WorkflowExecutionCompletedEventAttributes.GetResult())
	case *historypb.HistoryEvent_WorkflowExecutionFailedEventAttributes:
		entry = endedWith(entry, detailsOf(of.WorkflowExecutionFailedEventAttributes.GetFailure()))
	case *historypb.HistoryEvent_WorkflowExecutionTimedOutEventAttributes:
		entry.Event = timer.HistoryFailed
	case *historypb.HistoryEvent_WorkflowExecutionCanceledEventAttributes:
		s.addDeliveryBeforeCancel(entry, of.WorkflowExecutionCanceledEventAttributes.GetDetails())
		entry.Event = timer.HistoryCancelled
		if s.cancel != nil {
			entry.Who, entry.WhoUnknown, entry.Identity = s.cancel.Who, s.cancel.WhoUnknown, s.cancel.Identity
		}
	case *historypb.HistoryEvent_WorkflowExecutionTerminatedEventAttributes:
		terminated := of.WorkflowExecutionTerminatedEventAttributes
		entry = by(entry, terminated.GetIdentity())
		entry.Event, entry.Reason = timer.HistoryTerminated, terminated.GetReason()
		entry.WhoUnknown = entry.WhoUnknown && entry.Identity != actors.Identity
	default:
		return
	}
	for _, waiting := range s.changes {
		s.entries[waiting.at].Result = timer.HistoryVoid
	}
	s.ends = append(s.ends, s.occurring(entry))
}

// occurring adds the number of a recurring timer's occurrence.
func (s *runHistory) occurring(entry timer.HistoryEntry) timer.HistoryEntry {
	if s.spec.Series != nil {
		entry.Occurrence = s.spec.Series.Number
	}
	return entry
}

// addDeliveryBeforeCancel adds the end of an occurrence whose delivery came before the cancel.
func (s *runHistory) addDeliveryBeforeCancel(entry timer.HistoryEntry, details *commonpb.Payloads) {
	var outcome timer.Outcome
	if kernel.Payloads.FromPayloads(details, &outcome) == nil && outcome.Status.Finished() && outcome.Status != timer.Cancelled {
		entry = s.occurring(entry)
		entry.DueAt = s.spec.DueAt
		s.ends = append(s.ends, endedAs(entry, outcome))
	}
}

// endedWith is the end of a delivery.
func endedWith(entry timer.HistoryEntry, result *commonpb.Payloads) timer.HistoryEntry {
	var outcome timer.Outcome
	if kernel.Payloads.FromPayloads(result, &outcome) != nil || outcome.Status == "" {
		outcome.Status = timer.Failed
	}
	return endedAs(entry, outcome)
}

func endedAs(entry timer.HistoryEntry, outcome timer.Outcome) timer.HistoryEntry {
	entry.Event = timer.HistoryEvent(outcome.Status)
	entry.LatenessMS, entry.LastFailure = outcome.LatenessMS, outcome.LastFailure
	return entry
}

func detailsOf(failure *failurepb.Failure) *commonpb.Payloads {
	return failure.GetApplicationFailureInfo().GetDetails()
}

// addContinuation adds what the run passed on: the end of an occurrence, and the results of changes.
func (s *runHistory) addContinuation(entry timer.HistoryEntry, input *commonpb.Payloads) {
	var next timer.Spec
	var payload converter.RawValue
	if timers.DecodeInput(input, &next, &payload) != nil {
		return
	}
	if last := lastOf(next); last != nil && (lastOf(s.spec) == nil || lastOf(s.spec).Occurrence != last.Occurrence) {
		entry.Occurrence, entry.DueAt = last.Occurrence, last.DueAt
		s.ends = append(s.ends, endedAs(entry, last.Outcome))
	}
	s.resolveChanges(next.Memo)
}

func lastOf(spec timer.Spec) *timer.Past {
	if spec.Series == nil {
		return nil
	}
	return spec.Series.Last
}

// resolveChanges sets the results of the changes, from the memo of the next run. It numbers
// the revisions if each applied change has made one.
func (s *runHistory) resolveChanges(next timer.Memo) {
	var applied []int
	for _, waiting := range s.changes {
		entry := &s.entries[waiting.at]
		entry.Result = timer.HistoryApplied
		if refusal, refused := next.Refusals.Find(waiting.change.ID); refused {
			entry.Result, entry.Errors = timer.HistoryRefused, refusal.FieldErrors
			continue
		}
		applied = append(applied, waiting.at)
	}
	if next.Revision-s.spec.Revision != len(applied) {
		return // some changed nothing
	}
	for i, at := range applied {
		s.entries[at].RevisionBefore, s.entries[at].Revision = s.spec.Revision+i, s.spec.Revision+i+1
	}
}

// allEntries is the history of the run, in order, with its attempts. Attempts carry the time of
// their worker, whose clock may differ from Temporal's.
func (s *runHistory) allEntries() []timer.HistoryEntry {
	shown := s.spec.Shown(s.own(), s.payload.Payload().GetData(), s.runID)
	slices.Reverse(shown)
	entries := slices.Clone(s.entries)
	for _, attempt := range shown {
		entry := timer.HistoryEntry{At: max(attempt.EndedAt, s.began), Event: timer.HistoryAttempt, Attempt: &attempt, RunID: s.runID}
		if len(s.ends) > 0 {
			entry.At = min(entry.At, s.ends[0].At)
		}
		entries = append(entries, s.occurring(entry))
	}
	slices.SortStableFunc(entries, func(a, b timer.HistoryEntry) int { return int(a.At - b.At) })
	return append(entries, s.ends...)
}
