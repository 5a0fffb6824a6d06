package activities

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/testsuite"

	"github.com/wakecall/wakecall/timer"
)

// A try that comes sooner than its ladder says calls nobody, and comes again for
// the rest of the wait.
func TestTooSoonATry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ringer, err := NewRinger(Config{})
		require.NoError(t, err)
		last := timer.Report{Result: timer.ResultRetry, Attempt: 2, EndedAt: timer.At(time.Now()), RetryIn: timer.Duration(10 * time.Second)}
		<-time.After(4 * time.Second)
		var report timer.Report
		var suite testsuite.WorkflowTestSuite
		_, err = suite.NewTestActivityEnvironment().ExecuteLocalActivity(func(ctx context.Context) (timer.Report, error) {
			var err error
			report, err = ringer.paced(ctx, plan{}, try{number: 3, last: &last})
			return report, err
		})
		require.NoError(t, err)
		require.Equal(t, timer.ResultRetry, report.Result)
		require.Equal(t, 2, report.Attempt)
		require.Equal(t, 1, report.Skipped)
		require.EqualValues(t, 6*time.Second, report.RetryIn)
	})
}
