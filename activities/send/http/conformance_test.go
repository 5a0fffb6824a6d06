package httpsend

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/activities/send"
	"github.com/wakecall/wakecall/activities/send/sendtest"
	"github.com/wakecall/wakecall/core/delivery"
)

// receivers are the receivers of the suite, on one server.
type receivers struct {
	mu       sync.Mutex
	received []sendtest.Received
}

func (rs *receivers) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	rs.mu.Lock()
	headers := map[string]string{}
	for name := range r.Header {
		headers[name] = strings.Join(r.Header.Values(name), "\n")
	}
	rs.received = append(rs.received, sendtest.Received{
		ID: r.Header.Get(send.HeaderWebhookID), ContentType: r.Header.Get("Content-Type"), Headers: headers, Body: body,
	})
	rs.mu.Unlock()
	switch paths[strings.TrimPrefix(r.URL.Path, "/")] {
	case sendtest.Refuse:
		w.WriteHeader(http.StatusConflict)
	case sendtest.RefuseForGood:
		w.WriteHeader(http.StatusGone)
	case sendtest.AskPatience:
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(http.StatusServiceUnavailable)
	case sendtest.NeverAnswer:
		<-r.Context().Done()
	case sendtest.Break:
		panic(http.ErrAbortHandler) //nolint:forbidigo // net/http's own way to hang up
	default: // it is accepted
	}
}

func (rs *receivers) all() []sendtest.Received {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	return slices.Clone(rs.received)
}

var paths = map[string]sendtest.Behaviour{
	"accept": sendtest.Accept, "refuse": sendtest.Refuse, "gone": sendtest.RefuseForGood, "later": sendtest.AskPatience,
	"silence": sendtest.NeverAnswer, "break": sendtest.Break,
}

func TestConformance(t *testing.T) {
	nobody, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, nobody.Close())
	sendtest.Run(t, func(t *testing.T) sendtest.Subject {
		rs := &receivers{}
		server := httptest.NewServer(rs)
		transport := New(Config{Allowed: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, UserAgent: "test", Resent: func() {}})
		urls := map[sendtest.Behaviour]string{sendtest.Unreachable: "http://" + nobody.Addr().String() + "/"}
		for path, behaviour := range paths {
			urls[behaviour] = server.URL + "/" + path
		}
		return sendtest.Subject{
			Transport: transport, Received: rs.all,
			Destination: func(b sendtest.Behaviour) (delivery.Destination, bool) {
				return delivery.HTTP(urls[b] + "?token=" + sendtest.Secret), true
			},
			Close: func() {
				transport.Close()
				server.CloseClientConnections()
				server.Close()
			},
		}
	})
}
