package timer

import (
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/recurrence"
	"github.com/wakecall/wakecall/core/wire"
)

// Status is where a timer stands.
type Status string

// The life of a timer: scheduled, delivering, then one of the four ends. It may be
// paused before an end, and a recurring timer begins anew after each delivery.
const (
	// Scheduled: waiting for its due time.
	Scheduled Status = "scheduled"
	// Paused: it waits to be resumed.
	Paused Status = "paused"
	// Delivering: an attempt is running or a retry is pending.
	Delivering Status = "delivering"
	// Delivered: the receiver answered 2xx.
	Delivered Status = "delivered"
	// Failed: the ladder is used up, or the receiver said stop.
	Failed Status = "failed"
	// Expired: the latest time passed before success.
	Expired Status = "expired"
	// Cancelled: cancelled or terminated by anybody.
	Cancelled Status = "cancelled"
)

// Statuses lists every status, in the order of a timer's life.
func Statuses() []Status {
	return []Status{Scheduled, Paused, Delivering, Delivered, Failed, Expired, Cancelled}
}

// Finished reports whether the timer will not ring again by itself.
func (s Status) Finished() bool { return s != Scheduled && s != Paused && s != Delivering }

// View is what a reader is shown of a timer.
type View struct {
	wire.Key
	Status Status       `json:"status"`
	DueAt  wire.Instant `json:"due_at"`
	// DueLocal and Timezone are the due time as it was booked by a clock on a wall.
	DueLocal wire.Wall    `json:"due_local,omitzero"`
	Timezone string       `json:"timezone,omitzero"`
	LatestAt wire.Instant `json:"latest_at,omitzero"`
	// RingBy is when a timer that is pushed out again and again rings at the latest.
	RingBy   wire.Instant `json:"ring_by,omitzero"`
	Revision int          `json:"revision"`
	// Round is which delivery of the booking it is, from 1: a redelivery begins another one,
	// and so does a change of when the timer rings. Attempts are those of this round.
	Round         int               `json:"round"`
	Attempts      int               `json:"attempts"`
	NextAttemptAt wire.Instant      `json:"next_attempt_at,omitzero"`
	LastFailure   *delivery.Failure `json:"last_failure,omitempty"`
	// Link is by which the last attempt went: the one that delivered, where the timer is
	// delivered. It is left out where the policy had no fallback.
	Link delivery.Link `json:"link,omitzero"`
	// Wait is what holds the next attempt up. Lists that leave out attempts do not show it.
	delivery.Wait
	// AckUntil is when the receiver has to have acknowledged the last attempt, which it
	// accepted; zero where nothing is awaited of it.
	AckUntil wire.Instant `json:"ack_until,omitzero"`
	// PendingChange is the id of the change that this answer is about, and that
	// no worker has applied yet.
	PendingChange string `json:"pending_change,omitzero"`
	// CancelRequested reports whether a cancel is durable that no worker has carried out yet.
	// Nothing that comes after it takes effect on this booking. Lists do not show it.
	CancelRequested bool `json:"cancel_requested,omitzero"`
	// RefusedChanges are the latest that were accepted and could not be applied.
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
	// Callback and Retry are how the receiver is called under the policy as it
	// is now, header values hidden; Callback is nil where nobody would be. Lists
	// do not show them.
	Callback *delivery.Callback `json:"callback,omitempty"`
	Retry    *delivery.Retry    `json:"retry,omitempty"`
	// OnDelivered and OnFailed are who is told in place of whom the policy names. Lists do not
	// show them.
	OnDelivered *delivery.Alert `json:"on_delivered,omitempty"`
	OnFailed    *delivery.Alert `json:"on_failed,omitempty"`
	// Note is why it was paused or resumed.
	Note string `json:"note,omitzero"`
	// Recurrence, Occurrence and LastOccurrence are those of a recurring timer;
	// Occurrence is the number of the one at DueAt.
	Recurrence     *recurrence.Rule `json:"recurrence,omitempty"`
	Occurrence     int              `json:"occurrence,omitzero"`
	LastOccurrence *Past            `json:"last_occurrence,omitempty"`
	// Stopped reports whether its receiver ended a recurring timer.
	Stopped bool `json:"stopped,omitzero"`
	Memo    Memo `json:"-"`
	// Found is the timer that a change came upon; nil where there was none, or nobody looked.
	// Unchanged reports whether the call changed nothing of it.
	Found     *Memo `json:"-"`
	Unchanged bool  `json:"-"`
}

// ShowCall adds where and how the receiver is called, from what the run began with and the
// policy as it is now.
func (v *View) ShowCall(spec Spec, policy policy.Policy) {
	callback, retry := spec.Call(policy.WithDefaults())
	v.Retry, v.OnDelivered, v.OnFailed = &retry, spec.OnDelivered, spec.OnFailed
	if callback.Addressed() {
		callback = callback.Masked()
		v.Callback = &callback
	}
}

// Ended is the occurrence that a recurring timer ended with; ok is false while
// it goes on, or when it was cancelled between two.
func (v View) Ended() (_ Past, ok bool) {
	if v.Memo.Series == nil || !v.Status.Finished() || v.Status == Cancelled {
		return Past{}, false
	}
	return Past{
		Occurrence: v.Memo.Series.Number, DueAt: v.DueAt, Skipped: v.Memo.Series.Skipped, WebhookID: v.WebhookID,
		Outcome: Outcome{
			Status: v.Status, Attempts: v.Attempts, DeliveredAt: v.DeliveredAt, LatenessMS: v.LatenessMS, LastFailure: v.LastFailure,
			Link: v.Link, Stopped: v.Stopped,
		},
	}, true
}

// StateOf is the timer that is the reason for a refusal; nil where it is another one.
func StateOf(e *wire.Error) *View {
	view, _ := e.State.(*View)
	return view
}

// Links lead from a timer to where it can be looked at.
type Links struct {
	WebUI string `json:"web_ui,omitzero"`
}
