package timer

import "time"

// Waiting is what holds up an attempt, or other work that has begun.
type Waiting string

// The closed list of what is waited for.
const (
	// WaitsForEmergency: somebody has paused the callbacks of the type, or all of them.
	WaitsForEmergency Waiting = "emergency"
	// WaitsForPause: the policy of the type is paused.
	WaitsForPause Waiting = "pause"
	// WaitsForBackPressure: the receiver has asked for patience with its whole type.
	WaitsForBackPressure Waiting = "back_pressure"
	// WaitsForRetryAfter: the receiver has asked for patience with this timer.
	WaitsForRetryAfter Waiting = "retry_after"
	// WaitsForLimit: the callbacks_per_second of the type are used up.
	WaitsForLimit Waiting = "limit"
	// WaitsForInFlight: as many attempts are under way as the policy lets.
	WaitsForInFlight Waiting = "in_flight"
	// WaitsForPolicy: nobody says whom to call, or the policy cannot be read.
	WaitsForPolicy Waiting = "policy"
	// WaitsForReceiver: no receiver of the type is connected that has room.
	WaitsForReceiver Waiting = "receiver"
	// WaitsForAck: the receiver has accepted it, and is to say what became of it.
	WaitsForAck Waiting = "ack"
	// WaitsForTurn: for a place at a worker; other work has those that its type may have.
	WaitsForTurn Waiting = "turn"
	// WaitsForWorker: no worker has taken it.
	WaitsForWorker Waiting = "worker"
)

// Waitings lists everything that is waited for.
func Waitings() []Waiting {
	return []Waiting{
		WaitsForEmergency, WaitsForPause, WaitsForBackPressure, WaitsForRetryAfter, WaitsForLimit, WaitsForInFlight,
		WaitsForPolicy, WaitsForReceiver, WaitsForAck, WaitsForTurn, WaitsForWorker,
	}
}

// Who makes an attempt wait, where it is nobody who has a name.
const (
	heldByReceiver = "receiver"
	heldByPolicy   = "policy"
)

// Wait is what an attempt waits for that could else be made, or that was accepted.
type Wait struct {
	WaitsFor Waiting `json:"waits_for,omitzero"`
	// WaitsUntil is when that ends at the latest, as far as it is known; zero where nobody
	// can tell.
	WaitsUntil Instant `json:"waits_until,omitzero"`
	// WaitsSince is since when it holds, for the whole type where it does.
	WaitsSince Instant `json:"waits_since,omitzero"`
	// WaitsBy is who has it wait: the name of the caller who paused, receiver, or policy.
	WaitsBy string `json:"waits_by,omitzero"`
	// WaitsNote is what the caller who paused gave as the reason.
	WaitsNote string `json:"waits_note,omitzero"`
}

// Holds is what may hold back all attempts of a business type.
type Holds struct {
	// Emergency is nil where nobody has paused the callbacks.
	Emergency *Emergency
	// Policy has version 0 where there is none.
	Policy Policy
}

// Wait is what holds every attempt of the type back now.
func (h Holds) Wait(now time.Time) Wait {
	p := h.Policy
	switch until, held := p.HeldBack(now); {
	case h.Emergency != nil:
		e := *h.Emergency
		return Wait{WaitsFor: WaitsForEmergency, WaitsSince: e.Since, WaitsBy: e.Author, WaitsNote: e.Note}
	case p.Paused:
		return Wait{WaitsFor: WaitsForPause, WaitsSince: p.PausedAt, WaitsBy: p.PausedBy}
	case held:
		return Wait{WaitsFor: WaitsForBackPressure, WaitsUntil: until, WaitsSince: p.BackPressure.Since, WaitsBy: heldByReceiver}
	case p.Limits.CallbacksPerSecond != nil && *p.Limits.CallbacksPerSecond == 0:
		return Wait{WaitsFor: WaitsForLimit, WaitsBy: heldByPolicy}
	}
	return Wait{}
}

// DispatchRate is [Policy.DispatchRate], and 0 while somebody has paused the callbacks.
func (h Holds) DispatchRate(dispatch string, perSecond float64, now time.Time) float64 {
	if h.Emergency != nil {
		return 0
	}
	return h.Policy.DispatchRate(dispatch, perSecond, now)
}

// Standby is an attempt that has not begun.
type Standby struct {
	// NotBefore is when it may be made, if nothing holds it.
	NotBefore Instant
	// Cause is why the last try called nobody, or why it is longer than a step of the
	// ladder until the next attempt.
	Cause Waiting
}

// Queue is what is known of the queue on which an attempt waits.
type Queue struct {
	// Backlog is about how many wait on it.
	Backlog int
	// Polled is whether anybody has asked for what is on it of late.
	Polled bool
}

// slides is whether NotBefore is put off again and again while the cause lasts.
func (s Standby) slides(h Holds) bool {
	switch s.Cause {
	case WaitsForInFlight:
		return true
	case WaitsForPolicy:
		return !h.Policy.Callback.Addressed()
	default:
		return false
	}
}

// WaitOf is what an attempt waits for, and when it is made: zero where nobody can tell.
// queue is asked only for an attempt that is due.
func (h Holds) WaitOf(s Standby, now time.Time, queue func() Queue) (wait Wait, next Instant) {
	wait = h.Wait(now)
	switch {
	case wait.WaitsUntil != 0:
		return wait, max(wait.WaitsUntil, s.NotBefore)
	case wait.WaitsFor != "":
		return wait, 0
	case s.slides(h):
		return Wait{WaitsFor: s.Cause, WaitsBy: heldByPolicy}, 0
	case s.NotBefore.Until(now) > 0:
		if s.Cause == WaitsForRetryAfter {
			wait = Wait{WaitsFor: s.Cause, WaitsUntil: s.NotBefore, WaitsBy: heldByReceiver}
		}
		return wait, s.NotBefore
	}
	if wait = h.queued(queue(), now); wait.WaitsFor != "" {
		return wait, 0
	}
	return wait, s.NotBefore
}

// queued is what an attempt waits for that is due and lies on its queue.
func (h Holds) queued(q Queue, now time.Time) Wait {
	rate := h.Policy.Limits.CallbacksPerSecond
	switch stream := h.Policy.Callback.Stream; {
	case stream && (rate == nil || !q.Polled):
		return Wait{WaitsFor: WaitsForReceiver, WaitsBy: heldByReceiver}
	case !q.Polled:
		return Wait{WaitsFor: WaitsForWorker}
	case rate != nil:
		return Wait{WaitsFor: WaitsForLimit, WaitsBy: heldByPolicy, WaitsUntil: At(now.Add(takes(float64(max(q.Backlog, 1)), *rate)))}
	case q.Backlog > 0:
		return Wait{WaitsFor: WaitsForInFlight, WaitsBy: heldByPolicy}
	}
	return Wait{}
}
