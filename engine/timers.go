package engine

import (
	"sync/atomic"
	"time"

	"github.com/wakecall/wakecall/internal/burst"
	"github.com/wakecall/wakecall/internal/limiter"
	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/timer"
)

// Timers books timers, changes and cancels them, and shows them.
type Timers struct {
	*kernel
	policies *Policies
	reach    timer.Reach
	limiter  Limiter
	open     openCounts
	bursts   *burst.Counter
	bookings *limiter.Limiter
	// preloader is a worker on the same connection; nil for none.
	preloader atomic.Pointer[Preloader]
}

func newTimers(policies *Policies, quotas Limiter) *Timers {
	return &Timers{
		kernel: policies.kernel, policies: policies, reach: policies.reach, limiter: quotas,
		bursts: burst.New(), bookings: limiter.New(tuning.LeastBookings, tuning.BookingSlowdown),
	}
}

// Target is the timer that a change is made to.
type Target struct {
	Key timer.Key
	// IfMatch, when set, is the [timer.Memo.Tag] that the change is made on. On
	// anything else it is [timer.PreconditionFailed] with the timer's true state.
	IfMatch string
	// Wait is how long the caller waits for the effect, at most.
	Wait time.Duration
}
