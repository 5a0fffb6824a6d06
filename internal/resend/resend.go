// Package resend bounds how often net/http sends one request.
//
// An HTTP/2 server may turn a request away without looking at it, on each connection (GOAWAY). net/http
// then opens another one, as fast as it can, until the time of the request is up.
package resend

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
)

// errTurnedAway is the error of a request that was sent often enough.
var errTurnedAway = errors.New("the server turned the request away on each connection")

// Bounded is a transport that opens no further connection for a request that it has sent often
// enough. [Bound] makes one.
type Bounded struct{ *http.Transport }

// sends is the key of the number of times that a request was sent, in the context of a dial.
type sends struct{}

// Bound returns a copy of the default transport, which sends a request at most so many times on
// connections of its own.
func Bound(most int32) Bounded {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	dial := transport.DialContext
	transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		if sent, ok := ctx.Value(sends{}).(*atomic.Int32); ok && sent.Load() >= most {
			return nil, errTurnedAway
		}
		return dial(ctx, network, address)
	}
	return Bounded{transport}
}

// RoundTrip implements [http.RoundTripper].
func (b Bounded) RoundTrip(request *http.Request) (*http.Response, error) {
	var sent atomic.Int32
	ctx := httptrace.WithClientTrace(context.WithValue(request.Context(), sends{}, &sent),
		&httptrace.ClientTrace{WroteHeaders: func() { sent.Add(1) }})
	return b.Transport.RoundTrip(request.WithContext(ctx))
}
