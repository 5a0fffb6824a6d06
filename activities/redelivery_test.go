package activities_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/testsuite"

	"github.com/wakecall/wakecall/activities"
	"github.com/wakecall/wakecall/core/job"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
)

// failures are failed timers, a page of one each, whose run is named after its id.
type failures struct {
	ids    []string
	filter job.FailedFilter
	tried  []string
}

func (f *failures) CountFailed(_ context.Context, filter job.FailedFilter) (int, error) {
	f.filter = filter
	return len(f.ids), nil
}

func (f *failures) ListFailed(_ context.Context, filter job.FailedFilter, token []byte) (page []timer.View, next []byte, err error) {
	f.filter = filter
	at := len(token)
	if at+1 < len(f.ids) {
		next = make([]byte, at+1)
	}
	return []timer.View{{Key: wire.Key{BusinessType: "x", BusinessID: f.ids[at]}, RunID: "run-" + f.ids[at]}}, next, nil
}

func (f *failures) RedeliverRun(_ context.Context, key wire.Key, runID string) error {
	f.tried = append(f.tried, key.String()+" "+runID)
	if key.BusinessID == "b" {
		return &wire.Error{Code: wire.Overtaken}
	}
	return nil
}

// A redelivery is a job whose items are the failed runs that its filter selects.
func TestRedeliver(t *testing.T) {
	t.Parallel()
	order := job.Redelivery{Filter: job.FailedFilter{BusinessType: "x", EndedTo: 9}, PerSecond: job.MaxRedeliveryRate}
	f := &failures{ids: []string{"a", "b", "c"}}
	controller := &activities.Controller{Failures: f}
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestActivityEnvironment()
	env.RegisterActivity(controller.Redeliver)
	value, err := env.ExecuteActivity(controller.Redeliver, order)
	require.NoError(t, err)
	var done job.Redelivered
	require.NoError(t, value.Get(&done))
	three := 3
	require.Equal(t, job.Redelivered{Found: &three, Done: 2, Skipped: 1}, done)
	require.Equal(t, []string{"x/a run-a", "x/b run-b", "x/c run-c"}, f.tried)
	require.Equal(t, order.Filter, f.filter)

	env.SetHeartbeatDetails(job.RedeliveryProgress{Redelivered: done, Position: job.Position{Page: make([]byte, 2), After: "run-c"}})
	again, err := env.ExecuteActivity(controller.Redeliver, order)
	require.NoError(t, err)
	require.NoError(t, again.Get(&done))
	require.Len(t, f.tried, 3, "it goes on behind the run that was dealt with last")
}
