package delivery

import (
	"slices"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/wakecall/wakecall/core/delivery"
)

// Labels bounds the business types that become labels.
type Labels interface {
	// Labelled has a series written under the label of a business type.
	Labelled(businessType string, write func(label string))
}

// Attempts records attempts minute by minute. The lateness is nil unless the attempt was the first
// of its delivery.
type Attempts interface {
	Attempted(businessType string, latenessMS *int64, retried bool)
}

// labelType is the label of business types: there are hundreds of them. Business ids are no
// labels.
const labelType = "business_type"

// LatenessBuckets reach from the promised millisecond to the minutes of an outage, in seconds.
var LatenessBuckets = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 15, 60, 300, 1800}

// attemptBuckets end just above the longest timeout of an attempt, in seconds. One lies just above
// the default timeout: an attempt that times out takes a moment longer.
var attemptBuckets = append(slices.Clone(prometheus.DefBuckets), 11, 30, 61)

var (
	// results are the results of attempts that were made.
	results = []delivery.Result{
		delivery.ResultDelivered, delivery.ResultAccepted, delivery.ResultRetry, delivery.ResultFailed, delivery.ResultExpired,
	}
	// releases are the results of timers that were given up before an attempt.
	releases = []delivery.Result{delivery.ResultInterrupted, delivery.ResultWorkerStopping, delivery.ResultRejected}
)

// Reporter holds the metrics of deliveries. It is the [Observer] of a process.
type Reporter struct {
	labels    Labels
	past      Attempts
	lateness  *prometheus.HistogramVec
	attempts  *prometheus.CounterVec
	byLink    *prometheus.CounterVec
	took      *prometheus.HistogramVec
	preloaded prometheus.GaugeFunc
	released  *prometheus.CounterVec
	repeated  prometheus.Counter

	// waiting counts the timers that are preloaded.
	waiting atomic.Int64
}

// NewReporter returns a Reporter. past records the attempts as well.
func NewReporter(labels Labels, past Attempts) *Reporter {
	r := &Reporter{
		labels: labels,
		past:   past,
		lateness: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "wakecall_lateness_seconds", Buckets: LatenessBuckets,
			Help: "First byte of the first attempt for a due time, minus that time.",
		}, []string{labelType}),
		attempts: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "wakecall_attempts_total", Help: "Attempts by result.",
		}, []string{labelType, "result"}),
		byLink: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "wakecall_link_attempts_total", Help: "Attempts of types with a fallback, by link: callback, fallback.",
		}, []string{labelType, "link", "result"}),
		took: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "wakecall_attempt_seconds", Buckets: attemptBuckets, Help: "How long attempts took.",
		}, []string{labelType}),
		released: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "wakecall_released_total",
			Help: "Preloaded timers that a worker released before their due time, by reason: interrupted, handed_back, crowded_out.",
		}, []string{"reason"}),
		repeated: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "wakecall_repeated_total", Help: "Tasks that Temporal delivered again after the first attempt, and that found its receipt.",
		}),
	}
	r.preloaded = prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "wakecall_preloaded_timers", Help: "Timers that wait in this worker's memory for their due time.",
	}, func() float64 { return float64(r.Waiting()) })
	for _, reason := range releases {
		r.released.WithLabelValues(string(reason))
	}
	return r
}

// Attempted counts one attempt.
func (r *Reporter) Attempted(businessType string, report delivery.Report, took time.Duration) {
	r.past.Attempted(businessType, report.LatenessMS, report.Result == delivery.ResultRetry)
	r.labels.Labelled(businessType, func(label string) {
		r.attempts.WithLabelValues(label, string(report.Result)).Inc()
		if report.Link != "" {
			r.byLink.WithLabelValues(label, string(report.Link), string(report.Result)).Inc()
		}
		r.took.WithLabelValues(label).Observe(took.Seconds())
		if report.LatenessMS != nil {
			r.lateness.WithLabelValues(label).Observe(float64(*report.LatenessMS) / 1000)
		}
	})
}

// Preloaded counts timers that this process preloads. A negative change counts timers that
// it no longer has.
func (r *Reporter) Preloaded(change int) { r.waiting.Add(int64(change)) }

// Waiting counts the timers that this process preloads now.
func (r *Reporter) Waiting() int { return int(r.waiting.Load()) }

// Released counts preloaded timers that were released before their due time.
func (r *Reporter) Released(how delivery.Result) { r.released.WithLabelValues(string(how)).Inc() }

// Repeated counts tasks that Temporal handed out again after the first attempt.
func (r *Reporter) Repeated() { r.repeated.Inc() }

// Begin makes the series of a label, with 0. If linked, attempts are counted by link.
func (r *Reporter) Begin(label string, linked bool) {
	for _, result := range results {
		r.attempts.WithLabelValues(label, string(result))
		if linked {
			r.byLink.WithLabelValues(label, string(delivery.LinkCallback), string(result))
			r.byLink.WithLabelValues(label, string(delivery.LinkFallback), string(result))
		}
	}
	r.took.WithLabelValues(label)
	r.lateness.WithLabelValues(label)
}

// End removes the series of a label.
func (r *Reporter) End(label string) {
	r.attempts.DeletePartialMatch(prometheus.Labels{labelType: label})
	r.byLink.DeletePartialMatch(prometheus.Labels{labelType: label})
	r.took.DeleteLabelValues(label)
	r.lateness.DeleteLabelValues(label)
}

func (r *Reporter) collectors() []prometheus.Collector {
	return []prometheus.Collector{r.lateness, r.attempts, r.byLink, r.took, r.preloaded, r.released, r.repeated}
}

// Describe implements [prometheus.Collector].
func (r *Reporter) Describe(out chan<- *prometheus.Desc) {
	for _, c := range r.collectors() {
		c.Describe(out)
	}
}

// Collect implements [prometheus.Collector].
func (r *Reporter) Collect(out chan<- prometheus.Metric) {
	for _, c := range r.collectors() {
		c.Collect(out)
	}
}
