package worker

import (
	"context"
	"log/slog"
	"sync"

	"github.com/wakecall/wakecall/internal/tuning"
)

// Failover gives this process's signs of life, and frees what dead workers held.
type Failover interface {
	// Begin gives the first sign, before the first task. Run gives the others, and watches
	// those of other workers, until ctx is done.
	Begin(ctx context.Context) error
	Run(ctx context.Context)
	// Stop says with every sign that this process stops, and End removes the last one.
	Stop()
	End(ctx context.Context) error
}

// lifeline runs the failover for as long as this process has tasks.
type lifeline struct {
	failover Failover
	logger   *slog.Logger

	stop    context.CancelFunc
	stopped sync.WaitGroup
}

// start gives the first sign. If that fails, Temporal cannot be reached or keeps no signs. The
// timers of a worker that dies then wait for their timeouts.
func (l *lifeline) start() {
	ctx, cancel := context.WithCancel(context.Background())
	l.stop = cancel
	if err := l.failover.Begin(ctx); err != nil {
		l.logger.Warn("no sign of life could be given", "error", err)
	}
	l.stopped.Go(func() { l.failover.Run(ctx) })
}

// close ends it once nothing is under way here any more.
func (l *lifeline) close() {
	l.stop()
	l.stopped.Wait()
	ctx, cancel := context.WithTimeout(context.Background(), tuning.SignTimeout)
	defer cancel()
	if err := l.failover.End(ctx); err != nil {
		l.logger.Warn("the last sign of life could not be removed", "error", err)
	}
}
