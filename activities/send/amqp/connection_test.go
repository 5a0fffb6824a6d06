package amqpsend

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http/httptest"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/activities/send"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/internal/rabbit"
	"github.com/wakecall/wakecall/internal/tuning"
)

// Only a broker that fails again and again is left alone for long. A connection that lasted ends that.
func TestPausesOfABroker(t *testing.T) {
	t.Parallel()
	b := newBroker(Broker{Name: "main"})
	for range 20 {
		b.failed(errUnsteady)
	}
	require.Equal(t, tuning.BrokerLongestPause, b.pause)
	b.current = &connection{opened: time.Now()}
	b.broken()
	require.Equal(t, tuning.BrokerLongestPause, b.pause, "one that broke at once proves nothing")
	b.current = &connection{opened: time.Now().Add(-tuning.BrokerLongestPause)}
	b.broken()
	b.failed(errUnsteady)
	require.Equal(t, tuning.BrokerFirstPause, b.pause)
}

// terminated is a listener with TLS before a broker.
func terminated(t *testing.T, broker string, settings *tls.Config) (address string) {
	listener, err := tls.Listen("tcp", "127.0.0.1:0", settings)
	require.NoError(t, err)
	var running sync.WaitGroup
	running.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", broker)
			require.NoError(t, err)
			for from, to := range map[net.Conn]net.Conn{client: server, server: client} {
				running.Go(func() {
					_, _ = io.Copy(to, from)
					_, _ = client.Close(), server.Close()
				})
			}
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		running.Wait()
	})
	return listener.Addr().String()
}

// Over TLS only a broker with a valid certificate for its name is called.
func overTLS(t *testing.T, server *rabbit.Server) {
	example := httptest.NewTLSServer(nil) // whose certificate is for 127.0.0.1
	example.Close()
	address := terminated(t, server.Address, &tls.Config{Certificates: example.TLS.Certificates})
	roots := x509.NewCertPool()
	roots.AddCert(example.Certificate())
	newConsumer(t, server.URL).declares(taking, nil)
	for name, c := range map[string]struct {
		settings *tls.Config
		class    delivery.FailureClass
	}{
		"an authority that is trusted": {&tls.Config{RootCAs: roots}, delivery.NoFailure},
		"one that is not":              {&tls.Config{RootCAs: x509.NewCertPool()}, delivery.TLSUnknownIssuer},
		"another host's certificate":   {&tls.Config{RootCAs: roots, ServerName: "other.example"}, delivery.TLSWrongName},
	} {
		transport := New([]Broker{{Name: "main", URL: "amqps://guest:guest@" + address + "/", TLS: c.settings}})
		outcome := attempt(t, transport, to("main", taking))
		require.Equal(t, c.class, outcome.Class, name)
		require.Equal(t, c.class == delivery.NoFailure, outcome.Delivered, name)
		transport.Close()
	}
}

// A broker without heartbeats is given up, and the transport connects again.
func fallsSilent(t *testing.T, server *rabbit.Server) {
	var connections atomic.Int64
	proxy := rabbit.NewProxy(t, server.Address, func() rabbit.Misbehaviour {
		if connections.Add(1) == 1 {
			return rabbit.FallsSilent()
		}
		return rabbit.Behaves()
	})
	defer proxy.Close()
	transport := New([]Broker{{Name: "main", URL: proxy.URL, Heartbeat: time.Second}})
	defer transport.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	silent := transport.Send(ctx, send.Envelope{ID: "msg_1", Destination: to("main", taking)})
	require.Equal(t, delivery.Timeout, silent.Class)
	delivers(t, transport)
	require.EqualValues(t, 2, connections.Load())
}

// A broker whose connection takes longer than an attempt's time is connected to all the
// same: later attempts find the connection.
func farAway(t *testing.T, server *rabbit.Server) {
	var mu sync.Mutex
	ended := 0
	waiting := map[int][]chan struct{}{} // by the attempts that have to end first
	proxy := rabbit.NewProxy(t, server.Address, func() rabbit.Misbehaviour {
		mu.Lock()
		defer mu.Unlock()
		until := make(chan struct{})
		waiting[ended+2] = append(waiting[ended+2], until)
		return rabbit.WaitsFor(until)
	})
	end := func(attempts int) {
		mu.Lock()
		defer mu.Unlock()
		for range attempts {
			ended++
			for _, until := range waiting[ended] {
				close(until)
			}
		}
	}
	transport := New([]Broker{{Name: "main", URL: proxy.URL}})
	defer func() {
		end(2)
		transport.Close()
		proxy.Close()
	}()
	newConsumer(t, server.URL).declares(taking, nil)
	require.Eventually(t, func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		defer end(1)
		return transport.Send(ctx, send.Envelope{ID: "msg_1", Destination: to("main", taking)}).Delivered
	}, 2*time.Minute, time.Millisecond, "it is connected to")
}

// A broker with short-lived connections is not flooded: in between attempts fail at once,
// and nothing is sent.
func unsteady(t *testing.T, server *rabbit.Server) {
	var connections atomic.Int64
	proxy := rabbit.NewProxy(t, server.Address, func() rabbit.Misbehaviour {
		connections.Add(1)
		return rabbit.HangsUp()
	})
	defer proxy.Close()
	transport := New([]Broker{{Name: "main", URL: proxy.URL}})
	defer transport.Close()
	const attempts = 100
	var unsent int64
	for range attempts {
		outcome := attempt(t, transport, to("main", taking))
		require.False(t, outcome.Delivered)
		if outcome.FirstByte.IsZero() {
			require.Equal(t, delivery.Answer{Class: delivery.ConnectFailure, Detail: "the connection broke a moment ago"}, outcome.Answer)
			unsent++
		}
	}
	require.EqualValues(t, attempts, unsent+connections.Load())
	require.Greater(t, unsent, int64(attempts/2))
}

// A broker that is unreachable for lack of local resources has not answered, and all
// attempts that wait for the same connection get the same result.
func TestWantOfOurOwnIsNoAnswerOfABroker(t *testing.T) {
	t.Parallel()
	for _, want := range []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM, syscall.EADDRNOTAVAIL} {
		b := newBroker(Broker{})
		_, err := b.dialled(nil, &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("socket", want)})
		require.Equal(t, delivery.OutOfResources, refusal(t.Context(), err).Class, want)
		_, _, err = b.get()
		require.Equal(t, delivery.OutOfResources, refusal(t.Context(), err).Class, want)
	}
	_, err := newBroker(Broker{}).dialled(nil, &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)})
	require.Equal(t, delivery.ConnectFailure, refusal(t.Context(), err).Class)
}
