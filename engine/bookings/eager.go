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
	// Room reports whether the worker may preload one more timer at once, where Temporal
	// takes so many bookings in a second.
	Room(memo timer.Memo, perSecond float64) bool
}

// PreloadHere makes bookings hand what is due soon to a worker of this process as it
// is booked: the first task of such a timer comes back in the answer to its start, in the
// write that creates its run. It must be called before the first booking.
func (a *Adder) PreloadHere(worker Preloader) { a.starter.preloader.Store(&worker) }

// eagerly is a booking that a worker of this process preloads at once, where one is
// there and has room. A timer whose attempts Temporal paces is not preloaded at all, and
// the next occurrences of a recurring one come the usual way.
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
	if !ok || !(*worker).Room(eager.Memo, s.bookings.Rate()) {
		return spec
	}
	return eager
}

// startDelay is how long Temporal keeps a timer that is booked now.
func startDelay(spec timer.Spec) time.Duration {
	if spec.Eager {
		return 0 // exactly: Temporal starts nothing eagerly that has a delay
	}
	return workflows.StartDelay(spec.Memo, time.Now())
}

// detached is for a call whose answer brings a task: it is waited for, whether the caller
// still listens or not. Nobody else is given the task before it times out.
func detached(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), tuning.CallTimeout)
}
