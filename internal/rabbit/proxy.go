package rabbit

import (
	"encoding/binary"
	"io"
	"net"
	"sync"
	"testing"
)

// The methods that a proxy looks for: class and method of AMQP 0-9-1.
var (
	channelOpenOK = [4]byte{0, 20, 0, 11}
	basicPublish  = [4]byte{0, 60, 0, 40}
	basicAck      = [4]byte{0, 60, 0, 80}
)

// Proxy is between a client and a broker, with a [Misbehaviour] for each connection.
type Proxy struct {
	// URL has the user with all permissions.
	URL      string
	listener net.Listener
	ended    sync.WaitGroup

	mu    sync.Mutex
	conns []net.Conn
}

// Misbehaviour handles a frame. ok is false if it is not passed on, and end reports whether the
// connection ends.
type Misbehaviour struct {
	fromClient func(method [4]byte) (ok, end bool)
	toClient   func(method [4]byte) (after []byte, ok bool)
}

// NewProxy starts a proxy of the broker at an address, which calls how for each connection. It
// must be closed.
func NewProxy(t testing.TB, broker string, how func() Misbehaviour) *Proxy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{listener: listener, URL: "amqp://guest:guest@" + listener.Addr().String() + "/"}
	p.ended.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", broker)
			if err != nil {
				_ = client.Close()
				continue
			}
			p.mu.Lock()
			p.conns = append(p.conns, client, server)
			p.mu.Unlock()
			p.serve(client, server, how())
		}
	})
	return p
}

func (p *Proxy) serve(client, server net.Conn, how Misbehaviour) {
	both := func() { _, _ = client.Close(), server.Close() }
	p.ended.Go(func() {
		defer both()
		header := make([]byte, 8)
		if _, err := io.ReadFull(client, header); err != nil {
			return
		}
		_, _ = server.Write(header)
		pass(client, server, func(method [4]byte) ([]byte, bool, bool) {
			if how.fromClient == nil {
				return nil, true, false
			}
			ok, end := how.fromClient(method)
			return nil, ok, end
		})
	})
	p.ended.Go(func() {
		defer both()
		pass(server, client, func(method [4]byte) ([]byte, bool, bool) {
			if how.toClient == nil {
				return nil, true, false
			}
			after, ok := how.toClient(method)
			return after, ok, false
		})
	})
}

// pass passes frames on, as visit decides.
func pass(from, to net.Conn, visit func(method [4]byte) (after []byte, ok, end bool)) {
	for {
		head := make([]byte, 7)
		if _, err := io.ReadFull(from, head); err != nil {
			return
		}
		rest := make([]byte, binary.BigEndian.Uint32(head[3:])+1)
		if _, err := io.ReadFull(from, rest); err != nil {
			return
		}
		var method [4]byte
		if head[0] == 1 { // a method frame
			copy(method[:], rest)
		}
		after, ok, end := visit(method)
		if end {
			return
		}
		if ok {
			_, _ = to.Write(append(append(head, rest...), after...))
		}
	}
}

// Close closes the proxy and all its connections.
func (p *Proxy) Close() {
	_ = p.listener.Close()
	p.mu.Lock()
	for _, conn := range p.conns {
		_ = conn.Close()
	}
	p.mu.Unlock()
	p.ended.Wait()
}

// HangsUp ends the connection with the first message.
func HangsUp() Misbehaviour {
	return Misbehaviour{fromClient: func(method [4]byte) (ok, end bool) { return true, method == basicPublish }}
}

// FallsSilent passes messages on, and sends nothing back from the first message on.
func FallsSilent() Misbehaviour {
	var mu sync.Mutex
	silent := false
	return Misbehaviour{
		fromClient: func(method [4]byte) (ok, end bool) {
			mu.Lock()
			defer mu.Unlock()
			silent = silent || method == basicPublish
			return true, false
		},
		toClient: func([4]byte) ([]byte, bool) {
			mu.Lock()
			defer mu.Unlock()
			return nil, !silent
		},
	}
}

// KeepsConfirms drops only the confirmations of messages.
func KeepsConfirms() Misbehaviour {
	return Misbehaviour{toClient: func(method [4]byte) ([]byte, bool) { return nil, method != basicAck }}
}

// IsBlocked reports before the first message that the broker takes none (connection.blocked),
// and passes no message on. A client may publish before it has read that.
func IsBlocked() Misbehaviour {
	const reason = "low on memory"
	payload := append([]byte{0, 10, 0, 60, byte(len(reason))}, reason...)
	frame := append([]byte{1, 0, 0, 0, 0, 0, byte(len(payload))}, payload...)
	frame = append(frame, 0xce)
	published := false
	return Misbehaviour{
		fromClient: func(method [4]byte) (ok, end bool) {
			published = published || method == basicPublish
			return !published, false
		},
		toClient: func(method [4]byte) ([]byte, bool) {
			if method == channelOpenOK {
				return frame, true
			}
			return nil, true
		},
	}
}

// WaitsFor passes nothing of the client on before until is closed.
func WaitsFor(until <-chan struct{}) Misbehaviour {
	return Misbehaviour{fromClient: func([4]byte) (ok, end bool) {
		<-until
		return true, false
	}}
}

// Behaves passes everything on.
func Behaves() Misbehaviour { return Misbehaviour{} }
