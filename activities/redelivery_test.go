package activities_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/testsuite"

	"github.com/wakecall/wakecall/activities"
	"github.com/wakecall/wakecall/timer"
)

// failures are failed timers, a page of one each, whose run is named after its id.
type failures struct {
	ids    []string
	filter timer.FailedFilter
	tried  []string
}

func (f *failures) CountFailed(_ context.Context, filter timer.FailedFilter) (int, error) {
	f.filter = filter
	return len(f.ids), nil
}

func (f *failures) ListFailed(_ context.Context, filter timer.FailedFilter, token []byte) (page []timer.View, next []byte, err error) {
	f.filter = filter
	at := len(token)
	if at+1 < len(f.ids) {
		next = make([]byte, at+1)
	}
	return []timer.View{{Key: timer.Key{BusinessType: "x", BusinessID: f.ids[at]}, RunID: "run-" + f.ids[at]}}, next, nil
}

func (f *failures) RedeliverRun(_ context.Context, key timer.Key, runID string) error {
	f.tried = append(f.tried, key.String()+" "+runID)
	if key.BusinessID == "b" {
		return &timer.Error{Code: timer.Overtaken}
	}
	return nil
}

// A redelivery is a job whose items are the failed runs that its filter selects.
func TestRedeliver(t *testing.T) {
	t.Parallel()
	order := timer.Redelivery{Filter: timer.FailedFilter{BusinessType: "x", EndedTo: 9}, PerSecond: timer.MaxRedeliveryRate}
	f := &failures{ids: []string{"a", "b", "c"}}
	controller := &activities.Controller{Failures: f}
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestActivityEnvironment()
	env.RegisterActivity(controller.Redeliver)
	value, err := env.ExecuteActivity(controller.Redeliver, order)
	require.NoError(t, err)
	var done timer.Redelivered
	require.NoError(t, value.Get(&done))
	three := 3
	require.Equal(t, timer.Redelivered{Found: &three, Done: 2, Skipped: 1}, done)
	require.Equal(t, []string{"x/a run-a", "x/b run-b", "x/c run-c"}, f.tried)
	require.Equal(t, order.Filter, f.filter)

	env.SetHeartbeatDetails(timer.RedeliveryProgress{Redelivered: done, JobCursor: timer.JobCursor{Page: make([]byte, 2), After: "run-c"}})
	again, err := env.ExecuteActivity(controller.Redeliver, order)
	require.NoError(t, err)
	require.NoError(t, again.Get(&done))
	require.Len(t, f.tried, 3, "it goes on behind the run that was dealt with last")
}
