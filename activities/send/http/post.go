package httpsend

import (
	"context"
	"crypto/tls"
	"io"
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

// transmission is one request that was sent, or tried.
type transmission struct {
	response  *resty.Response
	err       error
	class     delivery.FailureClass // the class of err
	firstByte time.Time             // zero when nothing was sent
	// kept reports whether the connection had served another request before. answered
	// reports whether a byte of an answer came.
	kept, answered bool
}

func post(ctx context.Context, client *resty.Client, e send.Envelope) (t transmission) {
	wire := wire{bodiless: len(e.Body) == 0}
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

// dropped reports whether the receiver has closed a kept connection without an answer, as it
// may at any time: most likely it never saw the request. net/http itself resends a POST only
// in two cases: no byte of it was written, or an HTTP/2 receiver says that it did not look
// at it (GOAWAY, REFUSED_STREAM).
func (t transmission) dropped() bool {
	return t.class == delivery.BrokenAnswer && t.kept && !t.answered && !errtype.Is[http2.StreamError](t.err)
}

// then is the outcome of sending the request once more.
func (t transmission) then(again transmission) transmission {
	if again.firstByte.IsZero() {
		again.firstByte = t.firstByte
	}
	return again
}

// wire observes the transport, which uses its own goroutines.
type wire struct {
	firstByte                           atomic.Pointer[time.Time]
	sent                                atomic.Int32 // how often net/http has sent the request
	kept, answered, handshakeBad, asked atomic.Bool
	// away reports whether the receiver has turned the request away, and net/http has not begun to
	// send it again. It is not seen of a request without a body.
	away     atomic.Bool
	bodiless bool
}

// asking is the key of the wire in the context of a dial and of a handshake.
type asking struct{}

// showing answers a receiver that asks for a client certificate, and records the request. An
// empty certificate means none.
func showing(certificate *tls.Certificate) func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
	return func(info *tls.CertificateRequestInfo) (*tls.Certificate, error) {
		if w, ok := info.Context().Value(asking{}).(*wire); ok {
			w.asked.Store(true)
		}
		return certificate, nil
	}
}

// watched is the request, of which the wire sees when net/http begins its body anew.
func watched(r *http.Request) *http.Request {
	w, ok := r.Context().Value(asking{}).(*wire)
	if !ok || r.GetBody == nil {
		return r
	}
	seen := r.WithContext(r.Context())
	seen.GetBody = func() (io.ReadCloser, error) {
		w.away.Store(true)
		return r.GetBody()
	}
	return seen
}

func (w *wire) watch(ctx context.Context) context.Context {
	ctx = context.WithValue(ctx, asking{}, w)
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn:              func(string) { w.away.Store(false) },
		GotConn:              func(info httptrace.GotConnInfo) { w.kept.Store(info.Reused) },
		WroteHeaders:         func() { now := time.Now(); w.firstByte.CompareAndSwap(nil, &now); w.sent.Add(1) },
		GotFirstResponseByte: func() { w.answered.Store(true) },
		TLSHandshakeDone: func(_ tls.ConnectionState, err error) {
			if err != nil {
				w.handshakeBad.Store(true)
			}
		},
	})
}

// classify names the class of a transport failure. Most handshake errors have no
// distinguishing type.
func (w *wire) classify(err error) delivery.FailureClass {
	class := send.Classify(err)
	switch {
	case class == delivery.Timeout && w.turnedAway():
		return delivery.BrokenAnswer
	case class == delivery.BrokenAnswer && w.handshakeBad.Load():
		return delivery.TLSFailure
	case class == delivery.TLSProtocol && w.asked.Load():
		// Up to TLS 1.2 a receiver that gets no certificate may say only that the handshake
		// failed. By then it had chosen version and cipher.
		return delivery.TLSClientCertificate
	}
	return class
}

// turnedAway reports whether the receiver had refused the request last (REFUSED_STREAM): it did not
// process it (RFC 9113, section 8.7). net/http sends it again on the same connection after a pause,
// which doubles. The timeout that ends the pause is not the receiver's. Of a request without a body
// it is not seen whether the last one was refused too.
func (w *wire) turnedAway() bool {
	return w.away.Load() || w.bodiless && w.kept.Load() && w.sent.Load() > 1
}
