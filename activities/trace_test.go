package activities

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"go.temporal.io/sdk/converter"

	"github.com/wakecall/wakecall/timer"
)

func TestAttemptsShareATrace(t *testing.T) {
	t.Parallel()
	const own = "4bf92f3577b34da6a3ce929d0e0e4736"
	var got http.Header
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = r.Header }))
	t.Cleanup(server.Close)
	transport := NewTransport([]netip.Prefix{loopback}, nil)
	t.Cleanup(transport.CloseIdleConnections)
	caller := NewCaller(transport, sdktrace.NewTracerProvider().Tracer(""), "test", func() {})
	attempt := func(booking, traceParent string) (traceID, spanID string) {
		spec := timer.Spec{Key: timer.Key{BusinessType: "order-close", BusinessID: "1"}}
		spec.Booking, spec.TraceParent = booking, traceParent
		p := plan{callback: timer.Callback{URL: server.URL, Timeout: timer.Duration(time.Second)}}
		require.Equal(t, http.StatusOK, caller.call(t.Context(), p.request(try{delivery: timer.Delivery{Spec: spec}, payload: converter.NewRawValue(nil)})).answer.Status)
		parts := strings.Split(got.Get("traceparent"), "-")
		require.Len(t, parts, 4)
		return parts[1], parts[2]
	}

	first, span := attempt("a", "")
	second, sibling := attempt("a", "")
	require.Equal(t, first, second, "the attempts of one delivery")
	require.NotEqual(t, span, sibling, "each is a span of its own")
	other, _ := attempt("b", "")
	require.NotEqual(t, first, other, "another booking is another delivery")
	booked, _ := attempt("a", "00-"+own+"-00f067aa0ba902b7-01")
	require.Equal(t, own, booked, "the trace of the booking goes on")
	for _, malformed := range []string{
		"00-00000000000000000000000000000000-00f067aa0ba902b7-01", "00-" + own + "-0000000000000000-01",
		"ff-" + own + "-00f067aa0ba902b7-01", strings.Repeat("x", 55),
	} {
		derived, _ := attempt("a", malformed)
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
