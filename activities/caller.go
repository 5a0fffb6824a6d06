package activities

import (
	"context"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/go-resty/resty/v2"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/wakecall/wakecall/timer"
)

// Caller makes one attempt at a time to reach a receiver, and judges nothing.
type Caller struct {
	links  *links
	tracer trace.Tracer
	resent func()
}

// NewCaller returns a Caller that sends through the given transport. resent is
// told of every attempt that was sent once more.
func NewCaller(transport *http.Transport, tracer trace.Tracer, userAgent string, resent func()) *Caller {
	return &Caller{links: newLinks(transport, userAgent), tracer: tracer, resent: resent}
}

func clientOn(transport http.RoundTripper, userAgent string) *resty.Client {
	client := resty.NewWithClient(&http.Client{
		Transport: transport,
		// A 3xx is a failed attempt. Following it would carry headers to
		// another host and could end at a metadata address.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	})
	// Without a length resty sends no body as a chunk of nothing, which simple
	// servers read as the beginning of the next request.
	client.SetContentLength(true)
	return client.SetDoNotParseResponse(true).SetHeader("User-Agent", userAgent).SetLogger(silent{})
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

	link, err := c.links.of(r.tls)
	if err != nil {
		return exchange{ended: time.Now(), answer: timer.Answer{Trouble: timer.TLSFailure}}
	}
	sent := send(ctx, link.client, r)
	if sent.dropped() && ctx.Err() == nil {
		c.resent()
		sent = sent.then(send(ctx, link.fresh, r))
	}
	x = exchange{firstByte: sent.firstByte, ended: time.Now()}
	if sent.err != nil {
		x.answer = timer.Answer{Trouble: sent.trouble}
		return x
	}
	header := sent.response.Header()
	x.answer = timer.Answer{
		Status:     sent.response.StatusCode(),
		RetryAfter: header.Get("Retry-After"),
		NoRetry:    strings.EqualFold(strings.TrimSpace(header.Get(HeaderNoRetry)), "true"),
	}
	drain(sent.response.RawBody(), cancel)
	return x
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
