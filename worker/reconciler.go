package worker

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/wakecall/wakecall/timer"
)

// Engine finds timers that should have rung, and raises alerts.
type Engine interface {
	ReconcileWaiting(ctx context.Context, slack time.Duration) (timer.Reconciliation, error)
	ReconcileRetrying(ctx context.Context, slack time.Duration) (timer.Reconciliation, error)
	Alert(ctx context.Context, event timer.Event, occasion string) error
}

// reconciler wakes overdue timers at an interval. It runs in each worker
// process and not as a workflow: what it makes good for are lost timers, and
// its own must not be among them.
type reconciler struct {
	engine   Engine
	observer Observer
	logger   *slog.Logger
	// interval is the time between two rounds, and how late a timer must be.
	interval time.Duration

	stop    context.CancelFunc
	stopped sync.WaitGroup
}

func newReconciler(o Options) *reconciler {
	return &reconciler{engine: o.Engine, observer: o.Observer, logger: o.Logger, interval: o.ReconcileInterval}
}

// start begins the rounds, the first at a moment of its own, so that many
// workers take turns. An interval of zero means none.
func (r *reconciler) start() {
	ctx, cancel := context.WithCancel(context.Background())
	r.stop = cancel
	if r.interval <= 0 {
		return
	}
	for _, look := range []look{r.engine.ReconcileWaiting, r.engine.ReconcileRetrying} {
		r.stopped.Go(func() { r.repeat(ctx, look) })
	}
}

// look is one round over the timers in one state.
type look func(ctx context.Context, slack time.Duration) (timer.Reconciliation, error)

// repeat makes rounds, an interval after one another, until ctx is done.
func (r *reconciler) repeat(ctx context.Context, look look) {
	next := time.NewTimer(rand.N(r.interval))
	defer next.Stop()
	for {
		select {
		case <-next.C:
			r.round(ctx, look)
			next.Reset(r.interval)
		case <-ctx.Done():
			return
		}
	}
}

func (r *reconciler) close() {
	r.stop()
	r.stopped.Wait()
}

func (r *reconciler) round(ctx context.Context, look look) {
	found, err := look(ctx, r.interval)
	if err != nil && ctx.Err() == nil {
		r.logger.Warn("looking for overdue timers", "error", err)
	}
	r.tellPassed(found.Passed)
	now := time.Now()
	for businessType, n := range found.Woken {
		r.observer.Woken(businessType, n)
		r.logger.Error("timers were overdue with nothing under way, and were woken", "business_type", businessType, "timers", n)
		event := timer.Event{Type: timer.EventOverdue, At: timer.At(now), Data: timer.EventData{BusinessType: businessType, Overdue: n}}
		if err := r.engine.Alert(ctx, event, timer.At(now.Truncate(r.interval)).String()); err != nil {
			r.logger.Warn("an alert was not raised", "business_type", businessType, "error", err)
		}
	}
}

// maxPassedLogged is how many timers are named that one round passed over.
const maxPassedLogged = 10

func (r *reconciler) tellPassed(passed map[string]error) {
	if len(passed) == 0 {
		return
	}
	r.observer.PassedOver(len(passed))
	logged := 0
	for key, err := range passed {
		r.logger.Warn("an overdue timer could not be looked at", "timer", key, "error", err)
		if logged++; logged == maxPassedLogged {
			break
		}
	}
}
