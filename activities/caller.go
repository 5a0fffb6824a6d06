package activities

import (
	"context"
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
	ctx, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	carrier := propagation.MapCarrier{"traceparent": r.traceParent}
	ctx = propagation.TraceContext{}.Extract(ctx, carrier)
	ctx, span := c.tracer.Start(ctx, "callback", trace.WithSpanKind(trace.SpanKindClient))
	defer span.End()
	propagation.TraceContext{}.Inject(ctx, propagation.MapCarrier(r.headers))
	var firstByte atomic.Pointer[time.Time] // the transport writes in a goroutine of its own
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		WroteHeaders: func() { now := time.Now(); firstByte.CompareAndSwap(nil, &now) },
	})

	request := c.client.R().SetContext(ctx).SetHeaders(r.headers)
	if len(r.body) > 0 {
		request.SetBody(r.body)
	}
	response, err := request.Post(r.url)
	x.ended = time.Now()
	if sent := firstByte.Load(); sent != nil {
		x.firstByte = *sent
	}
	if err != nil {
		x.answer = timer.Answer{Trouble: classify(err)}
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

// drain reads at most [timer.MaxResponseRead] of an answer and closes it.
func drain(body io.ReadCloser, cancel context.CancelFunc) {
	stop := time.AfterFunc(drainTime, cancel)
	defer stop.Stop()
	_, _ = io.Copy(io.Discard, io.LimitReader(body, timer.MaxResponseRead))
	_ = body.Close()
}

// silent keeps resty from writing URLs and headers to a log.
type silent struct{}

func (silent) Errorf(string, ...any) {}
func (silent) Warnf(string, ...any)  {}
func (silent) Debugf(string, ...any) {}
