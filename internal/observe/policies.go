package observe

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/wakecall/wakecall/core/policy"
)

// policies shows what holds back business types, in this worker's latest view.
type policies struct {
	// types are the labels of business types.
	types *labels

	mu          sync.Mutex
	seen        []policy.Policy
	emergencies []policy.Emergency

	emergency, paused, backPressure, limit *prometheus.Desc
}

func newPolicies(types *labels) *policies {
	describe := func(name, help string) *prometheus.Desc {
		return prometheus.NewDesc(name, help, []string{labelType}, nil)
	}
	return &policies{
		types: types,
		emergency: describe("wakecall_emergency_paused",
			"1 during an emergency pause of the type's callbacks; * stands for all types, other for types without a label."),
		paused:       describe("wakecall_policy_paused", "1 while the policy pauses its callbacks."),
		backPressure: describe("wakecall_back_pressure_seconds", "How long back-pressure from the receiver still holds its type back."),
		limit:        describe("wakecall_callback_limit", "Callbacks a second that the policy allows, where it limits them."),
	}
}

func (p *policies) show(seen []policy.Policy) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen = seen
}

func (p *policies) showPaused(emergencies []policy.Emergency) {
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
	p.types.mu.RLock()
	defer p.types.mu.RUnlock()
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	show := func(desc *prometheus.Desc, value float64, businessType string) {
		out <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, businessType)
	}
	// Any type may be paused, even without a policy. Visibility may list one twice, if it was
	// paused again before visibility had the resumption. A series may be shown once.
	stopped := map[string]float64{"*": 0}
	for _, emergency := range p.emergencies {
		label := p.types.label(emergency.BusinessType)
		if emergency.Everything {
			label = "*"
		}
		stopped[label] = 1
	}
	for label, value := range stopped {
		show(p.emergency, value, label)
	}
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
