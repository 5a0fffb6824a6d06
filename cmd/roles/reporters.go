package roles

import (
	"time"

	"github.com/wakecall/wakecall/activities/delivery"
	"github.com/wakecall/wakecall/activities/dispatch"
	"github.com/wakecall/wakecall/internal/observe"
)

// reporters are the metrics of the rooms that report for themselves.
type reporters struct {
	deliveries *delivery.Reporter
	dispatches *dispatch.Reporter
	attempts   *attempts
	self       *self
}

// report registers the metrics of each room.
func report(telemetry *observe.Telemetry) reporters {
	past := &attempts{ring: observe.NewLateness(delivery.LatenessBuckets, time.Now)}
	r := reporters{deliveries: delivery.NewReporter(telemetry, past.ring), dispatches: dispatch.NewReporter(telemetry), attempts: past}
	r.self = newSelf(r.deliveries.Waiting)
	telemetry.Add(r.deliveries, r.dispatches)
	return r
}
