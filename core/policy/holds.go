package policy

import (
	"time"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/wire"
)

// Holds is what may hold back all attempts of a business type.
type Holds struct {
	// Emergency is nil where nobody has paused the callbacks.
	Emergency *Emergency
	// Policy has version 0 where there is none.
	Policy Policy
}

// Wait is what holds every attempt of the type back now.
func (h Holds) Wait(now time.Time) delivery.Wait {
	p := h.Policy
	switch until, held := p.HeldBack(now); {
	case h.Emergency != nil:
		e := *h.Emergency
		return delivery.Wait{WaitsFor: delivery.WaitsForEmergency, WaitsSince: e.Since, WaitsBy: e.Author, WaitsNote: e.Note}
	case p.Paused:
		return delivery.Wait{WaitsFor: delivery.WaitsForPause, WaitsSince: p.PausedAt, WaitsBy: p.PausedBy}
	case held:
		return delivery.Wait{WaitsFor: delivery.WaitsForBackPressure, WaitsUntil: until, WaitsSince: p.BackPressure.Since, WaitsBy: delivery.HeldByReceiver}
	case p.Limits.CallbacksPerSecond != nil && *p.Limits.CallbacksPerSecond == 0:
		return delivery.Wait{WaitsFor: delivery.WaitsForLimit, WaitsBy: delivery.HeldByPolicy}
	}
	return delivery.Wait{}
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
	NotBefore wire.Instant
	// Cause is why the last try called nobody, or why it is longer than a step of the
	// ladder until the next attempt.
	Cause delivery.Waiting
}

// Queue is what is known of the queue on which an attempt waits.
type Queue struct {
	// Backlog is about how many wait on it.
	Backlog int
	// Polled reports whether anybody has asked for what is on it of late.
	Polled bool
}

// slides reports whether NotBefore is put off again and again while the cause lasts.
func (s Standby) slides(h Holds) bool {
	switch s.Cause {
	case delivery.WaitsForInFlight:
		return true
	case delivery.WaitsForPolicy:
		return !h.Policy.Callback.Addressed()
	default:
		return false
	}
}

// WaitOf is what an attempt waits for, and when it is made: zero where nobody can tell.
// queue is asked only for an attempt that is due.
func (h Holds) WaitOf(s Standby, now time.Time, queue func() Queue) (wait delivery.Wait, next wire.Instant) {
	wait = h.Wait(now)
	switch {
	case wait.WaitsUntil != 0:
		return wait, max(wait.WaitsUntil, s.NotBefore)
	case wait.WaitsFor != "":
		return wait, 0
	case s.slides(h):
		return delivery.Wait{WaitsFor: s.Cause, WaitsBy: delivery.HeldByPolicy}, 0
	case s.NotBefore.Until(now) > 0:
		if s.Cause == delivery.WaitsForRetryAfter {
			wait = delivery.Wait{WaitsFor: s.Cause, WaitsUntil: s.NotBefore, WaitsBy: delivery.HeldByReceiver}
		}
		return wait, s.NotBefore
	}
	if wait = h.queued(queue(), now); wait.WaitsFor != "" {
		return wait, 0
	}
	return wait, s.NotBefore
}

// queued is what an attempt waits for that is due and lies on its queue.
func (h Holds) queued(q Queue, now time.Time) delivery.Wait {
	rate := h.Policy.Limits.CallbacksPerSecond
	switch stream := h.Policy.Callback.Stream; {
	case stream && (rate == nil || !q.Polled):
		return delivery.Wait{WaitsFor: delivery.WaitsForReceiver, WaitsBy: delivery.HeldByReceiver}
	case !q.Polled:
		return delivery.Wait{WaitsFor: delivery.WaitsForWorker}
	case rate != nil:
		return delivery.Wait{WaitsFor: delivery.WaitsForLimit, WaitsBy: delivery.HeldByPolicy, WaitsUntil: wire.At(now.Add(wire.Estimate(float64(max(q.Backlog, 1)), *rate)))}
	case q.Backlog > 0:
		return delivery.Wait{WaitsFor: delivery.WaitsForInFlight, WaitsBy: delivery.HeldByPolicy}
	}
	return delivery.Wait{}
}
