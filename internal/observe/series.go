package observe

import (
	"net/http"
	"strconv"
)

// failedStatuses are the answers for failures on our side.
var failedStatuses = []int{http.StatusInternalServerError, http.StatusServiceUnavailable}

// beginType makes the series of a business type, see [Reporter]. The caller holds the mutex of the
// labels, for reading or writing.
func (t *Telemetry) beginType(label string, linked bool) {
	t.overdue.WithLabelValues(label)
	for _, room := range t.rooms {
		room.Begin(label, linked)
	}
}

// beginRoute makes the series of the failures of a route, at its first request.
func (t *Telemetry) beginRoute(method, route string) {
	for _, status := range failedStatuses {
		t.requests.WithLabelValues(method, route, strconv.Itoa(status))
	}
}
