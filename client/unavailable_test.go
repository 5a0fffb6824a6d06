package client

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/core/problem"
)

// Only faults of the network or of Wakecall may pass.
func TestUnavailable(t *testing.T) {
	t.Parallel()
	_, missing := os.ReadFile("/nowhere/at/all")
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { require.NoError(t, listener.Close()) }()
	_, taken := net.Listen("tcp", listener.Addr().String())
	require.Error(t, taken)
	_, refused := net.Dial("tcp", "127.0.0.1:1")
	require.Error(t, refused)
	for _, err := range []error{missing, taken, errors.New("no"), fmt.Errorf("reading: %w", missing)} {
		require.False(t, Unavailable(err), "%v", err)
	}
	for _, err := range []error{refused, &url.Error{Op: "Get", URL: "http://h/", Err: refused}, &Problem{Document: problem.Document{Status: 503}}, os.ErrDeadlineExceeded} {
		require.True(t, Unavailable(err), "%v", err)
	}
}

// A server that cannot be the one that was meant is tried once. Waiting does not help.
func TestAnUntrustedServerIsTriedOnce(t *testing.T) {
	t.Parallel()
	for name, start := range map[string]func(*httptest.Server){
		"its certificate is of an unknown authority": (*httptest.Server).StartTLS,
		"it speaks no TLS":                           (*httptest.Server).Start,
	} {
		var opened atomic.Int32
		server := httptest.NewUnstartedServer(http.NotFoundHandler())
		server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
		server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
			if state == http.StateNew {
				opened.Add(1)
			}
		}
		start(server)
		transport := &http.Transport{}
		_, err := New(Options{URL: "https://" + server.Listener.Addr().String(), HTTP: &http.Client{Transport: transport}}).Server.About(t.Context())
		transport.CloseIdleConnections()
		server.Close()
		require.Error(t, err, name)
		require.False(t, Unavailable(err), "%s: %v", name, err)
		require.EqualValues(t, 1, opened.Load(), name)
	}
}
