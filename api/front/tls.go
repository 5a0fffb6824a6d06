package front

import (
	"crypto/tls"
	"errors"
	"io"
	"net"

	"github.com/labstack/echo/v4"

	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/tuning"
)

// setTLS sets the TLS state of a request. Go's server does not see it: it has the connection that
// follows how requests are framed.
func setTLS(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if conn, ok := c.Request().Context().Value(framingKey{}).(*framingConn); ok {
			c.Request().TLS = conn.stateOfTLS()
		}
		return next(c)
	}
}

// stateOfTLS is nil without TLS. It does not change: a request was read, so the handshake is
// over, and there is no other one.
func (c *framingConn) stateOfTLS() *tls.ConnectionState {
	c.handshake.Do(func() {
		if inner, ok := c.Conn.(*tls.Conn); ok {
			state := inner.ConnectionState()
			c.tls = &state
		}
	})
	return c.tls
}

// logHandshake logs why the handshake of a client failed, at the level of a refused request. net/http
// does so only if it sees that the connection is one of TLS.
func (c *framingConn) logHandshake(err error) {
	inner, ok := c.Conn.(*tls.Conn)
	if !ok || !saysWhy(err) || inner.ConnectionState().HandshakeComplete {
		return
	}
	from, _, _ := net.SplitHostPort(inner.RemoteAddr().String())
	c.logger.Info("a TLS handshake failed", "from", from, "cause", wire.Clip(err.Error(), tuning.LoggedBytes))
}

// saysWhy reports whether an error names a fault of a handshake. A client that only goes away, or
// says nothing, is a probe or a scan.
func saysWhy(err error) bool {
	if op, ok := errors.AsType[*net.OpError](err); ok { // an alert of either side is one too
		return op.Op != "read" && op.Op != "write"
	}
	return !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, net.ErrClosed)
}
