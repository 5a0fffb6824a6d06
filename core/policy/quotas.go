package policy

import (
	"math"
	"time"

	"github.com/wakecall/wakecall/core/wire"
)

// Limits bound what one business type may use. A nil rate is no limit.
type Limits struct {
	// AddsPerSecond bounds bookings, and AddsBurst how many may come at once.
	AddsPerSecond *float64 `json:"adds_per_second,omitempty"`
	AddsBurst     int      `json:"adds_burst,omitzero"`
	// CallbacksPerSecond bounds attempts of all workers together, including retries. It may be a
	// fraction; 0 holds back every callback.
	CallbacksPerSecond *float64 `json:"callbacks_per_second,omitempty"`
	// InFlight bounds the attempts that run at once in one worker.
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

func (l Limits) check() (errs wire.FieldErrors) {
	wire.EnforceGiven(&errs, fieldAddsPerSecond, l.AddsPerSecond)
	wire.EnforceNonZero(&errs, fieldAddsBurst, l.AddsBurst)
	if l.AddsBurst != 0 && l.AddsPerSecond == nil {
		errs.AddBeside("/adds_burst", wire.CodeConflict, "is allowed only with adds_per_second", "/adds_per_second")
	}
	wire.EnforceGiven(&errs, fieldCallbacksPerSecond, l.CallbacksPerSecond)
	wire.EnforceNonZero(&errs, fieldInFlight, l.InFlight)
	wire.EnforceGiven(&errs, fieldPending, l.Pending)
	return errs
}

// Rate returns how many callbacks a second may leave now, nil for no limit. A pause and
// back-pressure make it 0.
func (p Policy) Rate(now time.Time) *float64 {
	if _, held := p.HeldBack(now); held || p.Paused {
		none := 0.0
		return &none
	}
	return p.Limits.CallbacksPerSecond
}

// QueueRate is the rate to set on the queue of a business type, in callbacks per second of all
// workers together; nil for no limit.
type QueueRate struct {
	BusinessType string   `json:"business_type"`
	Rate         *float64 `json:"rate,omitempty"`
}

// FastShare returns the part of InFlight for the fast path, and QueueShare the part for the
// queue. Each is at least one. If InFlight is one, both paths share it, and the later attempt
// waits.
func (l Limits) FastShare() int { return max(l.InFlight/2, 1) }

// QueueShare is described with [Limits.FastShare].
func (l Limits) QueueShare() int { return max(l.InFlight-l.InFlight/2, 1) }
