package httpsend

import (
	"context"
	"crypto/x509"
	"io"
	"net/http"
	"net/netip"
	"time"

	"github.com/go-resty/resty/v2"

	"github.com/wakecall/wakecall/activities/send"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/internal/tuning"
)

// Config configures a [Transport].
type Config struct {
	// Allowed are addresses that may be reached in addition to the public ones.
	Allowed []netip.Prefix
	// Roots sign the certificates of receivers, nil for those of the system.
	Roots     *x509.CertPool
	UserAgent string
	// Resent is called for every attempt that was sent once more.
	Resent func()
}

// Transport carries messages as POST requests.
type Transport struct {
	transports *transports
	resent     func()
}

// New returns a Transport.
func New(config Config) *Transport {
	return &Transport{transports: newTransports(roundTripper(config.Allowed, config.Roots), config.UserAgent), resent: config.Resent}
}

// Close closes idle connections. Attempts in flight go on.
func (t *Transport) Close() { t.transports.close() }

func clientOn(transport http.RoundTripper, userAgent string) *resty.Client {
	client := resty.NewWithClient(&http.Client{Transport: unmoved{transport}})
	// Without a length resty sends an empty body as an empty chunk. Simple servers read that
	// as the beginning of the next request.
	client.SetContentLength(true)
	// Nothing is decompressed, so receivers are asked not to compress: without the header
	// any coding is allowed (RFC 9110, section 12.5.3).
	client.SetHeader("Accept-Encoding", "identity")
	return client.SetDoNotParseResponse(true).SetHeader("User-Agent", userAgent).SetLogger(silent{})
}

// unmoved hides from the client where a redirect leads. A 3xx is a failed attempt. Following it
// would carry headers to another host and could end at a metadata address. An http.Client that
// does not follow still reads the Location, and drops the whole answer if that is no URL.
type unmoved struct{ http.RoundTripper }

func (u unmoved) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := u.RoundTripper.RoundTrip(watched(r))
	if err == nil {
		response.Header.Del("Location")
	}
	return response, err
}

// Send posts an envelope to its URL, and never follows a redirect.
func (t *Transport) Send(ctx context.Context, e send.Envelope) send.Outcome {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	via, err := t.transports.transportFor(e.TLS)
	if err != nil {
		return send.Failed(delivery.TLSFailure)
	}
	sent := post(ctx, via.client, e)
	if sent.dropped() && ctx.Err() == nil {
		t.resent()
		sent = sent.then(post(ctx, via.fresh, e))
	}
	outcome := send.Outcome{FirstByte: sent.firstByte, Ended: time.Now()}
	if sent.err != nil {
		outcome.Answer = delivery.Answer{Class: sent.class}
		return outcome
	}
	outcome.TLS = seenOf(sent.response.RawResponse.TLS)
	outcome.Answer = AnswerOf(sent.response.StatusCode(), sent.response.Header(), outcome.Ended)
	if e.Answer > 0 && outcome.Delivered {
		return read(sent.response.RawBody(), e.Answer, outcome)
	}
	beginning := drain(sent.response.RawBody(), cancel)
	if !outcome.Delivered {
		outcome.Text = delivery.Excerpted(beginning)
	}
	return outcome
}

// read reads the wanted part of an answer. An answer that breaks off, or that outlasts the
// attempt, did not deliver.
func read(body io.ReadCloser, most int, outcome send.Outcome) send.Outcome {
	text, err := io.ReadAll(io.LimitReader(body, int64(most)+1))
	_ = body.Close()
	outcome.Ended = time.Now()
	if err != nil {
		outcome.Answer = delivery.Answer{Class: send.Classify(err), Status: outcome.Status}
		return outcome
	}
	outcome.Body = text
	return outcome
}

// drain returns the beginning of an answer. It reads at most [delivery.MaxResponseRead] and
// closes the body. A connection that a 101 has handed over knows no context: only closing it
// ends a read.
func drain(body io.ReadCloser, cancel context.CancelFunc) (beginning []byte) {
	stop := time.AfterFunc(tuning.AnswerDrain, func() { cancel(); _ = body.Close() })
	defer stop.Stop()
	beginning, _ = io.ReadAll(io.LimitReader(body, delivery.MaxAnswer+1))
	_, _ = io.Copy(io.Discard, io.LimitReader(body, delivery.MaxResponseRead-delivery.MaxAnswer-1))
	_ = body.Close()
	return beginning
}

// silent keeps resty from writing URLs and headers to a log.
type silent struct{}

func (silent) Errorf(string, ...any) {}
func (silent) Warnf(string, ...any)  {}
func (silent) Debugf(string, ...any) {}
