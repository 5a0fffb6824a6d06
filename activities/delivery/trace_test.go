package delivery

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"go.temporal.io/sdk/converter"

	"github.com/wakecall/wakecall/activities/send"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
)

// carried is a transport that shows what it is given.
type carried func(send.Envelope)

func (c carried) Send(_ context.Context, e send.Envelope) send.Outcome {
	c(e)
	return send.Outcome{}
}

func TestAttemptsShareATrace(t *testing.T) {
	t.Parallel()
	const own = "4bf92f3577b34da6a3ce929d0e0e4736"
	var got send.Envelope
	sender := send.New(send.Transports{delivery.DestinationHTTP: carried(func(e send.Envelope) { got = e })}, sdktrace.NewTracerProvider().Tracer(""))
	try := func(booking, traceParent string) (traceID, spanID string) {
		spec := timer.Spec{Key: wire.Key{BusinessType: "order-close", BusinessID: "1"}}
		spec.Booking, spec.TraceParent = booking, traceParent
		c := settings{callback: delivery.Callback{Destination: delivery.HTTP("http://receiver.example"), Timeout: wire.Duration(time.Second)}}
		sender.Send(t.Context(), attempt{settings: c, delivery: timer.Delivery{Spec: spec}, payload: converter.NewRawValue(nil)}.message())
		parts := strings.Split(got.Headers["traceparent"], "-")
		require.Len(t, parts, 4)
		return parts[1], parts[2]
	}

	first, span := try("a", "")
	second, sibling := try("a", "")
	require.Equal(t, first, second, "the attempts of one delivery")
	require.NotEqual(t, span, sibling, "each is a span of its own")
	other, _ := try("b", "")
	require.NotEqual(t, first, other, "another booking is another delivery")
	booked, _ := try("a", "00-"+own+"-00f067aa0ba902b7-01")
	require.Equal(t, own, booked, "the trace of the booking goes on")
	for _, malformed := range []string{
		"00-00000000000000000000000000000000-00f067aa0ba902b7-01", "00-" + own + "-0000000000000000-01",
		"ff-" + own + "-00f067aa0ba902b7-01", strings.Repeat("x", 55),
	} {
		derived, _ := try("a", malformed)
		require.Equal(t, first, derived, malformed)
	}
}

func TestDerivedParentIsValid(t *testing.T) {
	t.Parallel()
	parent := parentOf(timer.Spec{})
	require.True(t, parent.IsValid())
	require.True(t, parent.IsRemote())
	require.Equal(t, trace.FlagsSampled, parent.TraceFlags())
}
