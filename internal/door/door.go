// Package door keeps pages of other sites from calling listeners that need no key. A browser on
// this machine reaches every listener on loopback, and sends any request of a page.
//
// [Client] returns where a request comes from.
package door

import (
	"errors"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// The reasons to refuse a request.
var (
	ErrHost   = errors.New("the host name of the call is not one of this machine")
	errOrigin = errors.New("a page of another origin must not call it")
)

// Rule lists the names by which a listener may be called.
type Rule struct {
	// Public reports whether it listens beyond loopback. It may then be called by Names and by
	// every address, since DNS cannot forge an address.
	Public bool
	Names  []string
	// AnyName allows every name, if it is Public.
	AnyName bool
}

// browsers checks the headers with which a browser names the origin of a page.
var browsers http.CrossOriginProtection

// Check returns why a request is refused, nil if it is not. It includes GET: if DNS leads
// another site's name here (DNS rebinding), its pages can read the answer.
func (r Rule) Check(request *http.Request) error {
	if !r.knows(request.Host) {
		return ErrHost
	}
	if OtherOrigin(request) {
		return errOrigin
	}
	return nil
}

// OtherOrigin reports whether a page of another origin made a browser send the request.
func OtherOrigin(request *http.Request) bool {
	asPost := &http.Request{Method: http.MethodPost, Host: request.Host, Header: request.Header}
	return browsers.Check(asPost) != nil
}

func (r Rule) knows(host string) bool {
	if host == "" { // HTTP/1.0 may omit it, browsers do not
		return true
	}
	name := strings.ToLower(strings.TrimSuffix((&url.URL{Host: host}).Hostname(), "."))
	if isLoopback(name) {
		return true
	}
	_, err := netip.ParseAddr(name)
	return r.Public && (r.AnyName || err == nil || slices.Contains(r.Names, name))
}

// isLoopback reports whether a host is always this machine, regardless of DNS (RFC 6761, section
// 6.3).
func isLoopback(name string) bool {
	if name == "localhost" || strings.HasSuffix(name, ".localhost") {
		return true
	}
	addr, err := netip.ParseAddr(name)
	return err == nil && addr.IsLoopback()
}

// Guard refuses requests by the rule.
func (r Rule) Guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		if err := r.Check(request); err != nil {
			Unframed(w.Header())
			http.Error(w, err.Error(), http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, request)
	})
}

// Unframed keeps pages from being shown within others, where a click could be stolen.
func Unframed(header http.Header) {
	header.Add("Content-Security-Policy", "frame-ancestors 'none'")
	header.Set("X-Frame-Options", "DENY")
}
