// Package observe holds what a running Wakecall says about itself: logs,
// metrics and traces. Nothing in it is global; everything is handed in.
package observe

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	otelprom "go.opentelemetry.io/otel/exporters/prometheus"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/opentelemetry"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/internal/terminal"
)

// Logger writes JSON lines at the given level: debug, info, warn or error.
func Logger(w io.Writer, level string) (*slog.Logger, error) {
	var parsed slog.Level
	if err := parsed.UnmarshalText([]byte(level)); err != nil {
		return nil, fmt.Errorf("WAKECALL_LOG_LEVEL: %w", err)
	}
	return slog.New(slog.NewJSONHandler(terminal.Writer(w), &slog.HandlerOptions{Level: parsed})), nil
}

// Telemetry holds the collectors of one process. Business types are labels while they
// have a policy: they are hundreds. Business ids never are.
type Telemetry struct {
	labels   labels
	registry *prometheus.Registry
	provider *sdkmetric.MeterProvider
	traces   *sdktrace.TracerProvider

	lateness   *prometheus.HistogramVec
	attempts   *prometheus.CounterVec
	byLink     *prometheus.CounterVec
	took       *prometheus.HistogramVec
	requests   *prometheus.HistogramVec
	policies   *policies
	streams    *streams
	overdue    *prometheus.CounterVec
	unreadable prometheus.Counter
	preloaded  prometheus.Gauge
	released   *prometheus.CounterVec
	repeated   prometheus.Counter
	resent     prometheus.Counter
	dispatched *prometheus.CounterVec
	dispatches *dispatches
}

// labelType is the label of business types, see [labels].
const labelType = "business_type"

// latenessBuckets reach from the millisecond that is promised to the minutes
// that an outage costs.
var latenessBuckets = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 15, 60, 300, 1800}

// NewTelemetry returns collectors on a registry of their own.
func NewTelemetry(version string) (*Telemetry, error) {
	registry := prometheus.NewRegistry()
	exporter, err := otelprom.New(otelprom.WithRegisterer(registry), otelprom.WithoutScopeInfo())
	if err != nil {
		return nil, err
	}
	t := &Telemetry{
		registry: registry,
		provider: sdkmetric.NewMeterProvider(sdkmetric.WithReader(exporter)),
		traces:   sdktrace.NewTracerProvider(),
		lateness: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "wakecall_lateness_seconds", Buckets: latenessBuckets,
			Help: "First byte of a delivery's first attempt, minus its due time.",
		}, []string{labelType}),
		attempts: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "wakecall_attempts_total", Help: "Attempts by what followed from them.",
		}, []string{labelType, "result"}),
		byLink: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "wakecall_link_attempts_total", Help: "Attempts of types with a fallback, by link: callback, fallback.",
		}, []string{labelType, "link", "result"}),
		took: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "wakecall_attempt_seconds", Buckets: prometheus.DefBuckets, Help: "How long attempts took.",
		}, []string{labelType}),
		requests: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "wakecall_http_request_seconds", Buckets: prometheus.DefBuckets,
			Help: "API requests by route template.",
		}, []string{"method", "route", "status"}),
	}
	t.policies = newPolicies(&t.labels)
	t.streams = newStreams(&t.labels)
	t.overdue = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "wakecall_overdue_total", Help: "Timers that were overdue with nothing under way, and were woken.",
	}, []string{labelType})
	t.unreadable = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "wakecall_unreadable_total", Help: "Overdue timers whose run could not be read, and which were passed over.",
	})
	t.preloaded = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "wakecall_preloaded_timers", Help: "Timers that wait in this worker's memory for their due time.",
	})
	t.released = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "wakecall_released_total", Help: "Preloaded timers that a worker released before their due time, by reason: interrupted, handed_back, crowded_out.",
	}, []string{"reason"})
	t.repeated = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "wakecall_repeated_total", Help: "Tasks that Temporal handed out again after the first attempt, whose receipt was found.",
	})
	t.resent = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "wakecall_resent_total", Help: "Attempts that were sent once more, because the receiver closed a kept connection without a word.",
	})
	t.dispatched = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "wakecall_dispatch_items_total", Help: "Attempts for items of dispatches by what became of them: done, retry, failed.",
	}, []string{labelType, "outcome"})
	t.dispatches = newDispatches(&t.labels)
	registry.MustRegister(t.dispatched, t.dispatches)
	build := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "wakecall_build_info", Help: "Constant 1.", ConstLabels: prometheus.Labels{"version": version},
	}, func() float64 { return 1 })
	registry.MustRegister(t.lateness, t.attempts, t.byLink, t.took, t.requests, t.policies, t.streams, t.overdue, t.unreadable, t.preloaded, t.released,
		t.repeated, t.resent, build,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	t.bearShared()
	return t, nil
}

// Attempted counts one attempt.
func (t *Telemetry) Attempted(businessType string, report delivery.Report, took time.Duration) {
	t.labels.mu.RLock()
	defer t.labels.mu.RUnlock()
	label := t.labels.of(businessType)
	t.attempts.WithLabelValues(label, string(report.Result)).Inc()
	if report.Link != "" {
		t.byLink.WithLabelValues(label, string(report.Link), string(report.Result)).Inc()
	}
	t.took.WithLabelValues(label).Observe(took.Seconds())
	if report.LatenessMS != nil {
		t.lateness.WithLabelValues(label).Observe(float64(*report.LatenessMS) / 1000)
	}
}

// Preloaded counts timers that this process preloads, and, negative, those that it no longer has.
func (t *Telemetry) Preloaded(change int) { t.preloaded.Add(float64(change)) }

// Released counts preloaded timers that were released before their due time.
func (t *Telemetry) Released(how delivery.Result) { t.released.WithLabelValues(string(how)).Inc() }

// Repeated counts tasks that Temporal handed out again after the first attempt.
func (t *Telemetry) Repeated() { t.repeated.Inc() }

// Resent counts attempts that were sent once more on a new connection.
func (t *Telemetry) Resent() { t.resent.Inc() }

// Overdue counts timers that were overdue with nothing under way for them.
func (t *Telemetry) Overdue(businessType string, timers int) {
	t.labels.mu.RLock()
	defer t.labels.mu.RUnlock()
	t.overdue.WithLabelValues(t.labels.of(businessType)).Add(float64(timers))
}

// PoliciesListed notes the policies that are in force. Their types are labels from now on;
// those of other types end.
func (t *Telemetry) PoliciesListed(seen []policy.Policy) {
	t.labels.mu.Lock()
	for _, businessType := range t.labels.renew(seen) {
		t.attempts.DeletePartialMatch(prometheus.Labels{labelType: businessType})
		t.byLink.DeletePartialMatch(prometheus.Labels{labelType: businessType})
		t.took.DeleteLabelValues(businessType)
		t.lateness.DeleteLabelValues(businessType)
		t.overdue.DeleteLabelValues(businessType)
		t.dispatched.DeletePartialMatch(prometheus.Labels{labelType: businessType})
	}
	shown := slices.DeleteFunc(slices.Clone(seen), func(p policy.Policy) bool { return !t.labels.types[p.BusinessType] })
	for _, policy := range shown {
		t.bear(policy.BusinessType, policy.Fallback != nil)
	}
	t.labels.mu.Unlock()
	t.policies.show(shown)
}

// Paused notes what somebody has paused.
func (t *Telemetry) Paused(emergencies []policy.Emergency) { t.policies.showPaused(emergencies) }

// Unreadable counts overdue timers whose run could not be read.
func (t *Telemetry) Unreadable(timers int) { t.unreadable.Add(float64(timers)) }

// Queue shows how many bookings wait until Temporal can take them.
func (t *Telemetry) Queue(bookings func() int) {
	t.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "wakecall_queued_bookings", Help: "Bookings that wait at this gateway until Temporal can take them.",
	}, func() float64 { return float64(bookings()) }))
}

// Requested counts one API request by the template of its route, empty where there is
// none. It comes before any check of who asks, so its labels are closed.
func (t *Telemetry) Requested(method, template string, status int, took time.Duration) {
	method, template = Method(method), route(template)
	t.bearFailures(method, template)
	t.requests.WithLabelValues(method, template, strconv.Itoa(status)).Observe(took.Seconds())
}

// SDK is the handler that receives the Temporal SDK's own metrics.
func (t *Telemetry) SDK() client.MetricsHandler {
	handler := opentelemetry.NewMetricsHandler(opentelemetry.MetricsHandlerOptions{Meter: t.provider.Meter("temporal")})
	return bounded{MetricsHandler: handler, seen: &seen{values: map[string]map[string]bool{}}}
}

// Tracer makes the spans of callbacks.
func (t *Telemetry) Tracer() trace.Tracer { return t.traces.Tracer("wakecall") }

// Handler serves the metrics in Prometheus' format.
func (t *Telemetry) Handler() http.Handler {
	return promhttp.HandlerFor(t.registry, promhttp.HandlerOpts{})
}

// Shutdown ends the exporters.
func (t *Telemetry) Shutdown(ctx context.Context) error {
	if err := t.traces.Shutdown(ctx); err != nil {
		return err
	}
	return t.provider.Shutdown(ctx)
}
