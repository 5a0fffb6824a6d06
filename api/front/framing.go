package front

import (
	"bytes"
	"context"
	"crypto/tls"
	"log/slog"
	"net"
	"regexp"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/labstack/echo/v4"

	"github.com/wakecall/wakecall/api/problems"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/tuning"
)

// A request with both a Content-Length and chunks can smuggle another one past a proxy that reads
// the other of the two (RFC 9112, section 6.1). Go's server drops the length without a word before
// a handler sees it, so the connection notes it. It decides nothing else: how requests are told
// apart stays Go's.

// FramingListener makes connections that record how their requests give their length.
type FramingListener struct {
	net.Listener
	// Logger is told of clients whose TLS handshake failed.
	Logger *slog.Logger
}

// Accept implements [net.Listener].
func (l FramingListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &framingConn{Conn: conn, logger: l.Logger}, nil
}

// framingConn follows the heads of the requests on a connection up to the first one in chunks,
// which is its last: see [checkFraming].
type framingConn struct {
	net.Conn
	framing framing
	logger  *slog.Logger
	// twice reports whether the last request says its length twice. The server reads on in
	// the background while the handler asks.
	twice atomic.Bool

	handshake sync.Once
	tls       *tls.ConnectionState
}

// Read implements [net.Conn].
func (c *framingConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if c.framing.follow(p[:n]) {
		c.twice.Store(true)
	}
	if err != nil {
		c.logHandshake(err)
	}
	return n, err
}

// CloseWrite lets the server end its half first, so that a client which is refused
// early can still read why.
func (c *framingConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

type framingKey struct{}

// WithFraming tells a request of its connection. It is for [http.Server.ConnContext].
func WithFraming(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, framingKey{}, conn)
}

// checkFraming refuses a request that says its length twice. It ends the connection after every
// request in chunks. A proxy in front may read the length in another way, and then has not seen
// what follows.
func checkFraming(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if len(c.Request().TransferEncoding) == 0 {
			return next(c)
		}
		c.Response().Header().Set(echo.HeaderConnection, "close")
		if conn, ok := c.Request().Context().Value(framingKey{}).(*framingConn); ok && conn.twice.Load() {
			return &wire.Error{Code: problems.Malformed, Message: "Send Content-Length or Transfer-Encoding, not both."}
		}
		return next(c)
	}
}

// framing follows the requests on one connection.
type framing struct {
	head []byte // of the request that is arriving
	skip int64  // bytes of its body that are still to come
	over bool   // there is nothing more to see
}

// maxHead is above what the server reads of a head before it refuses it.
const maxHead = tuning.HeaderBytes + tuning.HeadSlack

// follow takes what was read, and reports whether it ends the head of a request that
// says its length twice.
func (f *framing) follow(read []byte) (twice bool) {
	for len(read) > 0 && !f.over {
		if skipped := min(f.skip, int64(len(read))); skipped > 0 {
			f.skip -= skipped
			read = read[skipped:]
			continue
		}
		line, rest, whole := bytes.Cut(read, []byte("\n"))
		f.head, read = append(f.head, line...), rest
		if !whole {
			break
		}
		f.head = append(f.head, '\n')
		if bytes.HasSuffix(f.head, []byte("\n\n")) || bytes.HasSuffix(f.head, []byte("\n\r\n")) {
			twice = f.judge()
		}
	}
	f.over = f.over || len(f.head) > maxHead
	if f.over {
		f.head = nil
	}
	return twice
}

// judge reads a whole head. Its first line is the request's own, and a line that begins
// with a blank belongs to the one before, as Go's server reads it.
func (f *framing) judge() (twice bool) {
	request, fields, _ := bytes.Cut(bytes.TrimLeft(f.head, "\r\n"), []byte("\n"))
	var length int64
	chunks, sized := false, false
	for line := range bytes.Lines(folded.ReplaceAll(fields, []byte(" "))) {
		name, value, _ := bytes.Cut(line, []byte(":"))
		switch {
		case bytes.EqualFold(name, []byte("Transfer-Encoding")):
			chunks = true
		case bytes.EqualFold(name, []byte("Content-Length")):
			sized = true
			length, _ = strconv.ParseInt(string(bytes.TrimSpace(value)), 10, 64) // the server refuses what is no number
		}
	}
	chunks = chunks && !bytes.HasSuffix(bytes.TrimSpace(request), []byte(" HTTP/1.0")) // it knows no chunks
	f.head, f.skip, f.over = f.head[:0], max(length, 0), chunks
	return chunks && sized
}

// folded is the end of a line that the next one continues (RFC 9112, section 5.2).
var folded = regexp.MustCompile(`\r?\n[ \t]+`)
