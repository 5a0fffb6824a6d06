package observe

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/wakecall/wakecall/timer"
)

// policies shows what holds business types back, as this worker last saw it.
type policies struct {
	mu          sync.Mutex
	seen        []timer.Policy
	emergencies []timer.Emergency

	emergency, paused, backPressure, limit *prometheus.Desc
}

func newPolicies() *policies {
	describe := func(name, help string) *prometheus.Desc {
		return prometheus.NewDesc(name, help, []string{labelType}, nil)
	}
	return &policies{
		emergency:    describe("wakecall_emergency_paused", "1 while somebody has paused the type's callbacks; * stands for all types."),
		paused:       describe("wakecall_policy_paused", "1 while the policy pauses its callbacks."),
		backPressure: describe("wakecall_back_pressure_seconds", "How long the receiver's wish for patience still holds its type back."),
		limit:        describe("wakecall_callback_limit", "Callbacks a second that the policy allows, where it limits them."),
	}
}

func (p *policies) show(seen []timer.Policy) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen = seen
}

func (p *policies) showPaused(emergencies []timer.Emergency) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.emergencies = emergencies
}

// Describe implements prometheus.Collector.
func (p *policies) Describe(out chan<- *prometheus.Desc) {
	out <- p.emergency
	out <- p.paused
	out <- p.backPressure
	out <- p.limit
}

// Collect implements prometheus.Collector.
func (p *policies) Collect(out chan<- prometheus.Metric) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	show := func(desc *prometheus.Desc, value float64, businessType string) {
		out <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, businessType)
	}
	everything := 0.0
	for _, emergency := range p.emergencies {
		if emergency.Everything {
			everything = 1
			continue
		}
		show(p.emergency, 1, emergency.BusinessType)
	}
	show(p.emergency, everything, "*")
	for _, policy := range p.seen {
		paused, wait := 0.0, 0.0
		if policy.Paused {
			paused = 1
		}
		if until, held := policy.HeldBack(now); held {
			wait = until.Until(now).Seconds()
		}
		show(p.paused, paused, policy.BusinessType)
		show(p.backPressure, wait, policy.BusinessType)
		if limit := policy.Limits.CallbacksPerSecond; limit != nil {
			show(p.limit, *limit, policy.BusinessType)
		}
	}
}
