package worker

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/timer"
)

// Engine finds timers whose delivery should have begun, and raises alerts.
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
	for _, search := range []search{r.engine.ReconcileWaiting, r.engine.ReconcileRetrying} {
		r.stopped.Go(func() { r.repeat(ctx, search) })
	}
}

// search is one round over the timers in one state.
type search func(ctx context.Context, slack time.Duration) (timer.Reconciliation, error)

// repeat makes rounds, an interval after one another, until ctx is done.
func (r *reconciler) repeat(ctx context.Context, search search) {
	next := time.NewTimer(rand.N(r.interval))
	defer next.Stop()
	for {
		select {
		case <-next.C:
			r.round(ctx, search)
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

func (r *reconciler) round(ctx context.Context, search search) {
	found, err := search(ctx, r.interval)
	if err != nil && ctx.Err() == nil {
		r.logger.Warn("overdue timers could not be searched for", "error", err)
	}
	r.tellUnreadable(found.Passed)
	now := time.Now()
	for businessType, n := range found.Woken {
		r.observer.Overdue(businessType, n)
		r.logger.Error("timers were overdue with nothing under way, and were woken", "business_type", businessType, "timers", n)
		event := timer.Event{Type: timer.EventOverdue, At: timer.At(now), Data: timer.EventData{BusinessType: businessType, Overdue: n}}
		if err := r.engine.Alert(ctx, event, timer.At(now.Truncate(r.interval)).String()); err != nil {
			r.logger.Warn("an alert was not raised", "business_type", businessType, "error", err)
		}
	}
}

func (r *reconciler) tellUnreadable(unreadable map[string]error) {
	if len(unreadable) == 0 {
		return
	}
	r.observer.Unreadable(len(unreadable))
	logged := 0
	for key, err := range unreadable {
		r.logger.Warn("an overdue timer could not be read", "timer", key, "error", err)
		if logged++; logged == tuning.UnreadableLogged {
			break
		}
	}
}
