package roles

import (
	"github.com/wakecall/wakecall/activities/delivery"
	"github.com/wakecall/wakecall/activities/dispatch"
	"github.com/wakecall/wakecall/internal/observe"
)

// reporters are the metrics of the rooms that report for themselves.
type reporters struct {
	deliveries *delivery.Reporter
	dispatches *dispatch.Reporter
}

// report registers the metrics of each room.
func report(telemetry *observe.Telemetry) reporters {
	r := reporters{deliveries: delivery.NewReporter(telemetry), dispatches: dispatch.NewReporter(telemetry)}
	telemetry.Add(r.deliveries, r.dispatches)
	return r
}
