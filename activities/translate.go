package activities

import (
	"time"

	"go.temporal.io/sdk/temporal"

	"github.com/wakecall/wakecall/timer"
)

// failure puts a report that is not a success into Temporal's retry language.
// It is the only place that decides what the server retries.
func failure(report timer.Report) error {
	message := string(report.Result)
	if report.Failure != nil {
		message = report.Failure.Message
	}
	if report.Result != timer.ResultRetry {
		return temporal.NewNonRetryableApplicationError(message, string(report.Result), nil, report)
	}
	// Zero would mean "use the retry policy's interval".
	next := max(report.EndedAt.Add(report.RetryIn.D()).Until(time.Now()), time.Millisecond)
	return temporal.NewApplicationErrorWithOptions(message, string(report.Result), temporal.ApplicationErrorOptions{
		NextRetryDelay: next, Details: []any{report}, Category: temporal.ApplicationErrorCategoryBenign,
	})
}
