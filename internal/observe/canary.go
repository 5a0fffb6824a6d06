package observe

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Canary has the metrics of this gateway's canary.
type Canary struct {
	failed, took *prometheus.GaugeVec
	last         prometheus.Gauge
}

const labelStep = "step"

// Canary registers the metrics of a canary with these steps, none of which has failed. It may be
// called once.
func (t *Telemetry) Canary(steps []string) *Canary {
	c := &Canary{
		failed: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "wakecall_canary_failed", Help: "1 if the step was the first to fail for the canary's last timer.",
		}, []string{labelStep}),
		took: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "wakecall_canary_step_seconds", Help: "How long the step last took for a timer of the canary; of a ring, its lateness.",
		}, []string{labelStep}),
		last: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "wakecall_canary_last_timestamp_seconds", Help: "When the canary booked its last timer, or was started.",
		}),
	}
	c.last.SetToCurrentTime()
	for _, step := range steps {
		c.Stepped(step, false)
	}
	t.registry.MustRegister(c.failed, c.took, c.last)
	return c
}

// Booked records when the canary booked its last timer.
func (c *Canary) Booked(at time.Time) { c.last.Set(float64(at.Unix())) }

// Stepped records whether a step was the first to fail.
func (c *Canary) Stepped(step string, failed bool) {
	value := 0.0
	if failed {
		value = 1
	}
	c.failed.WithLabelValues(step).Set(value)
}

// Took records how long a step took.
func (c *Canary) Took(step string, took time.Duration) {
	c.took.WithLabelValues(step).Set(took.Seconds())
}
