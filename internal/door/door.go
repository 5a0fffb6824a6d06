// Package door keeps pages of other sites from calling what asks for no key. A browser on
// this machine reaches every listener of loopback, and sends what any page says.
package door

import (
	"errors"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// Why a request is refused.
var (
	ErrHost   = errors.New("the name that it was called by is not one of this machine")
	ErrOrigin = errors.New("a page of another origin may not call it")
)

// Rule says by which names a listener may be called.
type Rule struct {
	// Public is whether it listens beyond loopback. Then it may be called by every address,
	// which no DNS can forge, and by Names.
	Public bool
	Names  []string
	// AnyName lets it be called by every name, if it is Public.
	AnyName bool
}

// browsers tells by what a browser says of a page whether that is of another origin.
var browsers http.CrossOriginProtection

// Check is why a request is refused, nil where it is not. GET is no exception: where DNS
// leads a name of another site here (DNS rebinding), its pages read what they get.
func (r Rule) Check(request *http.Request) error {
	if !r.knows(request.Host) {
		return ErrHost
	}
	if OtherOrigin(request) {
		return ErrOrigin
	}
	return nil
}

// OtherOrigin is whether a page of another origin made a browser send the request.
func OtherOrigin(request *http.Request) bool {
	asPost := &http.Request{Method: http.MethodPost, Host: request.Host, Header: request.Header}
	return browsers.Check(asPost) != nil
}

func (r Rule) knows(host string) bool {
	if host == "" { // HTTP/1.0 may leave it out, browsers do not
		return true
	}
	name := strings.ToLower(strings.TrimSuffix((&url.URL{Host: host}).Hostname(), "."))
	if isLoopback(name) {
		return true
	}
	_, err := netip.ParseAddr(name)
	return r.Public && (r.AnyName || err == nil || slices.Contains(r.Names, name))
}

// isLoopback is whether a host can be no other machine, whatever DNS says (RFC 6761,
// section 6.3).
func isLoopback(name string) bool {
	if name == "localhost" || strings.HasSuffix(name, ".localhost") {
		return true
	}
	addr, err := netip.ParseAddr(name)
	return err == nil && addr.IsLoopback()
}

// Guard refuses what the rule does.
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

// Unframed keeps pages from being shown within others, where a click is not meant for them.
func Unframed(header http.Header) {
	header.Add("Content-Security-Policy", "frame-ancestors 'none'")
	header.Set("X-Frame-Options", "DENY")
}
