package workflows

import (
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/internal/tuning"
)

// awaitExpiry wakes the workflow at its latest time, as far as that is known.
func (d *deliveryRun) awaitExpiry() {
	if d.expiry == nil && d.last.Latest != 0 && !d.expired {
		d.startExpiry(d.last.Latest.Until(workflow.Now(d.ctx)))
	}
}

func (d *deliveryRun) startExpiry(wait time.Duration) {
	d.expiry = workflow.NewTimerWithOptions(d.ctx, max(wait, 0), workflow.TimerOptions{Summary: "the latest time"})
}

// queryRunState queries how the delivery stands, since the policy may have changed its
// latest time.
func (d *deliveryRun) queryRunState() {
	if d.runState != nil {
		return
	}
	ctx := workflow.WithLocalActivityOptions(d.ctx, workflow.LocalActivityOptions{
		StartToCloseTimeout: tuning.QuestionTimeout, RetryPolicy: &temporal.RetryPolicy{MaximumAttempts: 2},
	})
	d.runState = workflow.ExecuteLocalActivity(ctx, ActivityRunState, d.spec)
}

// applyRunState applies the answer to the query. Without an answer it gives nothing up and
// queries again, at growing intervals.
func (d *deliveryRun) applyRunState(answer workflow.Future) {
	d.runState = nil
	var state timer.RunState
	err := answer.Get(d.ctx, &state)
	if err == nil && state.Last != nil {
		d.last = *state.Last
	}
	if len(d.pending) > 0 {
		d.cancelAttempts()
		return
	}
	if err != nil {
		if d.ctx.Err() == nil && d.expiry == nil {
			d.startExpiry(min(tuning.AskAgain<<min(d.failedQueries, 10), tuning.AskAgainLongest))
			d.failedQueries++
		}
		return
	}
	d.failedQueries = 0
	d.last.Latest, d.last.PolicyVersion = state.Latest, state.PolicyVersion
	switch left := state.Latest.Until(workflow.Now(d.ctx)); {
	case state.Latest != 0 && left <= 0:
		d.expired = true
		d.cancelAttempts()
	case d.stalled:
		d.resumed = true
		d.cancelAttempts()
	}
	d.stalled = false
	d.awaitExpiry()
}
