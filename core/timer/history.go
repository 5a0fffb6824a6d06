package timer

import (
	"reflect"
	"slices"
	"strings"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/wire"
)

// HistoryEvent is the kind of an event in a timer's history.
type HistoryEvent string

// Events by callers.
const (
	// HistoryBooked: it was booked.
	HistoryBooked HistoryEvent = "booked"
	// HistoryChanged: it was moved or edited.
	HistoryChanged HistoryEvent = "changed"
	// HistoryFired: a caller made it ring at once.
	HistoryFired HistoryEvent = "fired"
	// HistoryPaused and HistoryResumed: a caller paused or resumed it.
	HistoryPaused  HistoryEvent = "paused"
	HistoryResumed HistoryEvent = "resumed"
	// HistoryRedelivered: it had failed, and was tried again.
	HistoryRedelivered HistoryEvent = "redelivered"
	// HistoryCancelRequested: a caller requested its cancellation.
	HistoryCancelRequested HistoryEvent = "cancel_requested"
	// HistoryAcknowledged and HistoryNacked: its receiver settled an attempt that it had
	// accepted.
	HistoryAcknowledged HistoryEvent = "acknowledged"
	HistoryNacked       HistoryEvent = "nacked"
	// HistorySignalled: it got a signal that is not Wakecall's.
	HistorySignalled HistoryEvent = "signalled"
)

// Events by Wakecall.
const (
	// HistoryWoken: it was late, and the reconciler woke it.
	HistoryWoken HistoryEvent = "woken"
	// HistoryHandedOut: a worker has it.
	HistoryHandedOut HistoryEvent = "handed_out"
	// HistoryAttempt: an attempt was made.
	HistoryAttempt HistoryEvent = "attempt"
)

// The ends of a timer, or of one occurrence.
const (
	HistoryDelivered HistoryEvent = "delivered"
	HistoryFailed    HistoryEvent = "failed"
	HistoryExpired   HistoryEvent = "expired"
	HistoryCancelled HistoryEvent = "cancelled"
	// HistoryTerminated: a caller ended it with one of Temporal's tools.
	HistoryTerminated HistoryEvent = "terminated"
)

// HistoryEvents lists every event, in the order of a timer's life.
func HistoryEvents() []HistoryEvent {
	return []HistoryEvent{
		HistoryBooked, HistoryChanged, HistoryFired, HistoryPaused, HistoryResumed, HistoryRedelivered, HistoryCancelRequested,
		HistorySignalled, HistoryWoken,
		HistoryHandedOut, HistoryAttempt, HistoryAcknowledged, HistoryNacked, HistoryDelivered, HistoryFailed, HistoryExpired,
		HistoryCancelled, HistoryTerminated,
	}
}

// HistoryResult is the result of a change.
type HistoryResult string

// The closed list of results.
const (
	// HistoryApplied: it took effect.
	HistoryApplied HistoryResult = "applied"
	// HistoryRefused: it did not fit the timer any more.
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

// HistoryEntry is one event in the life of a timer. Fields that do not apply are left out.
type HistoryEntry struct {
	At    wire.Instant `json:"at"`
	Event HistoryEvent `json:"event"`
	// Who is the author of a caller's event. WhoUnknown reports whether the author is unknown:
	// the event came by one of Temporal's tools, or before Wakecall stored authors.
	Who        *wire.Actor `json:"who,omitempty"`
	WhoUnknown bool        `json:"who_unknown,omitzero"`
	// Identity is the name of the process in Temporal, and Reason the reason in Temporal.
	Identity string `json:"identity,omitzero"`
	Reason   string `json:"reason,omitzero"`
	// RevisionBefore and Revision are the timer's before and after a change.
	RevisionBefore int           `json:"revision_before,omitzero"`
	Revision       int           `json:"revision,omitzero"`
	Result         HistoryResult `json:"result,omitzero"`
	// Errors are why a change was refused.
	Errors  wire.FieldErrors `json:"errors,omitempty"`
	Changes []FieldChange    `json:"changes,omitempty"`
	// DueAt is the booked due time of the timer, or the due time of the occurrence. Of a timer that
	// was handed out, it is the due time for which the worker has it.
	DueAt      wire.Instant `json:"due_at,omitzero"`
	Occurrence int          `json:"occurrence,omitzero"`
	// Attempt is the attempt of this event, and Number the number of an acknowledged one.
	Attempt *delivery.ShownAttempt `json:"attempt,omitempty"`
	Number  int                    `json:"number,omitzero"`
	// LastFailure is why it failed, and LatenessMS its lateness.
	LastFailure *delivery.Failure `json:"last_failure,omitempty"`
	LatenessMS  *int64            `json:"lateness_ms,omitempty"`
	RunID       string            `json:"run_id"`
}

// FieldChange is a field of a change. Its value is shown unless it is a payload or may hold a
// secret.
type FieldChange struct {
	Field string `json:"field"`
	From  any    `json:"from,omitempty"`
	To    any    `json:"to,omitempty"`
}

// shownTerms are the fields whose values every reader of the timer may see.
var shownTerms = []string{
	"due_at", "due_local", "timezone", "delay", "max_wait", "latest_at", "expires_after", "paused", "priority", "recurrence", "retry",
}

// termField is a field of [Terms] by its name on the wire.
type termField struct {
	name  string
	index []int
	shown bool
}

// termFields has every field of [Terms], by name.
var termFields = fieldsOfTerms()

func fieldsOfTerms() (fields []termField) {
	for _, field := range reflect.VisibleFields(reflect.TypeFor[Terms]()) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		fields = append(fields, termField{name: name, index: field.Index, shown: slices.Contains(shownTerms, name)})
	}
	slices.SortFunc(fields, func(a, b termField) int { return strings.Compare(a.name, b.name) })
	return fields
}

// Changes returns the fields that the terms set, by name. before is the timer before the change,
// and nil for a booking.
func (t *Terms) Changes(before *Memo) (changes []FieldChange) {
	was, says := reflect.ValueOf(termsOf(before)).Elem(), reflect.ValueOf(t).Elem()
	for _, field := range termFields {
		value := says.FieldByIndex(field.index)
		if value.IsZero() {
			continue
		}
		change := FieldChange{Field: field.name}
		if field.shown {
			change.To = value.Interface()
			if old := was.FieldByIndex(field.index); !old.IsZero() {
				change.From = old.Interface()
			}
		}
		changes = append(changes, change)
	}
	return changes
}

// termsOf returns the shown terms that a memo has, and none without a memo.
func termsOf(m *Memo) *Terms {
	if m == nil {
		return &noTerms
	}
	return &Terms{
		Paused: given(m.Suspended), DueAt: given(m.DueAt), LatestAt: given(m.LatestAt),
		ExpiresAfter: given(m.ExpiresAfter), Priority: given(m.Priority),
	}
}

var noTerms Terms

// given returns a pointer to a value, nil if it is zero.
func given[T comparable](value T) *T {
	var zero T
	if value == zero {
		return nil
	}
	return &value
}
