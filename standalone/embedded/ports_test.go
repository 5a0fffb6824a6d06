package embedded

import (
	"context"
	"net"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"github.com/wakecall/wakecall/engine/namespace"
)

// occupied returns a port in use.
func occupied(t *testing.T) int {
	listener, err := net.Listen("tcp", net.JoinHostPort(loopback, "0"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, listener.Close()) })
	return listener.Addr().(*net.TCPAddr).Port
}

func smallest(t *testing.T) Options {
	listener, err := net.Listen("tcp", net.JoinHostPort(loopback, "0"))
	require.NoError(t, err)
	require.NoError(t, listener.Close())
	return Options{
		Addr: listener.Addr().String(), DataDir: t.TempDir(), Namespace: client.DefaultNamespace,
		Retention: 24 * time.Hour, Shards: 1, Synchronous: "off", SearchAttributes: namespace.SearchAttributes(),
	}
}

// If the port of any inner service is taken, others are tried.
func TestTakenPortsAreLeftAlone(t *testing.T) {
	o, asked := smallest(t), 0
	taken := map[int]int{1: occupied(t), 4: occupied(t)} // by the number of the request: history's, then matching's
	server, err := start(o, func() (int, error) {
		asked++
		if port := taken[asked]; port != 0 {
			return port, nil
		}
		return freePort()
	})
	require.NoError(t, err)
	require.Equal(t, 6, asked, "two tries met a taken port, the third did not")
	c, err := client.DialContext(t.Context(), client.Options{HostPort: o.Addr})
	require.NoError(t, err)
	t.Cleanup(c.Close)
	_, err = c.SignalWithStartWorkflow(t.Context(), "id", "signal", nil, client.StartWorkflowOptions{TaskQueue: "none"}, "none")
	require.NoError(t, err, "frontend and history find each other")
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	require.NoError(t, server.Stop(ctx))
}

func TestEndlesslyTakenPortsAreAnError(t *testing.T) {
	o, port, asked := smallest(t), occupied(t), 0
	taken := func() (int, error) { asked++; return port, nil }
	_, err := start(o, taken)
	require.ErrorIs(t, err, syscall.EADDRINUSE)
	require.Equal(t, 2*maxBinds, asked)
	directory, err := openDirectory(o)
	require.NoError(t, err, "the directory is left unlocked")
	directory.close()
}
