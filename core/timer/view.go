package timer

import (
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/recurrence"
	"github.com/wakecall/wakecall/core/wire"
)

// Status is the state of a timer.
type Status string

// The life of a timer: scheduled, delivering, then one of the four ends. It may be paused before
// an end. A recurring timer begins anew after each delivery.
const (
	// Scheduled: waiting for its due time.
	Scheduled Status = "scheduled"
	// Paused: it waits to be resumed.
	Paused Status = "paused"
	// Delivering: an attempt is running or a retry is pending.
	Delivering Status = "delivering"
	// Delivered: the receiver answered 2xx.
	Delivered Status = "delivered"
	// Failed: the ladder is used up, or the receiver refused further attempts.
	Failed Status = "failed"
	// Expired: the latest time passed before success.
	Expired Status = "expired"
	// Cancelled: a caller cancelled or terminated it.
	Cancelled Status = "cancelled"
)

// Statuses lists every status, in the order of a timer's life.
func Statuses() []Status {
	return []Status{Scheduled, Paused, Delivering, Delivered, Failed, Expired, Cancelled}
}

// Finished reports whether the timer will not ring again by itself.
func (s Status) Finished() bool {
	switch s {
	case Delivered, Failed, Expired, Cancelled:
		return true
	default:
		return false
	}
}

// View is a timer as readers see it.
type View struct {
	wire.Key
	Status Status       `json:"status"`
	DueAt  wire.Instant `json:"due_at"`
	// DueLocal and Timezone are the due time by a wall clock, as booked.
	DueLocal wire.Wall    `json:"due_local,omitzero"`
	Timezone string       `json:"timezone,omitzero"`
	LatestAt wire.Instant `json:"latest_at,omitzero"`
	// RingBy is the latest ring of a debounced timer.
	RingBy   wire.Instant `json:"ring_by,omitzero"`
	Revision int          `json:"revision"`
	// Round is the number of the delivery of the booking, from 1. A redelivery begins another
	// one, and so does a change of the ring's time. Attempts counts those of this round.
	Round         int               `json:"round"`
	Attempts      int               `json:"attempts"`
	NextAttemptAt wire.Instant      `json:"next_attempt_at,omitzero"`
	LastFailure   *delivery.Failure `json:"last_failure,omitempty"`
	// Link is the link of the last attempt. It is left out if the policy had no fallback.
	Link delivery.Link `json:"link,omitzero"`
	// Wait is why the next attempt waits. Lists without attempts do not show it.
	delivery.Wait
	// AckUntil is the deadline for the acknowledgement of the last attempt; zero if none is
	// awaited.
	AckUntil wire.Instant `json:"ack_until,omitzero"`
	// PendingChange is the id of this call's change, if no worker has applied it yet.
	PendingChange string `json:"pending_change,omitzero"`
	// CancelRequested reports whether a durable cancel waits for a worker. Nothing after it
	// takes effect on this booking. Lists do not show it.
	CancelRequested bool `json:"cancel_requested,omitzero"`
	// RefusedChanges are the latest changes that were accepted and could not be applied.
	RefusedChanges []Refusal    `json:"refused_changes,omitempty"`
	DeliveredAt    wire.Instant `json:"delivered_at,omitzero"`
	LatenessMS     *int64       `json:"lateness_ms,omitempty"`
	WebhookID      string       `json:"webhook_id"`
	Priority       int          `json:"priority"`
	Labels         Labels       `json:"labels,omitempty"`
	CreatedAt      wire.Instant `json:"created_at"`
	UpdatedAt      wire.Instant `json:"updated_at,omitzero"`
	RunID          string       `json:"run_id"`
	FirstRunID     string       `json:"first_run_id,omitzero"`
	Links          Links        `json:"links"`
	// Callback and Retry describe the call under the present policy, with header values hidden.
	// Callback is nil if there is no receiver. Lists do not show them.
	Callback *delivery.Callback `json:"callback,omitempty"`
	Retry    *delivery.Retry    `json:"retry,omitempty"`
	// OnDelivered and OnFailed are the timer's own recipients of outcomes. Lists do not show
	// them.
	OnDelivered *delivery.Alert `json:"on_delivered,omitempty"`
	OnFailed    *delivery.Alert `json:"on_failed,omitempty"`
	// Note is why it was paused or resumed.
	Note string `json:"note,omitzero"`
	// Recurrence, Occurrence and LastOccurrence belong to a recurring timer. Occurrence is the
	// number of the occurrence at DueAt.
	Recurrence     *recurrence.Rule `json:"recurrence,omitempty"`
	Occurrence     int              `json:"occurrence,omitzero"`
	LastOccurrence *Past            `json:"last_occurrence,omitempty"`
	// Stopped reports whether its receiver ended a recurring timer.
	Stopped bool `json:"stopped,omitzero"`
	// PayloadBytes and PayloadSHA256 are the size of the payload and its digest. Callers without the right to
	// see payloads are not shown the digest: a short payload is found by guesses. Lists do not show them.
	PayloadBytes  *int   `json:"payload_bytes,omitempty"`
	PayloadSHA256 string `json:"payload_sha256,omitzero"`
	Memo          Memo   `json:"-"`
	// LastOutcome is that of the last delivery of an ended timer.
	LastOutcome Outcome `json:"-"`
	// Payload is what the receiver is sent.
	Payload Payload `json:"-"`
	// Found is the timer before a change; nil if there was none, or if it was not read.
	// Unchanged reports whether the call left it unchanged.
	Found     *Memo `json:"-"`
	Unchanged bool  `json:"-"`
	// Circumstances are for [View.Why].
	Circumstances Circumstances `json:"-"`
}

// ShowCall adds the payload, the callback and the ladder, from the input of the run and the present policy.
func (v *View) ShowCall(spec Spec, payload []byte, policy policy.Policy) {
	v.showPayload(Payload{Data: payload, ContentType: spec.ContentType})
	callback, retry := spec.Call(policy.WithDefaults())
	v.Retry, v.OnDelivered, v.OnFailed = &retry, spec.OnDelivered, spec.OnFailed
	if callback.Addressed() {
		callback = callback.Masked()
		v.Callback = &callback
	}
}

// showPayload adds what the receiver is sent.
func (v *View) showPayload(sent Payload) {
	size := len(sent.Data)
	if v.Payload, v.PayloadBytes = sent, &size; size > 0 {
		v.PayloadSHA256 = digest(sent.Data)
	}
}

// ShowEnd adds how the last delivery of an ended timer ended. That of a cancelled one may be the
// zero value, or the end of an occurrence that was delivered while the cancel arrived.
func (v *View) ShowEnd(last Outcome) {
	v.LastOutcome = last
	v.Attempts, v.Link, v.LatenessMS, v.LastFailure = last.Attempts, last.Link, last.LatenessMS, last.LastFailure
	if v.Status != Cancelled {
		v.Status, v.DeliveredAt, v.Stopped = last.Status, last.DeliveredAt, last.Stopped
	} else if past, ok := v.Ended(); ok {
		v.LastOccurrence = &past
	}
}

// Ended returns the last occurrence of an ended recurring timer. ok is false while it goes on,
// or if it was cancelled between two.
func (v View) Ended() (_ Past, ok bool) {
	last := v.LastOutcome
	if v.Memo.Series == nil || last.Status == "" || last.Status == Cancelled && last.Attempts == 0 {
		return Past{}, false
	}
	last.Again, last.Earlier, last.Unsent = false, 0, false
	return Past{
		Occurrence: v.Memo.Series.Number, DueAt: v.DueAt, Skipped: v.Memo.Series.Skipped, WebhookID: v.WebhookID, Outcome: last,
	}, true
}

// StateOf returns the timer that is the reason for a refusal; nil for another reason.
func StateOf(e *wire.Error) *View {
	view, _ := e.State.(*View)
	return view
}

// Links are URLs for a closer look at a timer.
type Links struct {
	WebUI string `json:"web_ui,omitzero"`
}
