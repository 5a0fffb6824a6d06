package dispatch

import (
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/wakecall/wakecall/core/wire"
)

// Labels bounds the business types that become labels.
type Labels interface {
	// Labelled has a series written under the label of a business type.
	Labelled(businessType string, write func(label string))
}

// labelType is the label of business types.
const labelType = "business_type"

// Reporter holds the metrics of dispatches. It is the [Observer] of a process. It shows the
// planned rate of the shards that run in this process, and their lag behind it. Ids of
// dispatches are no labels: concurrent dispatches of one type are shown together.
type Reporter struct {
	labels Labels
	items  *prometheus.CounterVec

	mu     sync.Mutex
	shards map[runningShard]shardPace

	rate, lag *prometheus.Desc
}

type runningShard struct {
	key    wire.Key
	number int
}

type shardPace struct {
	perSecond float64
	lag       time.Duration
}

// NewReporter returns a Reporter.
func NewReporter(labels Labels) *Reporter {
	return &Reporter{
		labels: labels, shards: map[runningShard]shardPace{},
		items: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "wakecall_dispatch_items_total", Help: "Attempts for items of dispatches by result: done, retry, failed.",
		}, []string{labelType, "outcome"}),
		rate: prometheus.NewDesc("wakecall_dispatch_rate", "Items a second that the dispatches of a type require from this worker.",
			[]string{labelType}, nil),
		lag: prometheus.NewDesc("wakecall_dispatch_lag_seconds", "How far the slowest shard with this number is behind its rate.",
			[]string{labelType, "shard"}, nil),
	}
}

// Dispatched counts items of dispatches by their outcome.
func (r *Reporter) Dispatched(businessType, outcome string, items int) {
	r.labels.Labelled(businessType, func(label string) { r.items.WithLabelValues(label, outcome).Add(float64(items)) })
}

// Dispatching records the rate that this process should send a shard at, in items a second,
// and the shard's lag; zeros once it sends no more.
func (r *Reporter) Dispatching(key wire.Key, number int, perSecond float64, lag time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	shard, pace := runningShard{key, number}, shardPace{perSecond, lag}
	if pace == (shardPace{}) {
		delete(r.shards, shard)
	} else {
		r.shards[shard] = pace
	}
}

// Begin makes the series of a label, with 0.
func (r *Reporter) Begin(label string, _ bool) {
	for _, outcome := range []string{OutcomeDone, OutcomeRetry, OutcomeFailed} {
		r.items.WithLabelValues(label, outcome)
	}
}

// End removes the series of a label.
func (r *Reporter) End(label string) {
	r.items.DeletePartialMatch(prometheus.Labels{labelType: label})
}

// Describe implements [prometheus.Collector].
func (r *Reporter) Describe(out chan<- *prometheus.Desc) {
	r.items.Describe(out)
	out <- r.rate
	out <- r.lag
}

// Collect implements [prometheus.Collector].
func (r *Reporter) Collect(out chan<- prometheus.Metric) {
	r.items.Collect(out)
	rates, lags := r.paces()
	for label, rate := range rates {
		out <- prometheus.MustNewConstMetric(r.rate, prometheus.GaugeValue, rate, label)
	}
	for series, lag := range lags {
		out <- prometheus.MustNewConstMetric(r.lag, prometheus.GaugeValue, lag, series[:]...)
	}
}

// paces are the rates by label, and the longest lags by label and number of the shard.
func (r *Reporter) paces() (rates map[string]float64, lags map[[2]string]float64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	rates, lags = map[string]float64{}, map[[2]string]float64{}
	for shard, pace := range r.shards {
		r.labels.Labelled(shard.key.BusinessType, func(label string) {
			rates[label] += pace.perSecond
			series := [2]string{label, strconv.Itoa(shard.number)}
			lags[series] = max(lags[series], pace.lag.Seconds())
		})
	}
	return rates, lags
}
