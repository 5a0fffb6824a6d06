package engine

import (
	"context"
	"time"

	"go.temporal.io/sdk/client"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/job"
	"github.com/wakecall/wakecall/internal/seal"
)

// Config is what an [Engine] needs.
type Config struct {
	Client    client.Client
	Namespace string
	// Box seals secrets before they reach Temporal.
	Box *seal.Box
	// WebUI is the base URL of Temporal's Web UI, for links; empty for none.
	WebUI string
	// PolicyTTL is how long a policy that was read is trusted.
	PolicyTTL time.Duration
	// Reach tells where messages may be sent. Its zero value allows every address and
	// knows no broker.
	Reach delivery.Reach
	// Limiter holds bookings to the rate of their policy.
	Limiter Limiter
}

// Engine is Wakecall's view of one Temporal namespace, noun by noun. Everything in
// it is safe for concurrent use.
type Engine struct {
	Timers     *Timers
	Stats      *Stats
	Forecasts  *Forecasts
	Series     *Series
	Failures   *Failures
	Attempts   *Attempts
	Histories  *Histories
	Policies   *Policies
	Queues     *Queues
	Runs       *Runs
	Reconciler *Reconciler
	Alerts     *Alerts
	Streams    *Streams
	Namespace  *Namespace
	// Emergencies pause callbacks.
	Emergencies *Emergencies
	// Redeliveries try many failed timers again.
	Redeliveries *Jobs[job.Redelivery, job.Redelivered]
	// Bulk does the same with all timers that a filter finds.
	Bulk *Bulk

	// Deliveries take what receivers say later of what they accepted.
	Deliveries *Deliveries
	// Dispatches call a receiver for each of many items.
	Dispatches *Dispatches

	kernel *kernel
	leave  context.CancelFunc
}

// New returns an Engine on a connected client.
func New(config Config) *Engine {
	k := &kernel{client: config.Client, namespace: config.Namespace, webUI: config.WebUI}
	var leave context.CancelFunc
	k.leaving, leave = context.WithCancel(context.Background())
	policies := newPolicies(k, config)
	emergencies := newEmergencies(k, config.PolicyTTL)
	queues := &Queues{kernel: k, policies: policies}
	waits := newWaits(queues, emergencies)
	timers := newTimers(waits, config.Limiter)
	dispatches := newDispatches(waits, config.Reach)
	e := &Engine{
		Timers:      timers,
		Stats:       newStats(k),
		Forecasts:   newForecasts(policies, dispatches),
		Series:      &Series{timers: timers},
		Failures:    &Failures{timers: timers},
		Attempts:    &Attempts{timers: timers},
		Histories:   &Histories{timers: timers},
		Policies:    policies,
		Queues:      queues,
		Runs:        &Runs{kernel: k},
		Reconciler:  newReconciler(timers, queues, &holds{kernel: k}),
		Alerts:      &Alerts{kernel: k, policies: policies},
		Streams:     &Streams{kernel: k},
		Namespace:   &Namespace{kernel: k},
		Deliveries:  &Deliveries{timers: timers, box: config.Box},
		Dispatches:  dispatches,
		Emergencies: emergencies,
		kernel:      k,
		leave:       leave,
	}
	e.Redeliveries = JobsOf[job.Redelivery, job.Redelivered](e, redeliveries)
	e.Bulk = newBulk(e)
	return e
}

// Leave ends the waits of all callers, now and from now on: what they asked
// for is durable, and they are told that it is pending.
func (e *Engine) Leave() { e.leave() }
