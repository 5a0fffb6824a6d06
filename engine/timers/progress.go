package timers

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/internal/tuning"
)

// showProgress adds to listed timers what a list lacks: the attempts, the last failure, and
// the end. It reads each timer in the run that was listed.
func (r *Reader) showProgress(ctx context.Context, views []timer.View) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(tuning.ProgressWidth)
	for i := range views {
		if tells(views[i]) {
			group.Go(func() error { return r.progress(ctx, &views[i]) })
		}
	}
	return group.Wait()
}

// tells reports whether a timer has more to show than a list knows.
func tells(view timer.View) bool {
	switch view.Status {
	case timer.Scheduled:
		return view.Memo.RingsAt().Until(time.Now()) < 0
	case timer.Paused:
		return false
	default:
		return true
	}
}

// progress adds it to one timer. A timer that Temporal has deleted stays unchanged.
func (r *Reader) progress(ctx context.Context, view *timer.View) (err error) {
	ctx, cancel := kernel.Bounded(ctx)
	defer cancel()
	if !view.Status.Finished() {
		described, describeErr := r.kernel.Describe(ctx, view.String(), view.RunID)
		if err = describeErr; err == nil && kernel.Running(described.GetWorkflowExecutionInfo()) {
			r.showOpen(ctx, view, described)
		}
	} else {
		err = r.showClosed(ctx, view)
	}
	if wire.CodeOf(err) == wire.NotFound {
		return nil
	}
	return err
}
