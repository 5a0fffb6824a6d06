package netlimit

import (
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/internal/tuning"
)

func TestConnectionsLeaveRoom(t *testing.T) {
	t.Parallel()
	require.Equal(t, 200, Connections(400, tuning.MaxConnections))
	require.Equal(t, tuning.MaxConnections, Connections(1<<20, tuning.MaxConnections))
	require.Equal(t, 1, Connections(0, tuning.MaxConnections), "it goes on to answer")
	require.Less(t, Connections(400, tuning.MaxConnections)+Connections(400, tuning.MetricsConnections), 300, "both listeners together leave room")
}

// A connection beyond the bound waits until another one ends.
func TestFurtherConnectionsWait(t *testing.T) {
	t.Parallel()
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	listener := Listener(inner, 2)
	defer func() { require.NoError(t, listener.Close()) }()
	accepted := make(chan net.Conn, 3)
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			accepted <- conn
		}
	}()
	var first net.Conn
	for n := range 3 {
		client, err := net.Dial("tcp", inner.Addr().String())
		require.NoError(t, err, "the kernel takes it")
		defer func() { require.NoError(t, client.Close()) }()
		if n == 0 {
			first = <-accepted
		}
	}
	second := <-accepted
	select {
	case <-accepted:
		t.Fatal("the third one waits")
	case <-time.After(50 * time.Millisecond): // the control is its arrival below
	}
	require.NoError(t, first.Close())
	third := <-accepted
	require.NoError(t, errors.Join(second.Close(), third.Close()))
}

// A server that refuses early closes its half first, so that the client can read the reason.
func TestConnectionsCloseByHalf(t *testing.T) {
	t.Parallel()
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	listener := Listener(inner, 1)
	defer func() { require.NoError(t, listener.Close()) }()
	client, err := net.Dial("tcp", inner.Addr().String())
	require.NoError(t, err)
	defer func() { require.NoError(t, client.Close()) }()
	conn, err := listener.Accept()
	require.NoError(t, err)
	_, err = conn.Write([]byte("why"))
	require.NoError(t, err)
	require.NoError(t, conn.(interface{ CloseWrite() error }).CloseWrite())
	_, err = client.Write([]byte("more"))
	require.NoError(t, err)
	said, err := io.ReadAll(client)
	require.NoError(t, err, "no reset")
	require.Equal(t, "why", string(said))
	require.NoError(t, conn.Close())
}

// A full listener can be closed.
func TestAFullListenerCloses(t *testing.T) {
	t.Parallel()
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	listener := Listener(inner, 1)
	client, err := net.Dial("tcp", inner.Addr().String())
	require.NoError(t, err)
	defer func() { require.NoError(t, client.Close()) }()
	conn, err := listener.Accept()
	require.NoError(t, err)
	ended := make(chan error)
	go func() {
		_, err := listener.Accept()
		ended <- err
	}()
	require.NoError(t, listener.Close())
	require.ErrorIs(t, <-ended, net.ErrClosed)
	require.NoError(t, conn.Close())
	require.Error(t, conn.Close(), "its room is given back once")
}
