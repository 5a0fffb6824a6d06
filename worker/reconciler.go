package worker

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/tuning"
)

// Reconciler wakes overdue timers without a delivery in progress. Waiting covers timers that
// wait for their first attempt, and Retrying those that wait for a retry.
type Reconciler interface {
	Waiting(ctx context.Context, slack time.Duration) (timer.Reconciliation, error)
	Retrying(ctx context.Context, slack time.Duration) (timer.Reconciliation, error)
}

// Alerts raises an event once for each occasion.
type Alerts interface {
	Raise(ctx context.Context, event timer.Event, occasion string) error
}

// reconciler wakes overdue timers at an interval. It runs in each worker process and not as a
// workflow, because it repairs lost timers and must not depend on them.
type reconciler struct {
	overdue  Reconciler
	alerts   Alerts
	observer Observer
	logger   *slog.Logger
	// interval is the time between two rounds, and the least lateness of a timer.
	interval time.Duration

	stop    context.CancelFunc
	stopped sync.WaitGroup
}

func newReconciler(o Options) *reconciler {
	return &reconciler{
		overdue: o.Reconciler, alerts: o.Alerts, observer: o.Observer, logger: o.Logger, interval: o.Intervals.Reconcile,
	}
}

// start begins the rounds, the first at a random moment, so that many workers take turns. An
// interval of zero means none.
func (r *reconciler) start() {
	ctx, cancel := context.WithCancel(context.Background())
	r.stop = cancel
	if r.interval <= 0 {
		return
	}
	for _, search := range []search{r.overdue.Waiting, r.overdue.Retrying} {
		r.stopped.Go(func() { r.repeat(ctx, search) })
	}
}

// search is one round over the timers in one state.
type search func(ctx context.Context, slack time.Duration) (timer.Reconciliation, error)

// repeat makes rounds at the interval, until ctx is done.
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
	r.logUnreadable(found.Passed)
	now := time.Now()
	for businessType, n := range found.Woken {
		r.observer.Overdue(businessType, n)
		r.logger.Error("overdue timers had no attempt under way, and were woken", "business_type", businessType, "timers", n)
		event := timer.Event{Type: timer.EventOverdue, At: wire.At(now), Data: timer.EventData{BusinessType: businessType, Overdue: n}}
		if err := r.alerts.Raise(ctx, event, wire.At(now.Truncate(r.interval)).String()); err != nil {
			r.logger.Warn("an alert was not raised", "business_type", businessType, "error", err)
		}
	}
}

func (r *reconciler) logUnreadable(unreadable map[string]error) {
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
