package netlimit

import (
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/internal/tuning"
)

func TestConnectionsLeaveRoom(t *testing.T) {
	t.Parallel()
	require.Equal(t, 200, Connections(400))
	require.Equal(t, tuning.MaxConnections, Connections(1<<20))
	require.Equal(t, 1, Connections(0), "it goes on to answer")
}

// A connection beyond the bound waits until another one ends.
func TestFurtherConnectionsWait(t *testing.T) {
	t.Parallel()
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	listener := Listener(inner)
	defer func() { require.NoError(t, listener.Close()) }()
	require.Equal(t, Connections(files()), cap(make([]struct{}, 0, Connections(files()))))
	accepted := make(chan net.Conn, 1)
	go func() {
		conn, err := listener.Accept()
		if err == nil {
			accepted <- conn
		}
	}()
	client, err := net.Dial("tcp", inner.Addr().String())
	require.NoError(t, err)
	select {
	case conn := <-accepted:
		require.NoError(t, conn.Close())
	case <-time.After(time.Minute):
		t.Fatal("the first one is accepted")
	}
	require.NoError(t, client.Close())
}
