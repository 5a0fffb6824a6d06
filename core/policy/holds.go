package policy

import (
	"time"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/wire"
)

// Holds is everything that may hold back all attempts of a business type.
type Holds struct {
	// Emergency is nil if the callbacks are not paused.
	Emergency *Emergency
	// Policy has version 0 if the type has none.
	Policy Policy
	// EmergencyUnread and PolicyUnread report what could not be read.
	EmergencyUnread, PolicyUnread bool
}

// Wait returns the reason why every attempt of the type waits now: the gravest, if there are several.
func (h Holds) Wait(now time.Time) delivery.Wait {
	if all := h.all(now); len(all) > 0 {
		return all[0]
	}
	return delivery.Wait{}
}

// Others returns the further reasons why an attempt waits, apart from [Holds.Wait]. The attempt is
// made once all of them have ended.
func (h Holds) Others(s Standby, now time.Time) []delivery.Wait {
	all := h.all(now)
	if len(all) == 0 {
		return nil
	}
	if s.NotBefore.Until(now) > 0 && s.Cause == delivery.WaitsForRetryAfter {
		all = append(all, s.asked())
	}
	return all[1:]
}

// all returns every reason why the attempts of the type wait now, the gravest first.
func (h Holds) all(now time.Time) (all []delivery.Wait) {
	p := h.Policy
	if h.Emergency != nil {
		e := *h.Emergency
		all = append(all, delivery.Wait{WaitsFor: delivery.WaitsForEmergency, WaitsSince: e.Since, WaitsBy: e.Author, WaitsNote: e.Note})
	}
	if p.Paused {
		all = append(all, delivery.Wait{WaitsFor: delivery.WaitsForPause, WaitsSince: p.PausedAt, WaitsBy: p.PausedBy})
	}
	if until, held := p.HeldBack(now); held {
		all = append(all, delivery.Wait{WaitsFor: delivery.WaitsForBackPressure, WaitsUntil: until, WaitsSince: p.BackPressure.Since,
			WaitsBy: delivery.HeldByReceiver})
	}
	if p.Limits.CallbacksPerSecond != nil && *p.Limits.CallbacksPerSecond == 0 {
		all = append(all, delivery.Wait{WaitsFor: delivery.WaitsForLimit, WaitsBy: delivery.HeldByPolicy})
	}
	return all
}

// Rate is [Policy.Rate], and 0 during an emergency.
func (h Holds) Rate(now time.Time) *float64 {
	if h.Emergency != nil {
		return new(float64)
	}
	return h.Policy.Rate(now)
}

// DispatchRate is [Policy.DispatchRate], and 0 during an emergency.
func (h Holds) DispatchRate(dispatch string, perSecond float64, now time.Time) float64 {
	if h.Emergency != nil {
		return 0
	}
	return h.Policy.DispatchRate(dispatch, perSecond, now)
}

// Standby is an attempt that has not begun.
type Standby struct {
	// NotBefore is when it may begin, if nothing holds it.
	NotBefore wire.Instant
	// Cause is why the last try made no call, or why the wait is longer than a step of the
	// ladder.
	Cause delivery.Waiting
}

// After returns the standby of an attempt that no worker has tried yet. It waits for the ladder after
// the last attempt.
func (s Standby) After(last delivery.Report) Standby {
	if last.Result == delivery.ResultRetry {
		s.NotBefore, s.Cause = max(s.NotBefore, last.EndedAt.Add(last.RetryIn.D())), last.Waits
	}
	return s
}

// asked is the wait that the receiver asked of the attempt.
func (s Standby) asked() delivery.Wait {
	return delivery.Wait{WaitsFor: delivery.WaitsForRetryAfter, WaitsUntil: s.NotBefore, WaitsBy: delivery.HeldByReceiver}
}

// Queue describes the queue of a waiting attempt.
type Queue struct {
	// Backlog is the approximate number of waiting tasks.
	Backlog int
	// Polled reports whether a worker that lives has polled the queue recently, and LastPoll when any
	// worker last did; zero if unknown.
	Polled   bool
	LastPoll wire.Instant
	// Unread reports that the queue could not be read.
	Unread bool
}

// slides reports whether NotBefore moves on while the cause lasts.
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

// WaitOf returns the reason why an attempt waits, and when it is made: zero if unknown. It calls
// queue only for a due attempt.
func (h Holds) WaitOf(s Standby, now time.Time, queue func() Queue) (wait delivery.Wait, next wire.Instant) {
	wait = h.Wait(now)
	switch {
	case wait.WaitsUntil != 0 && len(h.all(now)) == 1:
		return wait, max(wait.WaitsUntil, s.NotBefore)
	case wait.WaitsFor != "":
		return wait, 0
	case s.slides(h):
		return delivery.Wait{WaitsFor: s.Cause, WaitsBy: delivery.HeldByPolicy}, 0
	case s.NotBefore.Until(now) > 0:
		if s.Cause == delivery.WaitsForRetryAfter {
			wait = s.asked()
		}
		return wait, s.NotBefore
	}
	if wait = h.queued(queue(), now); wait.WaitsFor != "" {
		return wait, 0
	}
	return wait, s.NotBefore
}

// queued returns the reason why a due attempt waits on its queue.
func (h Holds) queued(q Queue, now time.Time) delivery.Wait {
	rate := h.Policy.Limits.CallbacksPerSecond
	switch stream := h.Policy.Callback.Stream; {
	case q.Unread:
		return delivery.Wait{}
	case stream && (rate == nil || !q.Polled):
		return delivery.Wait{WaitsFor: delivery.WaitsForReceiver, WaitsBy: delivery.HeldByReceiver}
	case !q.Polled:
		return delivery.Wait{WaitsFor: delivery.WaitsForWorker}
	case rate != nil:
		return delivery.Wait{WaitsFor: delivery.WaitsForLimit, WaitsBy: delivery.HeldByPolicy,
			WaitsUntil: wire.At(now.Add(wire.Estimate(float64(max(q.Backlog, 1)), *rate)))}
	case q.Backlog > 0:
		return delivery.Wait{WaitsFor: delivery.WaitsForInFlight, WaitsBy: delivery.HeldByPolicy}
	}
	return delivery.Wait{}
}
