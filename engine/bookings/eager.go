package bookings

import (
	"context"
	"time"

	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/workflows"
)

// Preloader is a worker on the same connection to Temporal.
type Preloader interface {
	// Room reports whether the worker may preload one more timer at once, given Temporal's
	// bookings per second.
	Room(memo timer.Memo, perSecond float64) bool
}

// PreloadHere makes bookings hand a timer that is due soon to a worker of this process: the
// first task comes back in the answer to the start, in the write that creates the run. It
// must be called before the first booking.
func (a *Adder) PreloadHere(worker Preloader) { a.starter.preloader.Store(&worker) }

// eagerly prepares a booking for preloading by a worker of this process, if there is one
// with room. A timer whose attempts Temporal paces is not preloaded. The later occurrences
// of a recurring timer come the usual way.
func (s *starter) eagerly(ctx context.Context, spec timer.Spec) timer.Spec {
	worker := s.preloader.Load()
	if worker == nil || spec.Series != nil || spec.Resting() {
		return spec
	}
	now := time.Now()
	policy, err := s.policies.Cached(ctx, spec.BusinessType)
	if err == nil && policy.Rate(now) != nil || err != nil && wire.CodeOf(err) != wire.NotFound {
		return spec
	}
	eager := spec
	preload, ok := spec.Preload.Eager(spec.RingsAt().Until(now))
	eager.Preload, eager.Eager = preload, true
	if !ok || !(*worker).Room(eager.Memo, s.concurrency.Rate()) {
		return spec
	}
	return eager
}

// startDelay is Temporal's start delay for a timer that is booked now.
func startDelay(spec timer.Spec) time.Duration {
	if spec.Eager {
		return 0 // exactly 0: Temporal starts nothing eagerly that has a delay
	}
	return workflows.StartDelay(spec.Memo, time.Now())
}

// detached returns the context of a call whose answer brings a task. It outlives the caller,
// because no other worker gets the task before it times out.
func detached(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), tuning.CallTimeout)
}
