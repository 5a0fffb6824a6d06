package resend_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"golang.org/x/net/http2"

	"github.com/wakecall/wakecall/internal/resend"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A server that turns every request away on each connection is asked so many times, and not until the
// time is up.
func TestAServerThatTurnsEveryRequestAway(t *testing.T) {
	t.Parallel()
	const most = 5
	for method, body := range map[string]string{http.MethodGet: "", http.MethodPost: "x"} {
		url, pool, opened := turningAway(t)
		transport := resend.Bound(most)
		transport.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		request, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
		require.NoError(t, err)
		_, err = (&http.Client{Transport: transport}).Do(request)
		require.ErrorContains(t, err, "turned the request away")
		require.NoError(t, ctx.Err(), "it ended before its time")
		cancel()
		transport.CloseIdleConnections()
		require.LessOrEqual(t, int(opened.Load()), most)
		require.Greater(t, int(opened.Load()), 1, "the oracle: net/http sends it again")
	}
}

// A server that answers is asked as ever.
func TestAServerThatAnswers(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(w, r.Body)
	}))
	defer server.Close()
	transport := resend.Bound(1)
	defer transport.CloseIdleConnections()
	for range 3 {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL, strings.NewReader("x"))
		require.NoError(t, err)
		response, err := (&http.Client{Transport: transport}).Do(request)
		require.NoError(t, err)
		text, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		require.Equal(t, "x", string(text))
	}
}

// turningAway is an HTTP/2 server that takes no request, and counts its connections.
func turningAway(t *testing.T) (url string, pool *x509.CertPool, opened *atomic.Int32) {
	lender := httptest.NewTLSServer(http.NotFoundHandler())
	defer lender.Close()
	pool, opened = x509.NewCertPool(), &atomic.Int32{}
	pool.AddCert(lender.Certificate())
	listener, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{
		Certificates: lender.TLS.Certificates, NextProtos: []string{"h2"}, MinVersion: tls.VersionTLS12,
	})
	require.NoError(t, err)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			opened.Add(1)
			turnAway(conn)
		}
	}()
	t.Cleanup(func() { _ = listener.Close(); <-done })
	return "https://" + listener.Addr().String(), pool, opened
}

// turnAway reads a request, and says that it was not looked at.
func turnAway(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(5 * time.Second))
	if _, err := io.ReadFull(conn, make([]byte, len(http2.ClientPreface))); err != nil {
		return
	}
	framer := http2.NewFramer(conn, conn)
	_ = framer.WriteSettings()
	for {
		frame, err := framer.ReadFrame()
		if err != nil {
			return
		}
		if _, ok := frame.(*http2.HeadersFrame); ok {
			_ = framer.WriteGoAway(0, http2.ErrCodeNo, nil)
			return
		}
	}
}
