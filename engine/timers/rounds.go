package timers

import (
	"context"
	"slices"

	workflowpb "go.temporal.io/api/workflow/v1"

	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/engine/query"
	"github.com/wakecall/wakecall/engine/visibility"
	"github.com/wakecall/wakecall/internal/tuning"
)

// withoutRedelivered leaves out each failed run whose timer was retried: the run of the
// retry stands for the timer. It asks visibility only if a run has failed.
func (l *Lister) withoutRedelivered(ctx context.Context, views []timer.View) ([]timer.View, error) {
	var failed []string
	for _, view := range views {
		if view.Status == timer.Failed {
			failed = append(failed, view.String())
		}
	}
	latest, err := l.latestRounds(ctx, failed)
	return slices.DeleteFunc(views, func(view timer.View) bool {
		return view.Status == timer.Failed && view.Round < latest[view.Memo.Booking]
	}), err
}

// latestRounds returns the latest round of each booking of some workflows.
func (l *Lister) latestRounds(ctx context.Context, workflowIDs []string) (map[string]int, error) {
	latest := map[string]int{}
	for ids := range slices.Chunk(workflowIDs, tuning.IDsPerQuery) {
		runs := query.All(visibility.Timers(), query.WorkflowID.In(ids), query.NotStatus(visibility.Continued))
		err := l.kernel.EachPage(ctx, runs, func(page []*workflowpb.WorkflowExecutionInfo) error {
			for _, info := range page {
				if run, err := l.reader.View(ctx, info); err == nil {
					latest[run.Memo.Booking] = max(latest[run.Memo.Booking], run.Round)
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return latest, nil
}
