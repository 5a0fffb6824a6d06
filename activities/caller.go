package activities

import (
	"context"
	"crypto/tls"
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-resty/resty/v2"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/wakecall/wakecall/timer"
)

// Caller sends one POST at a time to a receiver, and judges nothing.
type Caller struct {
	client *resty.Client
	tracer trace.Tracer
}

// NewCaller returns a Caller that sends through the given transport.
func NewCaller(transport http.RoundTripper, tracer trace.Tracer, userAgent string) *Caller {
	client := resty.NewWithClient(&http.Client{
		Transport: transport,
		// A 3xx is a failed attempt. Following it would carry headers to
		// another host and could end at a metadata address.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	})
	client.SetDoNotParseResponse(true).SetHeader("User-Agent", userAgent).SetLogger(silent{})
	return &Caller{client: client, tracer: tracer}
}

// exchange is what happened on the wire.
type exchange struct {
	firstByte time.Time // zero when nothing was sent
	ended     time.Time
	answer    timer.Answer
}

// drainTime bounds the wait for the rest of an answer whose status is known:
// reading it only serves to keep the connection.
const drainTime = 500 * time.Millisecond

func (c *Caller) call(ctx context.Context, r request) (x exchange) {
	if r.url == "" {
		return exchange{ended: time.Now(), answer: timer.Answer{Trouble: timer.NoReceiver}}
	}
	ctx, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	ctx = trace.ContextWithRemoteSpanContext(ctx, r.parent)
	ctx, span := c.tracer.Start(ctx, "callback", trace.WithSpanKind(trace.SpanKindClient))
	defer span.End()
	propagation.TraceContext{}.Inject(ctx, propagation.MapCarrier(r.headers))
	var wire wire

	request := c.client.R().SetContext(wire.watch(ctx)).SetHeaders(r.headers)
	if len(r.body) > 0 {
		request.SetBody(r.body)
	}
	response, err := request.Post(r.url)
	x.ended = time.Now()
	if sent := wire.firstByte.Load(); sent != nil {
		x.firstByte = *sent
	}
	if err != nil {
		x.answer = timer.Answer{Trouble: wire.classify(err)}
		return x
	}
	x.answer = timer.Answer{
		Status:     response.StatusCode(),
		RetryAfter: response.Header().Get("Retry-After"),
		NoRetry:    strings.EqualFold(strings.TrimSpace(response.Header().Get(HeaderNoRetry)), "true"),
	}
	drain(response.RawBody(), cancel)
	return x
}

// wire sees what the transport does. The transport has goroutines of its own.
type wire struct {
	firstByte    atomic.Pointer[time.Time]
	handshakeBad atomic.Bool
}

func (w *wire) watch(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		WroteHeaders: func() { now := time.Now(); w.firstByte.CompareAndSwap(nil, &now) },
		TLSHandshakeDone: func(_ tls.ConnectionState, err error) {
			if err != nil {
				w.handshakeBad.Store(true)
			}
		},
	})
}

// classify names the class of a transport failure. Most errors of a handshake
// have no type by which they could be told.
func (w *wire) classify(err error) timer.Trouble {
	trouble := classify(err)
	if trouble == timer.BrokenAnswer && w.handshakeBad.Load() {
		return timer.TLSFailure
	}
	return trouble
}

// drain reads at most [timer.MaxResponseRead] of an answer and closes it. A
// connection that a 101 has handed over knows no context: closing it is what
// ends a read.
func drain(body io.ReadCloser, cancel context.CancelFunc) {
	stop := time.AfterFunc(drainTime, func() { cancel(); _ = body.Close() })
	defer stop.Stop()
	_, _ = io.Copy(io.Discard, io.LimitReader(body, timer.MaxResponseRead))
	_ = body.Close()
}

// silent keeps resty from writing URLs and headers to a log.
type silent struct{}

func (silent) Errorf(string, ...any) {}
func (silent) Warnf(string, ...any)  {}
func (silent) Debugf(string, ...any) {}
