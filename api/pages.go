package api

import (
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/wakecall/wakecall/timer"
)

// refusePages refuses, where no key is asked for, what a page of another site makes
// somebody's browser send. Loopback does not keep it out: the browser runs on that machine,
// and sends a call without a body to wherever a page says, without asking there first.
func (s *Server) refusePages(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if s.auth.AsksForKeys() || !ofContract(c.Request()) {
			return next(c)
		}
		if err := refuseOtherHosts(c.Request()); err != nil {
			return err
		}
		if err := refuseOtherOrigins(c.Request()); err != nil {
			return err
		}
		return next(c)
	}
}

// refuseOtherHosts refuses a name that only seems to be this machine's: a site that has its
// own name resolved to loopback makes its pages be of the same origin (DNS rebinding).
func refuseOtherHosts(r *http.Request) error {
	if r.Host == "" || isLoopback((&url.URL{Host: r.Host}).Hostname()) { // HTTP/1.0 may leave it out, browsers do not
		return nil
	}
	return &timer.Error{
		Code: forbidden, Message: "Without API keys the gateway is called at 127.0.0.1, [::1] or localhost only. " +
			"Call it there, or configure keys (WAKECALL_API_KEYS) to call it by another name.",
	}
}

// isLoopback is whether a host can be no other machine, whatever DNS says (RFC 6761, section 6.3).
func isLoopback(host string) bool {
	name := strings.ToLower(strings.TrimSuffix(host, "."))
	if name == "localhost" || strings.HasSuffix(name, ".localhost") {
		return true
	}
	addr, err := netip.ParseAddr(name)
	return err == nil && addr.IsLoopback()
}

// browsers tells by what a browser says of a page whether that is of another origin.
var browsers http.CrossOriginProtection

// refuseOtherOrigins refuses a page of another origin. GET is no exception: one of a stream
// takes rings.
func refuseOtherOrigins(r *http.Request) error {
	if browsers.Check(&http.Request{Method: http.MethodPost, Host: r.Host, Header: r.Header}) == nil {
		return nil
	}
	return &timer.Error{Code: forbidden, Message: "A page of another origin may not call the gateway. Call it from a program."}
}
