package delivery

import (
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/wakecall/wakecall/core/wire"
)

// notHTTP are ports of services that callbacks must not reach under any address rules.
var notHTTP = []int{2049, 3306, 5432, 5672, 6379, 7233, 9042, 11211, 27017}

// CheckURL returns why a URL cannot be called, or "". url.Parse alone accepts port 0, port
// 99999, an empty host, user information and zone ids.
func CheckURL(raw string) string {
	if len(raw) > MaxURLLen {
		return fmt.Sprintf("must have at most %d characters", MaxURLLen)
	}
	if strings.ContainsFunc(raw, wire.NotVisibleASCII) {
		return "must consist of visible ASCII characters; write others with %, and a host in its ASCII form"
	}
	u, err := url.Parse(raw)
	if err != nil {
		return "must be a URL such as https://example.com/hook"
	}
	switch {
	case u.Scheme != "https" && u.Scheme != "http":
		return "must have the scheme https or http"
	case u.Opaque != "" || u.Hostname() == "":
		return "must name a host"
	case u.User != nil:
		return "must not contain user information; use headers"
	case u.Fragment != "" || strings.Contains(raw, "#"):
		return "must not have a fragment"
	}
	if why := checkHost(u.Hostname()); why != "" {
		return why
	}
	return checkPort(u)
}

func checkHost(host string) string {
	if addr, err := netip.ParseAddr(host); err == nil {
		if addr.Zone() != "" {
			return "must not have a zone id"
		}
		return ""
	}
	if len(host) > 253 {
		return "must have a host of at most 253 characters"
	}
	bare := strings.TrimSuffix(host, ".")
	if numeric(bare[strings.LastIndex(bare, ".")+1:]) {
		return "must write an IP address as four decimal numbers, or as IPv6 in brackets"
	}
	for label := range strings.SplitSeq(bare, ".") {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' ||
			strings.ContainsFunc(label, notHostRune) {
			return "must have a valid host name"
		}
	}
	return ""
}

// numeric reports whether many resolvers take a host with this last label for an IPv4 address,
// in decimal, octal or hexadecimal (as in the URL standard of WHATWG). No top-level domain is a
// number.
func numeric(label string) bool {
	digits, hex := strings.CutPrefix(strings.ToLower(label), "0x")
	set := "0123456789"
	if hex {
		set += "abcdef"
	}
	return label != "" && strings.Trim(digits, set) == ""
}

func checkPort(u *url.URL) string {
	if u.Port() == "" {
		if strings.HasSuffix(u.Host, ":") {
			return "must not have an empty port"
		}
		return ""
	}
	port, err := strconv.Atoi(u.Port())
	if err != nil || port < 1 || port > 65535 {
		return "must have a port from 1 to 65535"
	}
	if (port < 1024 && port != 80 && port != 443) || slices.Contains(notHTTP, port) {
		return "must not use a port that is reserved for another service"
	}
	return ""
}

// sameOrigin reports whether two URLs have the same scheme, host and port.
func sameOrigin(a, b string) bool {
	one, err := url.Parse(a)
	if err != nil {
		return false
	}
	two, err := url.Parse(b)
	return err == nil && origin(one) == origin(two)
}

func origin(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return u.Scheme + "://" + strings.ToLower(u.Hostname()) + "\n" + port
}
