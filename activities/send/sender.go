package send

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/wakecall/wakecall/core/delivery"
)

// Transport carries envelopes to the destinations of one kind. It is safe for
// concurrent use.
type Transport interface {
	// Send makes one attempt, which ends with ctx at the latest. All that it starts for the
	// attempt ends with it.
	Send(ctx context.Context, e Envelope) Outcome
}

// Transports has a transport for each reachable kind of destination.
type Transports map[delivery.DestinationKind]Transport

// Sender sends messages by any transport. It is safe for concurrent use.
type Sender struct {
	transports Transports
	tracer     trace.Tracer
}

// New returns a Sender over the given transports.
func New(transports Transports, tracer trace.Tracer) *Sender {
	return &Sender{transports: transports, tracer: tracer}
}

// Send makes one attempt within the message's timeout. It does not judge the answer.
func (s *Sender) Send(ctx context.Context, m Message) Outcome {
	transport := s.transports[m.Destination.Kind()]
	if transport == nil {
		return Failed(delivery.NoReceiver)
	}
	ctx, cancel := context.WithTimeout(ctx, m.Timeout)
	defer cancel()
	ctx = trace.ContextWithRemoteSpanContext(ctx, m.Parent)
	ctx, span := s.tracer.Start(ctx, "callback", trace.WithSpanKind(trace.SpanKindClient))
	defer span.End()
	envelope := m.envelope(time.Now())
	propagation.TraceContext{}.Inject(ctx, propagation.MapCarrier(envelope.Headers))
	outcome := transport.Send(ctx, envelope)
	outcome.NoVerdict = outcome.NoVerdict || outcome.Class == delivery.OutOfResources
	return outcome
}
