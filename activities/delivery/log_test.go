package delivery

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/testsuite"

	"github.com/wakecall/wakecall/core/delivery"
)

// A failing receiver is one line of the log, with the timer and the verdict, and no error of
// ours: neither on the ladder, nor at its end.
func TestAFailedCallbackIsOneWarning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(t)
		q.answer = answers(delivery.Answer{Class: delivery.Answered, Status: 500})
		for attempt := 1; attempt <= 3; attempt++ {
			var said bytes.Buffer
			var suite testsuite.WorkflowTestSuite
			suite.SetLogger(log.NewStructuredLogger(slog.New(slog.NewTextHandler(&said, nil))))
			env := suite.NewTestActivityEnvironment()
			env.SetTestTimeout(time.Hour)
			report := q.tryIn(env)
			require.Equal(t, attempt == 3, report.Result == delivery.ResultFailed, "two steps make three attempts")
			require.Equal(t, 1, strings.Count(said.String(), "\n"), "%s", said.String())
			for _, word := range []string{
				"level=WARN", "business_type=" + q.delivery.Spec.BusinessType, "business_id=" + q.delivery.Spec.BusinessID,
				"attempt=" + itoa(attempt), "verdict=" + string(report.Result), "status=500",
			} {
				require.Contains(t, said.String(), word)
			}
			<-time.After(report.RetryIn.D())
		}
	})
}
