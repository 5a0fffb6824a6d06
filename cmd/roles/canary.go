package roles

import (
	"context"
	"sync"
	"time"

	coredelivery "github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/engine/canary"
	"github.com/wakecall/wakecall/internal/config"
	"github.com/wakecall/wakecall/internal/stream"
)

// startCanary books a timer once a minute until ctx is done, unless the settings say off. Its
// rings have a hub of their own, and are in no metric of deliveries.
func (a *App) startCanary(ctx context.Context, running *sync.WaitGroup) {
	if a.Config.Canary == config.CanaryOff {
		return
	}
	hub, _ := a.hub(stream.Bounds{Connections: 1, PerType: 1}, unobserved{}, func(string) {})
	metrics := a.Telemetry.Canary(canary.StepNames())
	a.found.canary = a.Engine.Canary(canary.Config{Receivers: hub, Observer: metrics, Logger: a.Logger, Gateway: a.Identity})
	running.Go(func() { a.found.canary.Run(ctx) })
}

// unobserved is a [delivery.Observer] that records nothing.
type unobserved struct{}

// Attempted implements [delivery.Observer].
func (unobserved) Attempted(string, coredelivery.Report, time.Duration) {}

// Repeated implements [delivery.Observer].
func (unobserved) Repeated() {}

// Preloaded implements [delivery.Observer].
func (unobserved) Preloaded(int) {}

// Released implements [delivery.Observer].
func (unobserved) Released(coredelivery.Result) {}
