// Package observe has the logs, metrics and traces of a running Wakecall. It has no global
// state; everything is passed in.
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

// Telemetry holds the collectors of one process. Business types are labels while they have a
// policy: they are hundreds. Business ids never are.
type Telemetry struct {
	labels   labels
	registry *prometheus.Registry
	provider *sdkmetric.MeterProvider
	traces   *sdktrace.TracerProvider

	// rooms report for themselves.
	rooms      []Reporter
	requests   *prometheus.HistogramVec
	policies   *policies
	streams    *streams
	overdue    *prometheus.CounterVec
	unreadable prometheus.Counter
	resent     prometheus.Counter
	failover   failover
}

// labelType is the label of business types, see [labels].
const labelType = "business_type"

// requestBuckets end just above the longest wait of a request, in seconds.
var requestBuckets = append(slices.Clone(prometheus.DefBuckets), 31)

// NewTelemetry returns collectors on a new registry.
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
		requests: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "wakecall_http_request_seconds", Buckets: requestBuckets,
			Help: "API requests by route template.",
		}, []string{"method", "route", "status"}),
	}
	t.policies = newPolicies(&t.labels)
	t.failover = newFailover()
	t.streams = newStreams(&t.labels)
	t.overdue = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "wakecall_overdue_total", Help: "Overdue timers that had no attempt under way, and were woken.",
	}, []string{labelType})
	t.unreadable = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "wakecall_unreadable_total", Help: "Overdue timers that were skipped, because their run could not be read.",
	})
	t.resent = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "wakecall_resent_total",
		Help: "Attempts that were sent once more, because the receiver closed a reused connection without an answer.",
	})
	build := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "wakecall_build_info", Help: "Constant 1.", ConstLabels: prometheus.Labels{"version": version},
	}, func() float64 { return 1 })
	registry.MustRegister(t.requests, t.policies, t.streams, t.overdue, t.unreadable, t.resent, t.failover.died, t.failover.freed, build,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	t.beginType(other, true)
	return t, nil
}

// Resent counts attempts sent again on a new connection.
func (t *Telemetry) Resent() { t.resent.Inc() }

// Overdue counts overdue timers without a delivery in progress.
func (t *Telemetry) Overdue(businessType string, timers int) {
	t.Labelled(businessType, func(label string) { t.overdue.WithLabelValues(label).Add(float64(timers)) })
}

// PoliciesListed records the policies in force. Their types become labels; the series of other
// types end.
func (t *Telemetry) PoliciesListed(seen []policy.Policy) {
	t.labels.mu.Lock()
	for _, businessType := range t.labels.renew(seen) {
		t.overdue.DeleteLabelValues(businessType)
		for _, room := range t.rooms {
			room.End(businessType)
		}
	}
	shown := slices.DeleteFunc(slices.Clone(seen), func(p policy.Policy) bool { return !t.labels.types[p.BusinessType] })
	for _, policy := range shown {
		t.beginType(policy.BusinessType, policy.Fallback != nil)
	}
	t.labels.mu.Unlock()
	t.policies.show(shown)
}

// Paused records the emergencies in force.
func (t *Telemetry) Paused(emergencies []policy.Emergency) { t.policies.showPaused(emergencies) }

// Unreadable counts overdue timers whose run could not be read.
func (t *Telemetry) Unreadable(timers int) { t.unreadable.Add(float64(timers)) }

// Queue shows how many bookings wait for Temporal.
func (t *Telemetry) Queue(bookings func() int) {
	t.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "wakecall_queued_bookings", Help: "Bookings that wait at this gateway until Temporal can take them.",
	}, func() float64 { return float64(bookings()) }))
}

// Requested counts one API request by the template of its route, empty if there is none. It
// precedes authentication, so its labels are closed.
func (t *Telemetry) Requested(method, template string, status int, took time.Duration) {
	method, template = Method(method), route(template)
	t.beginRoute(method, template)
	t.requests.WithLabelValues(method, template, strconv.Itoa(status)).Observe(took.Seconds())
}

// SDK returns the handler for the Temporal SDK's own metrics.
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

// Shutdown stops the exporters.
func (t *Telemetry) Shutdown(ctx context.Context) error {
	if err := t.traces.Shutdown(ctx); err != nil {
		return err
	}
	return t.provider.Shutdown(ctx)
}
