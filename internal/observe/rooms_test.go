package observe_test

import (
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/activities/delivery"
	"github.com/wakecall/wakecall/activities/dispatch"
	"github.com/wakecall/wakecall/internal/observe"
)

// metrics holds every collector of a process.
type metrics struct {
	*observe.Telemetry
	*delivery.Reporter
	items *dispatch.Reporter
}

// openMetrics returns the metrics of a process, and a function that renders them.
func openMetrics(t *testing.T) (*metrics, func() string) {
	t.Helper()
	telemetry, err := observe.NewTelemetry("test")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, telemetry.Shutdown(t.Context())) })
	m := &metrics{Telemetry: telemetry, Reporter: delivery.NewReporter(telemetry, observe.NewLateness(delivery.LatenessBuckets, time.Now)), items: dispatch.NewReporter(telemetry)}
	telemetry.Add(m.Reporter, m.items)
	return m, func() string {
		answer := httptest.NewRecorder()
		telemetry.Handler().ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), "GET", "/metrics", nil))
		return answer.Body.String()
	}
}
