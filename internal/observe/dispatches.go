package observe

import (
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/wakecall/wakecall/core/wire"
)

// dispatches shows what the shards that run in this process are asked for, and how far
// behind that they are. Ids of dispatches are no labels: two of one type that run at once
// are shown together.
type dispatches struct {
	// types knows the labels of business types.
	types *labels

	mu     sync.Mutex
	shards map[shard]pace

	rate, lag *prometheus.Desc
}

type shard struct {
	key    wire.Key
	number int
}

type pace struct {
	perSecond float64
	lag       time.Duration
}

func newDispatches(types *labels) *dispatches {
	return &dispatches{
		types: types, shards: map[shard]pace{},
		rate: prometheus.NewDesc("wakecall_dispatch_rate", "Items a second that the dispatches of a type ask of this worker.",
			[]string{labelType}, nil),
		lag: prometheus.NewDesc("wakecall_dispatch_lag_seconds", "How far the last of the shards with this number is behind its rate.",
			[]string{labelType, "shard"}, nil),
	}
}

// show notes the pace of a shard; one of 0 ends it.
func (d *dispatches) show(s shard, p pace) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if p == (pace{}) {
		delete(d.shards, s)
	} else {
		d.shards[s] = p
	}
}

// Describe implements prometheus.Collector.
func (d *dispatches) Describe(out chan<- *prometheus.Desc) {
	out <- d.rate
	out <- d.lag
}

// Collect implements prometheus.Collector.
func (d *dispatches) Collect(out chan<- prometheus.Metric) {
	d.types.mu.RLock()
	defer d.types.mu.RUnlock()
	d.mu.Lock()
	defer d.mu.Unlock()
	rates, lags := map[string]float64{}, map[[2]string]float64{}
	for s, p := range d.shards {
		label := d.types.of(s.key.BusinessType)
		rates[label] += p.perSecond
		series := [2]string{label, strconv.Itoa(s.number)}
		lags[series] = max(lags[series], p.lag.Seconds())
	}
	for label, rate := range rates {
		out <- prometheus.MustNewConstMetric(d.rate, prometheus.GaugeValue, rate, label)
	}
	for series, lag := range lags {
		out <- prometheus.MustNewConstMetric(d.lag, prometheus.GaugeValue, lag, series[:]...)
	}
}

// Dispatched counts items of dispatches by what became of them.
func (t *Telemetry) Dispatched(businessType, outcome string, items int) {
	t.labels.mu.RLock()
	defer t.labels.mu.RUnlock()
	t.dispatched.WithLabelValues(t.labels.of(businessType), outcome).Add(float64(items))
}

// Dispatching notes how many items a second a shard of a dispatch is asked for by this
// process, and how far it is behind that; zeros where it sends no more.
func (t *Telemetry) Dispatching(key wire.Key, number int, perSecond float64, lag time.Duration) {
	t.dispatches.show(shard{key, number}, pace{perSecond, lag})
}
