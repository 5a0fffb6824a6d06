package engine

import (
	"time"

	"go.temporal.io/sdk/client"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/engine/alerts"
	"github.com/wakecall/wakecall/engine/bookings"
	"github.com/wakecall/wakecall/engine/bulk"
	"github.com/wakecall/wakecall/engine/canary"
	"github.com/wakecall/wakecall/engine/deliveries"
	"github.com/wakecall/wakecall/engine/dispatches"
	"github.com/wakecall/wakecall/engine/emergencies"
	"github.com/wakecall/wakecall/engine/failover"
	"github.com/wakecall/wakecall/engine/forecasts"
	"github.com/wakecall/wakecall/engine/histories"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/engine/ledger"
	"github.com/wakecall/wakecall/engine/namespace"
	"github.com/wakecall/wakecall/engine/outcomes"
	"github.com/wakecall/wakecall/engine/policies"
	"github.com/wakecall/wakecall/engine/processes"
	"github.com/wakecall/wakecall/engine/queues"
	"github.com/wakecall/wakecall/engine/reconcile"
	"github.com/wakecall/wakecall/engine/runs"
	"github.com/wakecall/wakecall/engine/stats"
	"github.com/wakecall/wakecall/engine/streams"
	"github.com/wakecall/wakecall/engine/testrings"
	"github.com/wakecall/wakecall/engine/timers"
	"github.com/wakecall/wakecall/engine/waits"
	"github.com/wakecall/wakecall/internal/seal"
)

// Config configures an [Engine].
type Config struct {
	Client    client.Client
	Namespace string
	// Box seals secrets before they reach Temporal.
	Box *seal.Box
	// WebUI is the base URL of Temporal's Web UI, for links; empty for none.
	WebUI string
	// PolicyTTL is how long a read policy is trusted.
	PolicyTTL time.Duration
	// Reach is where messages may be sent. Its zero value allows every address and knows no
	// broker.
	Reach delivery.Reach
	// Failover is what this process tells the others of itself.
	Failover failover.Config
	// Limiter enforces the rate of a policy's bookings.
	Limiter bookings.Limiter
}

// Engine is Wakecall's view of one Temporal namespace, noun by noun. Everything in
// it is safe for concurrent use.
type Engine struct {
	Timers     *Timers
	Stats      *stats.Stats
	Forecasts  *forecasts.Forecasts
	Outcomes   *outcomes.Outcomes
	Ledgers    *ledger.Ledgers
	Series     *timers.Series
	Failures   *bookings.Failures
	Attempts   *histories.Attempts
	Histories  *histories.Histories
	Policies   *policies.Policies
	Queues     *queues.Queues
	Runs       *runs.Runs
	Reconciler *reconcile.Reconciler
	Alerts     *alerts.Alerts
	TestRings  *testrings.TestRings
	Streams    *streams.Streams
	Namespace  *namespace.Namespace
	// Failover frees what dead workers hold.
	Failover *failover.Failover
	// Processes lists the processes of the installation.
	Processes *processes.Processes
	// Emergencies pause callbacks.
	Emergencies *emergencies.Emergencies
	// Bulk applies one change to all timers that match a filter.
	Bulk *bulk.Bulk

	// Deliveries takes receivers' later acknowledgements.
	Deliveries *deliveries.Deliveries
	// Dispatches calls a receiver for each of many items.
	Dispatches *dispatches.Dispatches

	kernel *kernel.Kernel
}

// Timers holds all operations on timers.
type Timers struct {
	*timers.Reader
	*timers.Lister
	*bookings.Bookings
}

// New returns an Engine on a connected client. It makes each room after the rooms that it needs.
func New(config Config) *Engine {
	k := kernel.New(config.Client, config.Namespace, config.WebUI)
	e := &Engine{kernel: k, Stats: stats.New(k), Runs: runs.New(k), Streams: streams.New(k), Namespace: namespace.New(k)}
	e.Failover = failover.New(k, config.Failover)
	e.Processes = processes.New(k, processes.Config{ID: config.Failover.Worker, About: config.Failover.About})
	e.Policies = policies.New(k, policies.Config{Box: config.Box, TTL: config.PolicyTTL, Reach: config.Reach})
	e.Alerts = alerts.New(k, e.Policies)
	e.Ledgers = ledger.New(k, e.Policies, e.Stats)
	e.Outcomes = outcomes.New(k, e.Policies)
	e.Emergencies = emergencies.New(k, config.PolicyTTL)
	e.TestRings = testrings.New(k, e.Policies, e.Emergencies)
	e.Queues = queues.New(k, e.Policies)
	holding := waits.New(e.Policies, e.Emergencies, e.Queues, e.Processes)
	e.Dispatches = dispatches.New(k, e.Policies, holding, config.Reach)
	e.Forecasts = forecasts.New(k, e.Policies, e.Emergencies, e.Dispatches)

	reader := timers.NewReader(k, e.Policies, holding)
	lister := timers.NewLister(k, reader)
	booked := bookings.New(bookings.Config{
		Kernel: k, Reader: reader, Policies: e.Policies, Reach: config.Reach, Limiter: config.Limiter,
		Processes: e.Processes,
	})
	e.Timers = &Timers{Reader: reader, Lister: lister, Bookings: booked}
	e.Failures = booked.Failures
	e.Series = timers.NewSeries(k, reader)
	e.Attempts = histories.NewAttempts(k, reader)
	e.Histories = histories.New(k, reader)
	e.Deliveries = deliveries.New(k, reader, e.Attempts, config.Box)
	e.Reconciler = reconcile.New(k, reader, booked.Changer, e.Queues)
	e.Bulk = bulk.New(bulk.Config{Kernel: k, Reader: reader, Bookings: booked, Policies: e.Policies, Reach: config.Reach})
	e.Policies.OrderBulkBy(e.Bulk.OrderOnce)
	return e
}

// Canary returns a canary on the engine's namespace.
func (e *Engine) Canary(config canary.Config) *canary.Canary {
	config.Kernel, config.Emergencies = e.kernel, e.Emergencies
	return canary.New(config)
}

// EndWaits ends the waits of all callers, from now on: their requests are durable, and are
// answered as pending.
func (e *Engine) EndWaits() { e.kernel.EndWaits() }
