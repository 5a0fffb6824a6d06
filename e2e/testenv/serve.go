package testenv

import (
	"context"
	"net"
	"time"

	"github.com/stretchr/testify/require"
)

// Serve runs the API on a separate listener, with the server's limits on slow, large and
// idle connections; at [Env.URL] there are none.
func (e *Env) Serve() (addr string) {
	e.t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(e.t, err)
	server, err := e.inner.API()
	require.NoError(e.t, err)
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	e.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		_ = server.Shutdown(ctx)
		require.NoError(e.t, <-served)
	})
	return listener.Addr().String()
}
