package observe

import (
	"net/http"
	"strconv"

	"github.com/wakecall/wakecall/core/delivery"
)

// A series that is born above zero hides its first event: increase and rate see only what
// comes after the first sample. So the series of a label exist, with 0, from when there is
// the label.

var (
	// attemptResults are the results of attempts that were made.
	attemptResults = []delivery.Result{delivery.ResultDelivered, delivery.ResultAccepted, delivery.ResultRetry, delivery.ResultFailed, delivery.ResultExpired}
	// releaseReasons are the results of timers that were given up before an attempt.
	releaseReasons = []delivery.Result{delivery.ResultInterrupted, delivery.ResultWorkerStopping, delivery.ResultRejected}
	links          = []delivery.Link{delivery.LinkCallback, delivery.LinkFallback}
	// itemOutcomes are what becomes of attempts for items of dispatches.
	itemOutcomes = []string{"done", "retry", "failed"}
	// failedStatuses are the answers that say that a request failed at our end.
	failedStatuses = []int{http.StatusInternalServerError, http.StatusServiceUnavailable}
)

// bear makes the series of a business type. linked reports whether its attempts are counted
// by link. The caller holds the mutex of the labels, to read or to write.
func (t *Telemetry) bear(label string, linked bool) {
	for _, result := range attemptResults {
		t.attempts.WithLabelValues(label, string(result))
	}
	for _, outcome := range itemOutcomes {
		t.dispatched.WithLabelValues(label, outcome)
	}
	t.overdue.WithLabelValues(label)
	t.took.WithLabelValues(label)
	t.lateness.WithLabelValues(label)
	if !linked {
		return
	}
	for _, link := range links {
		for _, result := range attemptResults {
			t.byLink.WithLabelValues(label, string(link), string(result))
		}
	}
}

// bearShared makes the series that no business type has for itself.
func (t *Telemetry) bearShared() {
	t.bear(other, true)
	for _, reason := range releaseReasons {
		t.released.WithLabelValues(string(reason))
	}
}

// bearFailures makes the series of the failures of a route, which its first request does.
func (t *Telemetry) bearFailures(method, route string) {
	for _, status := range failedStatuses {
		t.requests.WithLabelValues(method, route, strconv.Itoa(status))
	}
}
