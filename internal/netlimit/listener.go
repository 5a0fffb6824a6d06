package netlimit

import (
	"net"
	"sync"
)

// limited accepts a connection only while there is room. Connections of the listener in
// golang.org/x/net/netutil cannot be half-closed, so a client that is refused early would see a
// reset instead of the answer.
type limited struct {
	net.Listener
	room   chan struct{}
	closed chan struct{}
	close  func() error
}

func newLimited(inner net.Listener, most int) *limited {
	l := &limited{Listener: inner, room: make(chan struct{}, most), closed: make(chan struct{})}
	l.close = sync.OnceValue(func() error {
		close(l.closed)
		return inner.Close()
	})
	return l
}

// Accept implements [net.Listener].
func (l *limited) Accept() (net.Conn, error) {
	select {
	case l.room <- struct{}{}:
	case <-l.closed:
		return nil, net.ErrClosed
	}
	conn, err := l.Listener.Accept()
	if err != nil {
		<-l.room
		return nil, err
	}
	return &limitedConn{Conn: conn, leave: sync.OnceFunc(func() { <-l.room })}, nil
}

// Close implements [net.Listener]. It ends an Accept that waits for room.
func (l *limited) Close() error { return l.close() }

// limitedConn frees its room when it is closed.
type limitedConn struct {
	net.Conn
	leave func()
}

// Close implements [net.Conn].
func (c *limitedConn) Close() error {
	defer c.leave()
	return c.Conn.Close()
}

// CloseWrite closes this side. net/http does so before it closes a connection whose client still
// sends.
func (c *limitedConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}
