package sendtest

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Hostile is a receiver that speaks TCP by hand, to break rules that an HTTP server keeps.
// It counts its connections and requests.
type Hostile struct {
	// Addr is where it listens.
	Addr string

	listener net.Listener
	manner   Manner
	accepted atomic.Int64
	open     atomic.Int64
	serving  sync.WaitGroup
	closing  chan struct{}

	mu    sync.Mutex
	first time.Time
	conns []net.Conn
	posts []*http.Request
}

// Manner is how a hostile receiver treats a connection. When it returns, the connection
// stays open until the other side hangs up.
type Manner func(c *Conn)

// Conn is a connection as its receiver sees it.
type Conn struct {
	net.Conn
	in *bufio.Reader
	h  *Hostile
}

// NewHostile starts a hostile receiver at addr, whose port may be 0.
func NewHostile(t testing.TB, addr string, manner Manner) *Hostile {
	t.Helper()
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	h := &Hostile{Addr: listener.Addr().String(), listener: listener, manner: manner, closing: make(chan struct{})}
	h.serving.Go(h.serve)
	t.Cleanup(h.close)
	return h
}

// OverTLS applies a manner after a TLS handshake.
func OverTLS(config *tls.Config, manner Manner) Manner {
	return func(c *Conn) {
		secured := tls.Server(c.Conn, config)
		if secured.Handshake() == nil {
			manner(&Conn{Conn: secured, in: bufio.NewReader(secured), h: c.h})
		}
	}
}

func (h *Hostile) serve() {
	for {
		conn, err := h.listener.Accept()
		if err != nil {
			return
		}
		h.accepted.Add(1)
		h.open.Add(1)
		h.remember(conn)
		h.serving.Go(func() {
			defer h.open.Add(-1)
			defer func() { _ = conn.Close() }()
			h.manner(&Conn{Conn: conn, in: bufio.NewReader(conn), h: h})
			_, _ = io.Copy(io.Discard, conn)
		})
	}
}

func (h *Hostile) remember(conn net.Conn) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.first.IsZero() {
		h.first = time.Now()
	}
	h.conns = append(h.conns, conn)
}

func (h *Hostile) close() {
	close(h.closing)
	_ = h.listener.Close()
	h.mu.Lock()
	for _, conn := range h.conns {
		_ = conn.Close()
	}
	h.mu.Unlock()
	h.serving.Wait()
}

// Accepted is the number of connections that reached the receiver.
func (h *Hostile) Accepted() int { return int(h.accepted.Load()) }

// Open is the number of connections that neither side has closed.
func (h *Hostile) Open() int { return int(h.open.Load()) }

// First is when the first connection came in; zero before that.
func (h *Hostile) First() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.first
}

// Posts are the requests that were read completely.
func (h *Hostile) Posts() []*http.Request {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.posts
}

// Request reads a request and its body.
func (c *Conn) Request() bool {
	request, err := http.ReadRequest(c.in)
	if err != nil {
		return false
	}
	if _, err := io.Copy(io.Discard, request.Body); err != nil {
		return false
	}
	c.h.mu.Lock()
	defer c.h.mu.Unlock()
	c.h.posts = append(c.h.posts, request)
	return true
}

// Reset closes the connection with an RST.
func (c *Conn) Reset() {
	if tcp, ok := c.Conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = c.Close()
}

// Say writes, and reports whether the other side is still there.
func (c *Conn) Say(text string) bool {
	_, err := io.WriteString(c, text)
	return err == nil
}

// Then answers a request with a text, unchanged.
func Then(text string) Manner {
	return func(c *Conn) {
		if c.Request() {
			c.Say(text)
		}
	}
}

// Always answers every request with a text.
func Always(text string) Manner {
	return func(c *Conn) {
		for c.Request() && c.Say(text) {
		}
	}
}

// ThenReset answers a request with a text, then with an RST.
func ThenReset(text string) Manner {
	return func(c *Conn) {
		Then(text)(c)
		c.Reset()
	}
}

// ThenClose answers a request with a text, then hangs up.
func ThenClose(text string) Manner {
	return func(c *Conn) {
		Then(text)(c)
		_ = c.Close()
	}
}

// ThenForever answers a request with a text, then repeats another as fast as it is read.
func ThenForever(text, more string) Manner {
	return func(c *Conn) {
		Then(text)(c)
		block := strings.Repeat(more, 1+16<<10/len(more))
		for c.Say(block) {
		}
	}
}

// ThenTrickle answers a request with a text, then with a letter at a time.
func ThenTrickle(text string, every time.Duration) Manner {
	return func(c *Conn) {
		Then(text)(c)
		tick := time.NewTicker(every)
		defer tick.Stop()
		for c.Say("x") {
			<-tick.C
		}
	}
}

// Silent reads a request and does not answer.
func Silent(c *Conn) { c.Request() }

// Deaf does not even read, so that a body gets stuck on its way. It does not notice when the
// other side leaves.
func Deaf(c *Conn) {
	if tcp, ok := c.Conn.(*net.TCPConn); ok {
		_ = tcp.SetReadBuffer(4 << 10)
	}
	<-c.h.closing
}

// Early answers before it has read the body.
func Early(text string) Manner {
	return func(c *Conn) {
		if _, err := http.ReadRequest(c.in); err == nil {
			c.Say(text)
		}
	}
}

// Bomb is gzip data that expands each KiB to a MiB.
func Bomb() string {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = z.Write(make([]byte, 1<<20))
	_ = z.Close()
	return packed.String()
}
