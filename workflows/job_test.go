package workflows_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"github.com/wakecall/wakecall/timer"
	"github.com/wakecall/wakecall/workflows"
)

// How a job ends: its counts are its result, also when it is stopped.
func TestAJobEnds(t *testing.T) {
	t.Parallel()
	order := timer.Redelivery{Filter: timer.FailedFilter{BusinessType: "x"}, PerSecond: 5}
	seven := 7
	counts := timer.Redelivered{Found: &seven, Done: 3, Skipped: 1}
	for name, c := range map[string]struct {
		work     func(try int32) (timer.Redelivered, error)
		cancel   time.Duration
		tries    int
		canceled bool
		counts   timer.Redelivered
	}{
		"done": {
			work:  func(int32) (timer.Redelivered, error) { return counts, nil },
			tries: 1, counts: counts,
		},
		"done after its workers had left": {
			work: func(try int32) (timer.Redelivered, error) {
				if try < 9 { // the test environment makes ten at most
					return timer.Redelivered{}, errors.New("Temporal does not answer")
				}
				return counts, nil
			},
			tries: 9, counts: counts,
		},
		"stopped": {
			work:  func(int32) (timer.Redelivered, error) { return counts, temporal.NewCanceledError(counts) },
			tries: 1, canceled: true, counts: counts,
		},
		"stopped while no worker had it": {
			work:   func(int32) (timer.Redelivered, error) { return timer.Redelivered{}, activity.ErrResultPending },
			cancel: time.Hour, tries: 1, canceled: true,
		},
		"stopped, and told so in words that are no counts": {
			work: func(int32) (timer.Redelivered, error) {
				return counts, temporal.NewCanceledError("ACTIVITY_ID_NOT_STARTED")
			},
			tries: 1, canceled: true,
		},
		"failed": {
			work: func(int32) (timer.Redelivered, error) {
				return counts, temporal.NewNonRetryableApplicationError("cannot go on", "", nil)
			},
			tries: 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := newEnvironment()
			tries := 0
			env.RegisterActivityWithOptions(func(ctx context.Context, got timer.Redelivery) (timer.Redelivered, error) {
				info := activity.GetInfo(ctx)
				require.Equal(t, order, got)
				require.Equal(t, workflows.JobQueue, info.TaskQueue)
				require.Equal(t, 30*time.Second, info.HeartbeatTimeout, "a worker that is silent is replaced")
				require.Equal(t, 24*time.Hour, info.Deadline.Sub(info.StartedTime).Round(time.Hour))
				tries++
				return c.work(info.Attempt)
			}, activity.RegisterOptions{Name: workflows.ActivityRedeliver})
			if c.cancel > 0 {
				env.RegisterDelayedCallback(env.CancelWorkflow, c.cancel)
			}
			env.ExecuteWorkflow(workflows.TypeRedelivery, order)
			err := env.GetWorkflowError()
			require.Equal(t, c.tries, tries)
			var done timer.Redelivered
			stopped, canceled := errors.AsType[*temporal.CanceledError](err)
			require.Equal(t, c.canceled, canceled, "%v", err)
			switch {
			case canceled:
				require.Equal(t, c.counts.Found != nil, stopped.HasDetails())
				if stopped.HasDetails() {
					require.NoError(t, stopped.Details(&done))
				}
			case name == "failed":
				require.ErrorContains(t, err, "cannot go on")
			default:
				require.NoError(t, err)
				require.NoError(t, env.GetWorkflowResult(&done))
			}
			require.Equal(t, c.counts, done)
		})
	}
}
