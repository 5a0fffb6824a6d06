package roles

import (
	"context"
	"sync"
	"time"

	"github.com/wakecall/wakecall/activities/delivery"
	"github.com/wakecall/wakecall/activities/send"
	streamsend "github.com/wakecall/wakecall/activities/send/stream"
	coredelivery "github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/internal/stream"
	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/worker"
)

// streams lets receivers connect to this process. It makes the attempts at them here, because
// their connections are here. It ends with the app.
func (a *App) streams() *stream.Hub {
	bounds := stream.Bounds{Connections: tuning.StreamConnections, PerType: tuning.StreamConnectionsPerType}
	hub, end := a.hub(bounds, a.reporters.deliveries, a.Telemetry.Streamed)
	a.endStreams = end
	a.Telemetry.Streams(hub.Connections)
	return hub
}

// hub returns a hub whose receivers get their attempts from this process, until the app ends.
// connected is called for each change of a business type's receivers. end ends the attempts earlier.
func (a *App) hub(bounds stream.Bounds, observer delivery.Observer, connected func(businessType string)) (hub *stream.Hub, end func()) {
	var polls *worker.Streams
	hub = stream.NewHub(bounds, func(businessType string, places int) {
		connected(businessType)
		polls.SetPlaces(businessType, places)
	})
	attempter, _ := delivery.NewAttempter(delivery.Config{
		Worker: a.Identity, Queue: worker.Queue, Runs: a.Engine.Runs, Policies: a.Engine.Policies, Opener: a.box,
		Emergencies: a.Engine.Emergencies, Failover: a.Engine.Failover,
		Observer: observer, Bulkhead: worker.NewBulkhead(tuning.FastPathSlots),
		Sender: a.reporters.self.counted(send.New(send.Transports{coredelivery.DestinationStream: streamsend.New(hub)}, a.Telemetry.Tracer())),
	}) // fails only for a cache of size zero
	polls = worker.NewStreams(worker.Options{
		Client: a.Client, Identity: a.Identity, Attempter: attempter, Logger: a.Logger, StopTimeout: a.Config.StopTimeout,
	}, func(_ context.Context, answer coredelivery.RingAnswer) error {
		return hub.Answer(answer.BusinessType, answer.Connection, answer.Number, answer.Answer())
	})
	end = sync.OnceFunc(func() {
		hub.Drain()
		// Unanswered rings go back while Temporal can still get the report.
		defer time.AfterFunc(a.Config.StopTimeout-tuning.StreamReport, hub.Close).Stop()
		polls.Stop()
	})
	a.closing = append(a.closing, end)
	return hub, end
}

// noReceivers returns a hub without receivers, for a worker.
func noReceivers() *stream.Hub { return stream.NewHub(stream.Bounds{}, func(string, int) {}) }
