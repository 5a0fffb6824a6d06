package amqpsend

import (
	"encoding/binary"
	"io"
	"net"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// The methods that a proxy looks for: class and method of AMQP 0-9-1.
var (
	channelOpenOK = [4]byte{0, 20, 0, 11}
	basicPublish  = [4]byte{0, 60, 0, 40}
)

// proxy stands between a transport and a broker, and misbehaves.
type proxy struct {
	url      string
	listener net.Listener
	ended    sync.WaitGroup

	mu    sync.Mutex
	conns []net.Conn
}

// misbehave is what a proxy does with a frame; ok is false for one that is not passed
// on, and end whether the connection ends.
type misbehave struct {
	fromClient func(method [4]byte) (end bool)
	toClient   func(method [4]byte) (after []byte, ok bool)
}

func newProxy(t *testing.T, broker string, how func() misbehave) *proxy {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	p := &proxy{listener: listener, url: "amqp://guest:guest@" + listener.Addr().String() + "/"}
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

func (p *proxy) serve(client, server net.Conn, how misbehave) {
	both := func() { _, _ = client.Close(), server.Close() }
	p.ended.Go(func() {
		defer both()
		header := make([]byte, 8)
		if _, err := io.ReadFull(client, header); err != nil {
			return
		}
		_, _ = server.Write(header)
		pass(client, server, func(method [4]byte) ([]byte, bool, bool) {
			return nil, true, how.fromClient != nil && how.fromClient(method)
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

// pass passes frames on, as far as visit lets it.
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

func (p *proxy) close() {
	_ = p.listener.Close()
	p.mu.Lock()
	for _, conn := range p.conns {
		_ = conn.Close()
	}
	p.mu.Unlock()
	p.ended.Wait()
}

// hangsUp ends the connection with the first message.
func hangsUp() misbehave {
	return misbehave{fromClient: func(method [4]byte) bool { return method == basicPublish }}
}

// fallsSilent says nothing more from the first message on.
func fallsSilent() misbehave {
	var mu sync.Mutex
	silent := false
	return misbehave{
		fromClient: func(method [4]byte) bool {
			mu.Lock()
			defer mu.Unlock()
			silent = silent || method == basicPublish
			return false
		},
		toClient: func([4]byte) ([]byte, bool) {
			mu.Lock()
			defer mu.Unlock()
			return nil, !silent
		},
	}
}

// isBlocked says that the broker takes no messages before one is sent:
// connection.blocked.
func isBlocked() misbehave {
	const reason = "low on memory"
	payload := append([]byte{0, 10, 0, 60, byte(len(reason))}, reason...)
	frame := append([]byte{1, 0, 0, 0, 0, 0, byte(len(payload))}, payload...)
	frame = append(frame, 0xce)
	return misbehave{toClient: func(method [4]byte) ([]byte, bool) {
		if method == channelOpenOK {
			return frame, true
		}
		return nil, true
	}}
}
