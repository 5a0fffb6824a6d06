package httpsend

import (
	"context"
	"crypto/tls"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
	"time"

	"github.com/go-resty/resty/v2"
	"golang.org/x/net/http2"

	"github.com/wakecall/wakecall/activities/send"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/internal/errtype"
)

// transmission is one request that was sent, or tried to be.
type transmission struct {
	response  *resty.Response
	err       error
	class     delivery.FailureClass // the class of err
	firstByte time.Time             // zero when nothing was sent
	// kept reports whether the connection had served another request before, and
	// answered whether a byte of an answer came.
	kept, answered bool
}

func post(ctx context.Context, client *resty.Client, e send.Envelope) (t transmission) {
	var wire wire
	request := client.R().SetContext(wire.watch(ctx)).SetHeaders(e.Headers)
	if e.ContentType != "" {
		request.SetHeader("Content-Type", e.ContentType)
	}
	if len(e.Body) > 0 {
		request.SetBody(e.Body)
	}
	method := http.MethodPost
	if e.Ask {
		method = http.MethodGet
	}
	t.response, t.err = request.Execute(method, e.Destination.URL)
	t.kept, t.answered = wire.kept.Load(), wire.answered.Load()
	if sent := wire.firstByte.Load(); sent != nil {
		t.firstByte = *sent
	}
	if t.err != nil {
		t.class = wire.classify(t.err)
	}
	return t
}

// dropped reports whether the receiver has closed a kept connection before it said a
// word, as it may do at any time: most likely it never saw the request. net/http
// itself sends a POST again only when no byte of it was written, or when an HTTP/2
// receiver says that it did not look at it (GOAWAY, REFUSED_STREAM).
func (t transmission) dropped() bool {
	return t.class == delivery.BrokenAnswer && t.kept && !t.answered && !errtype.Is[http2.StreamError](t.err)
}

// then is what came of sending the same once more.
func (t transmission) then(again transmission) transmission {
	if again.firstByte.IsZero() {
		again.firstByte = t.firstByte
	}
	return again
}

// wire sees what the transport does. The transport has goroutines of its own.
type wire struct {
	firstByte                           atomic.Pointer[time.Time]
	kept, answered, handshakeBad, asked atomic.Bool
}

// asking is the key of the wire in the context of a handshake.
type asking struct{}

// showing answers a receiver that asks for a client certificate, and notes that it
// did. An empty certificate is none.
func showing(certificate *tls.Certificate) func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
	return func(info *tls.CertificateRequestInfo) (*tls.Certificate, error) {
		if w, ok := info.Context().Value(asking{}).(*wire); ok {
			w.asked.Store(true)
		}
		return certificate, nil
	}
}

func (w *wire) watch(ctx context.Context) context.Context {
	ctx = context.WithValue(ctx, asking{}, w)
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn:              func(info httptrace.GotConnInfo) { w.kept.Store(info.Reused) },
		WroteHeaders:         func() { now := time.Now(); w.firstByte.CompareAndSwap(nil, &now) },
		GotFirstResponseByte: func() { w.answered.Store(true) },
		TLSHandshakeDone: func(_ tls.ConnectionState, err error) {
			if err != nil {
				w.handshakeBad.Store(true)
			}
		},
	})
}

// classify names the class of a transport failure. Most errors of a handshake
// have no type by which they could be told.
func (w *wire) classify(err error) delivery.FailureClass {
	class := send.Classify(err)
	switch {
	case class == delivery.BrokenAnswer && w.handshakeBad.Load():
		return delivery.TLSFailure
	case class == delivery.TLSProtocol && w.asked.Load():
		// Up to TLS 1.2 a receiver that is shown no certificate may say nothing
		// but that the handshake failed. It had chosen version and cipher by then.
		return delivery.TLSClientCertificate
	}
	return class
}
