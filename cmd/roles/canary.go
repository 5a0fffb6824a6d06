package roles

import (
	"context"
	"sync"
	"time"

	"github.com/wakecall/wakecall/activities/delivery"
	"github.com/wakecall/wakecall/engine/canary"
	"github.com/wakecall/wakecall/internal/config"
	"github.com/wakecall/wakecall/internal/observe"
	"github.com/wakecall/wakecall/internal/stream"
)

// startCanary books a timer once a minute until ctx is done, unless the settings say off. Its
// rings have a hub of their own, and are in no metric of deliveries.
func (a *App) startCanary(ctx context.Context, running *sync.WaitGroup) {
	if a.Config.Canary == config.CanaryOff {
		return
	}
	// A reporter that is not registered observes its attempts, in a ring of its own.
	reporter := delivery.NewReporter(a.Telemetry, observe.NewLateness(nil, time.Now))
	hub := a.hub(stream.Bounds{Connections: 1, PerType: 1}, reporter, func(string) {})
	metrics := a.Telemetry.Canary(canary.StepNames())
	a.found.canary = a.Engine.Canary(canary.Config{Receivers: hub, Observer: metrics, Logger: a.Logger, Gateway: a.Identity})
	running.Go(func() { a.found.canary.Run(ctx) })
}
