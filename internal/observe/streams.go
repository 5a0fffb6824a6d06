package observe

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

// streams shows the receivers connected to this process, and the timers that wait for receivers
// anywhere, in this worker's latest view.
type streams struct {
	labels *labels

	mu      sync.Mutex
	joined  func() map[string]int
	waiting map[string]int

	connections, waits *prometheus.Desc
}

func newStreams(labels *labels) *streams {
	describe := func(name, help string) *prometheus.Desc {
		return prometheus.NewDesc(name, help, []string{labelType}, nil)
	}
	return &streams{
		labels:      labels,
		connections: describe("wakecall_stream_connections", "Receivers that are connected to this gateway."),
		waits:       describe("wakecall_stream_waiting_timers", "Timers that wait for a receiver which is connected and has room."),
	}
}

// Streams shows the connected receivers, by business type.
func (t *Telemetry) Streams(connected func() map[string]int) {
	t.streams.mu.Lock()
	defer t.streams.mu.Unlock()
	t.streams.joined = connected
}

// Streamed records that a receiver of a business type has connected. The type becomes a label.
func (t *Telemetry) Streamed(businessType string) {
	t.labels.admit(businessType)
	t.labels.mu.RLock()
	defer t.labels.mu.RUnlock()
	t.beginType(t.labels.label(businessType), true)
}

// StreamsWait records how many attempts of each type wait for a receiver to connect.
func (t *Telemetry) StreamsWait(attempts map[string]int) {
	t.streams.mu.Lock()
	defer t.streams.mu.Unlock()
	t.streams.waiting = attempts
}

// Describe implements prometheus.Collector.
func (s *streams) Describe(out chan<- *prometheus.Desc) {
	out <- s.connections
	out <- s.waits
}

// Collect implements prometheus.Collector.
func (s *streams) Collect(out chan<- prometheus.Metric) {
	s.mu.Lock()
	joined, waiting := s.joined, s.waiting
	s.mu.Unlock()
	if joined != nil {
		s.show(out, s.connections, joined())
	}
	s.show(out, s.waits, waiting)
}

// show sums up the types without their own label.
func (s *streams) show(out chan<- prometheus.Metric, desc *prometheus.Desc, counts map[string]int) {
	sums := map[string]int{}
	s.labels.mu.RLock()
	for businessType, n := range counts {
		sums[s.labels.label(businessType)] += n
	}
	s.labels.mu.RUnlock()
	for label, n := range sums {
		out <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, float64(n), label)
	}
}
