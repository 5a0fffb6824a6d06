package front

import (
	"crypto/tls"

	"github.com/labstack/echo/v4"
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
