package timer

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/wire"
)

// HistoryEvent is what happened to a timer.
type HistoryEvent string

// What somebody did with a timer.
const (
	// HistoryBooked: it was booked.
	HistoryBooked HistoryEvent = "booked"
	// HistoryChanged: it was moved or edited.
	HistoryChanged HistoryEvent = "changed"
	// HistoryFired: somebody had it ring at once.
	HistoryFired HistoryEvent = "fired"
	// HistoryPaused and HistoryResumed: somebody paused it, or let it go on.
	HistoryPaused  HistoryEvent = "paused"
	HistoryResumed HistoryEvent = "resumed"
	// HistoryRedelivered: it had failed, and was tried again.
	HistoryRedelivered HistoryEvent = "redelivered"
	// HistoryCancelRequested: somebody asked for it to be cancelled.
	HistoryCancelRequested HistoryEvent = "cancel_requested"
	// HistoryAcknowledged and HistoryNacked: its receiver said what became of an attempt that it
	// had accepted.
	HistoryAcknowledged HistoryEvent = "acknowledged"
	HistoryNacked       HistoryEvent = "nacked"
	// HistorySignalled: it was sent a signal that is none of Wakecall's.
	HistorySignalled HistoryEvent = "signalled"
)

// What Wakecall did with it.
const (
	// HistoryWoken: it was late, and the reconciler woke it.
	HistoryWoken HistoryEvent = "woken"
	// HistoryHandedOut: a worker has it.
	HistoryHandedOut HistoryEvent = "handed_out"
	// HistoryAttempt: an attempt was made.
	HistoryAttempt HistoryEvent = "attempt"
)

// How it ended, or one occurrence of it.
const (
	HistoryDelivered HistoryEvent = "delivered"
	HistoryFailed    HistoryEvent = "failed"
	HistoryExpired   HistoryEvent = "expired"
	HistoryCancelled HistoryEvent = "cancelled"
	// HistoryTerminated: somebody ended it by a tool of Temporal's.
	HistoryTerminated HistoryEvent = "terminated"
)

// HistoryEvents lists every event, in the order of a timer's life.
func HistoryEvents() []HistoryEvent {
	return []HistoryEvent{
		HistoryBooked, HistoryChanged, HistoryFired, HistoryPaused, HistoryResumed, HistoryRedelivered, HistoryCancelRequested, HistorySignalled, HistoryWoken,
		HistoryHandedOut, HistoryAttempt, HistoryAcknowledged, HistoryNacked, HistoryDelivered, HistoryFailed, HistoryExpired, HistoryCancelled, HistoryTerminated,
	}
}

// HistoryResult is what became of a change.
type HistoryResult string

// The closed list of results.
const (
	// HistoryApplied: it took effect.
	HistoryApplied HistoryResult = "applied"
	// HistoryRefused: it came too late for the timer as it was by then.
	HistoryRefused HistoryResult = "refused"
	// HistoryPending: no worker has applied it yet.
	HistoryPending HistoryResult = "pending"
	// HistoryVoid: the timer ended first.
	HistoryVoid HistoryResult = "void"
)

// HistoryResults lists every result.
func HistoryResults() []HistoryResult {
	return []HistoryResult{HistoryApplied, HistoryRefused, HistoryPending, HistoryVoid}
}

// HistoryEntry is one event in the life of a timer. What does not apply is left out.
type HistoryEntry struct {
	At    wire.Instant `json:"at"`
	Event HistoryEvent `json:"event"`
	// Who did it, of what somebody did. WhoUnknown reports whether nobody can tell: it came by a
	// tool of Temporal's, or before Wakecall kept that.
	Who        *wire.Actor `json:"who,omitempty"`
	WhoUnknown bool        `json:"who_unknown,omitzero"`
	// Identity is what the process called itself before Temporal, and Reason what was said to
	// Temporal as the reason.
	Identity string `json:"identity,omitzero"`
	Reason   string `json:"reason,omitzero"`
	// RevisionBefore and Revision are those of the timer before and after a change.
	RevisionBefore int           `json:"revision_before,omitzero"`
	Revision       int           `json:"revision,omitzero"`
	Result         HistoryResult `json:"result,omitzero"`
	// Errors are why a change was refused.
	Errors  wire.FieldErrors `json:"errors,omitempty"`
	Changes []FieldChange    `json:"changes,omitempty"`
	// DueAt is the due time that the timer was booked for, or that of the occurrence.
	DueAt      wire.Instant `json:"due_at,omitzero"`
	Occurrence int          `json:"occurrence,omitzero"`
	// Attempt is the one that was made, and Number the one that was acknowledged.
	Attempt *delivery.ShownAttempt `json:"attempt,omitempty"`
	Number  int                    `json:"number,omitzero"`
	// LastFailure is why it failed, and LatenessMS how late it rang.
	LastFailure *delivery.Failure `json:"last_failure,omitempty"`
	LatenessMS  *int64            `json:"lateness_ms,omitempty"`
	RunID       string            `json:"run_id"`
}

// FieldChange is a field that a change names. Its value is shown where it is neither a
// payload nor may hold a secret.
type FieldChange struct {
	Field string `json:"field"`
	From  any    `json:"from,omitempty"`
	To    any    `json:"to,omitempty"`
}

// shownTerms are the fields whose values may be told to everybody who may see the timer.
var shownTerms = []string{
	"due_at", "due_local", "timezone", "delay", "max_wait", "latest_at", "expires_after", "paused", "priority", "recurrence", "retry",
}

// Changes are the fields that the terms name, by their names. before is the timer as it was.
func (t Terms) Changes(before Memo) (changes []FieldChange) {
	was, says := members(Terms{
		Paused: given(before.Suspended), DueAt: given(before.DueAt), LatestAt: given(before.LatestAt), ExpiresAfter: given(before.ExpiresAfter), Priority: given(before.Priority),
	}), members(t)
	for _, name := range slices.Sorted(maps.Keys(says)) {
		change := FieldChange{Field: name}
		if slices.Contains(shownTerms, name) {
			change.From, change.To = was[name], says[name]
		}
		changes = append(changes, change)
	}
	return changes
}

// given is a field that was said, unless it is zero.
func given[T comparable](value T) *T {
	var zero T
	if value == zero {
		return nil
	}
	return &value
}

// members are the terms as the members of a JSON object.
func members(t Terms) (found map[string]any) {
	text, _ := json.Marshal(t) // terms always marshal, see [Terms.Fingerprint]
	_ = json.Unmarshal(text, &found)
	return found
}
