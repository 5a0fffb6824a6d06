package calls

import (
	"slices"
	"time"

	"github.com/wakecall/wakecall/internal/tuning"
)

// The events of a story that a page tells from others.
const (
	eventBooked    = "booked"
	eventChanged   = "changed"
	eventHandedOut = "handed_out"
	// eventDue is no event of the API: a time that came.
	eventDue = "due"
	// eventDeleted is none of a timer: a policy was deleted.
	eventDeleted = "deleted"
)

// resets are the events that set when a timer rings.
var resets = []string{eventBooked, eventChanged, "fired", "redelivered"}

// Pauses reports whether the entry pauses the timer. The last of them explains a paused timer. A timer may be booked
// paused.
func (e Entry) Pauses() bool {
	names := func(c FieldChange) bool { return c.Field == StatusPaused }
	return e.Result != outcomeRefused && (e.Event == StatusPaused || e.Event == eventBooked || slices.ContainsFunc(e.Changes, names))
}

// Recorded reports whether the entry has the time at which Temporal recorded an end. What ended the timer came before: the
// answer to an attempt, or its latest time.
func (e Entry) Recorded() bool {
	return e.Event == StatusDelivered || e.Event == StatusFailed || e.Event == StatusExpired
}

// Worker is which worker the timer was handed to; "" for another event.
func (e Entry) Worker() string {
	if e.Event != eventHandedOut {
		return ""
	}
	return e.Identity
}

// Ahead is how long before its due time a worker got the timer, which holds it until then; 0 where
// it was handed out for being due.
func (e Entry) Ahead() time.Duration {
	if ahead := e.DueAt.Sub(e.At); e.Event == eventHandedOut && !e.DueAt.IsZero() && ahead > tuning.NearlyDue {
		return ahead
	}
	return 0
}

// LateMS is by how many milliseconds the attempt was later than planned; nil if nothing was sent.
func (a Attempt) LateMS() *int64 {
	if a.SentAt.IsZero() || a.DueAt.IsZero() {
		return nil
	}
	late := max(a.SentAt.Sub(a.DueAt).Milliseconds(), 0)
	return &late
}

// NextAt is for when the attempt after a failed one was planned; the zero time for none.
func (a Attempt) NextAt() time.Time {
	wait, err := time.ParseDuration(a.RetryIn)
	if err != nil || wait == 0 || a.EndedAt.IsZero() {
		return time.Time{}
	}
	return a.EndedAt.Add(wait)
}

// WithDue is a story in which the due times stand as well, each once and as far as they have come.
// untaken is the due time of a timer that possibly no worker has taken yet; the zero time for none.
func WithDue(story []Entry, untaken, now time.Time) (told []Entry) {
	for i, e := range story {
		told = append(told, e)
		replaced := i+1 < len(story) && story[i+1].At.Before(e.DueAt) // something came before its time
		if e.Event == eventHandedOut && !replaced && !e.DueAt.After(now) {
			told = withDue(told, e.DueAt)
		}
	}
	if len(story) > 0 && !untaken.After(now) {
		told = withDue(told, untaken)
	}
	return told
}

// withDue adds a due time to the end of a story, as far back as what set it.
func withDue(told []Entry, due time.Time) []Entry {
	if due.IsZero() || slices.ContainsFunc(told, func(e Entry) bool { return e.Event == eventDue && e.At.Equal(due) }) {
		return told
	}
	at := len(told)
	for at > 0 && !told[at-1].At.Before(due) && !slices.Contains(resets, told[at-1].Event) {
		at--
	}
	return slices.Insert(told, at, Entry{At: due, Event: eventDue})
}
