package timer

import (
	"math"
	"time"
)

// Limits bound what one business type may use. A nil rate is no limit.
type Limits struct {
	// AddsPerSecond bounds bookings, AddsBurst how many may come at once.
	AddsPerSecond *float64 `json:"adds_per_second,omitempty"`
	AddsBurst     int      `json:"adds_burst,omitzero"`
	// CallbacksPerSecond bounds attempts of all workers together, retries
	// included. Fractions are fine; 0 holds every callback back.
	CallbacksPerSecond *float64 `json:"callbacks_per_second,omitempty"`
	// InFlight bounds the attempts under way at once in one worker.
	InFlight int `json:"in_flight,omitzero"`
	// Pending bounds the open timers; 0 admits none.
	Pending *int `json:"pending,omitempty"`
}

func (l Limits) withDefaults() Limits {
	if l.InFlight == 0 {
		l.InFlight = DefaultInFlight
	}
	if l.AddsPerSecond != nil && l.AddsBurst == 0 {
		l.AddsBurst = max(1, int(math.Ceil(*l.AddsPerSecond)))
	}
	return l
}

func (l Limits) check() (errs FieldErrors) {
	enforceGiven(&errs, fieldAddsPerSecond, l.AddsPerSecond)
	enforceNonZero(&errs, fieldAddsBurst, l.AddsBurst)
	if l.AddsBurst != 0 && l.AddsPerSecond == nil {
		errs.Add("/adds_burst", CodeConflict, "goes with adds_per_second")
	}
	enforceGiven(&errs, fieldCallbacksPerSecond, l.CallbacksPerSecond)
	enforceNonZero(&errs, fieldInFlight, l.InFlight)
	enforceGiven(&errs, fieldPending, l.Pending)
	return errs
}

// Rate is how many callbacks a second may leave now, nil for no limit. A pause
// and back-pressure make it 0.
func (p Policy) Rate(now time.Time) *float64 {
	if _, held := p.HeldBack(now); held || p.Paused {
		none := 0.0
		return &none
	}
	return p.Limits.CallbacksPerSecond
}

// QueueRate is the rate that the queue of a business type shall have, in
// callbacks per second of all workers together; nil for no limit.
type QueueRate struct {
	BusinessType string   `json:"business_type"`
	Rate         *float64 `json:"rate,omitempty"`
}

// FastShare is the part of InFlight that the fast path may take, and QueueShare the
// part of the queue. Each is at least one: where InFlight is one, both paths share it, and
// whoever comes second waits.
func (l Limits) FastShare() int { return max(l.InFlight/2, 1) }

// QueueShare is described with [Limits.FastShare].
func (l Limits) QueueShare() int { return max(l.InFlight-l.InFlight/2, 1) }

// Weight is the weight of a priority among timers that wait for a worker: each
// priority has twice that of the next lower one. The lowest still has its share: it is
// late under load, and never stuck.
func Weight(priority int) float32 { return float32(int(1) << (MaxPriority - priority)) }

// Quota is a limit that a request ran into.
type Quota struct {
	// Name is the limit's, as the policy calls it.
	Name string
	// Limit requests may come within Window; Window is zero for a stock such
	// as the open timers.
	Limit  int
	Window time.Duration
	// RetryAfter is when it is worth another try.
	RetryAfter time.Duration
}
