package front

import (
	"net"
	"net/http"
	"net/netip"

	"github.com/labstack/echo/v4"

	"github.com/wakecall/wakecall/api/answers"
)

// clientAddress returns the address of the client. It is the other end of the connection, or what
// trusted proxies say. Their list is read from our side, up to the first address that is no
// trusted proxy. Any client can write the header, so no other address in it is believed.
func clientAddress(proxies []netip.Prefix) echo.IPExtractor {
	if len(proxies) == 0 {
		return echo.ExtractIPDirect()
	}
	trust := []echo.TrustOption{echo.TrustLoopback(false), echo.TrustLinkLocal(false), echo.TrustPrivateNet(false)}
	for _, proxy := range proxies {
		trust = append(trust, echo.TrustIPRange(&net.IPNet{
			IP: proxy.Masked().Addr().AsSlice(), Mask: net.CIDRMask(proxy.Bits(), proxy.Addr().BitLen()),
		}))
	}
	return echo.ExtractIPFromXFFHeader(trust...)
}

// headAsGet answers HEAD wherever GET is answered (RFC 9110, section 9.3.2); net/http
// leaves out the body. It is the last middleware, since it chooses the handler anew.
func headAsGet(router *echo.Router) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			allowed, _ := c.Get(echo.ContextKeyHeaderAllow).(string)
			if c.Request().Method != http.MethodHead || !answers.AllowsGet(allowed) {
				return next(c)
			}
			router.Find(http.MethodGet, echo.GetPath(c.Request()), c)
			return c.Handler()(c)
		}
	}
}
