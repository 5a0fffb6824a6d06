package observe

import "github.com/prometheus/client_golang/prometheus"

// failover is what this process sees of workers that died.
type failover struct {
	died, freed prometheus.Counter
}

func newFailover() failover {
	return failover{
		died: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "wakecall_dead_workers_total", Help: "Workers that gave no sign of life, and were taken for dead by this one.",
		}),
		freed: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "wakecall_freed_total", Help: "Timers that this worker took from dead ones, or that were lost on their way to it.",
		}),
	}
}

// WorkerDied counts a worker that is taken for dead.
func (t *Telemetry) WorkerDied() { t.failover.died.Inc() }

// Freed counts timers that were taken from dead workers.
func (t *Telemetry) Freed(timers int) { t.failover.freed.Add(float64(timers)) }
