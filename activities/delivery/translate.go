package delivery

import (
	"time"

	"go.temporal.io/sdk/temporal"

	"github.com/wakecall/wakecall/core/delivery"
)

// retryError translates a report without success into Temporal's retry terms. Only this
// function decides what the server retries.
func retryError(report delivery.Report) error {
	message := string(report.Result)
	if report.Failure != nil {
		message = report.Failure.Message
	}
	// Benign: a failing receiver is no error of the worker, and the worker's log has it already.
	options := temporal.ApplicationErrorOptions{Details: []any{report}, Category: temporal.ApplicationErrorCategoryBenign}
	if report.Result != delivery.ResultRetry {
		options.NonRetryable = true
		return temporal.NewApplicationErrorWithOptions(message, string(report.Result), options)
	}
	// Zero would mean "use the retry policy's interval".
	options.NextRetryDelay = max(report.EndedAt.Add(report.RetryIn.D()).Until(time.Now()), time.Millisecond)
	return temporal.NewApplicationErrorWithOptions(message, string(report.Result), options)
}
