package delivery

import (
	"context"
	"crypto/sha256"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/wakecall/wakecall/core/timer"
)

// parentOf is the parent span of all attempts of a delivery: the span of the booking request,
// or, without one, a span made from the webhook id. So the attempts share a trace in any case.
func parentOf(spec timer.Spec) trace.SpanContext {
	booked := propagation.TraceContext{}.Extract(context.Background(), propagation.MapCarrier{"traceparent": spec.TraceParent})
	if parent := trace.SpanContextFromContext(booked); parent.IsValid() {
		return parent
	}
	sum := sha256.Sum256([]byte(spec.WebhookID()))
	traceID, spanID := trace.TraceID(sum[:16]), trace.SpanID(sum[16:24])
	traceID[0], spanID[0] = traceID[0]|1, spanID[0]|1 // W3C: an id of zeros only is invalid
	return trace.NewSpanContext(trace.SpanContextConfig{
		TraceID: traceID, SpanID: spanID, TraceFlags: trace.FlagsSampled, Remote: true,
	})
}
