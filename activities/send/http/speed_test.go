package httpsend

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/wakecall/wakecall/activities/send"
	"github.com/wakecall/wakecall/core/delivery"
)

// The cost of sending a callback, including the receiver in the same process.
func BenchmarkSend(b *testing.B) {
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	transport := New(Config{Allowed: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, UserAgent: "test", Resent: func() {}})
	defer transport.Close()
	sender := send.New(send.Transports{delivery.DestinationHTTP: transport}, noop.NewTracerProvider().Tracer(""))
	message := send.Message{
		ID: "msg_1", Destination: delivery.HTTP(server.URL), ContentType: "application/json", Body: []byte(`{"id":"i-1","text":"Your appointment is tomorrow at nine."}`),
		Headers: map[string]string{send.HeaderBusinessType: "mass", send.HeaderBusinessID: "i-1", send.HeaderAttempt: "1", send.HeaderDispatch: "d"},
		Secrets: []string{"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}, Timeout: 10 * time.Second,
	}
	b.ReportAllocs()
	b.SetParallelism(16)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			require.True(b, sender.Send(b.Context(), message).Delivered)
		}
	})
}
