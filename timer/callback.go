package timer

import (
	"fmt"
	"maps"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Callback is where and how a receiver is called.
type Callback struct {
	URL string `json:"url,omitzero"`
	// Headers are extra request headers. Their values may be credentials, so
	// they are sealed before they reach Temporal.
	Headers map[string]string `json:"headers,omitempty"`
	// Timeout bounds one attempt from dial to the last byte read.
	Timeout Duration `json:"timeout,omitzero"`
}

// Over is the callback with what it leaves out taken from base. The headers of
// base stay behind when the URL is another one: they may hold its credentials.
func (c Callback) Over(base Callback) Callback {
	if c.URL == "" {
		c.URL, c.Headers = base.URL, overlay(base.Headers, c.Headers)
	}
	if c.Timeout == 0 {
		c.Timeout = base.Timeout
	}
	if c.Timeout == 0 {
		c.Timeout = Duration(DefaultAttemptTimeout)
	}
	return c
}

// Masked is the callback as it is shown: the values of its headers are hidden.
func (c Callback) Masked() Callback {
	headers := make(map[string]string, len(c.Headers))
	for name := range c.Headers {
		headers[name] = Hidden
	}
	c.Headers = headers
	return c
}

// Amend puts what a change names in the place of what c, the callback of a timer,
// has: headers by their names, and what it leaves out stays. Headers that stay
// are refused where the change leads to another origin: they may be credentials.
func (c Callback) Amend(change Callback) (_ Callback, errs FieldErrors) {
	if change.URL != "" && !sameOrigin(change.URL, c.URL) {
		//workflowcheck:ignore They are sorted.
		for _, name := range slices.Sorted(maps.Keys(c.Headers)) {
			if _, anew := named(change.Headers, name); !anew {
				errs.Add("/headers/"+escapePointer(name), CodeConflict,
					"was given for another scheme, host or port: give its value anew, or replace the timer with PUT to leave it out")
			}
		}
	}
	if change.URL != "" {
		c.URL = change.URL
	}
	if change.Timeout != 0 {
		c.Timeout = change.Timeout
	}
	c.Headers = overlay(c.Headers, change.Headers)
	if len(c.Headers) > MaxHeaders {
		errs.AddMost("/headers", MaxHeaders, "headers")
	}
	return c, errs
}

// overlay is base with the headers of over in place of its own. Their names are
// the same in any case.
func overlay(base, over map[string]string) map[string]string {
	headers := map[string]string{}
	//workflowcheck:ignore The order in which they are copied tells nothing.
	for name, value := range base {
		if _, replaced := named(over, name); !replaced {
			headers[name] = value
		}
	}
	//workflowcheck:ignore The order in which they are copied tells nothing.
	maps.Copy(headers, over)
	return headers
}

// named is the name under which a header is there: in which case it is written does
// not matter (RFC 9110, section 5.1).
func named(headers map[string]string, name string) (stored string, ok bool) {
	//workflowcheck:ignore There is one such name at most.
	for stored := range headers {
		if strings.EqualFold(stored, name) {
			return stored, true
		}
	}
	return "", false
}

// Check returns what is wrong with the callback.
func (c Callback) Check() (errs FieldErrors) {
	if c.URL != "" {
		if why := checkURL(c.URL); why != "" {
			errs.Add("/url", CodeInvalidURL, why)
		}
	}
	if len(c.Headers) > MaxHeaders {
		errs.AddMost("/headers", MaxHeaders, "headers")
	}
	first := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(c.Headers)) {
		why, lower := checkHeader(name, c.Headers[name]), strings.ToLower(name)
		if same, ok := first[lower]; ok && why == "" {
			why = "is the same header as " + same + ": names differ in more than their case"
		}
		if first[lower] = name; why != "" {
			errs.Add("/headers/"+escapePointer(name), CodeInvalidHeader, why)
		}
	}
	enforceNonZero(&errs, fieldTimeout, c.Timeout)
	return errs
}

// notHTTP are ports of services that must not be reached by way of a callback,
// whatever the address rules say.
var notHTTP = []int{2049, 3306, 5432, 5672, 6379, 7233, 9042, 11211, 27017}

// checkURL says why a URL cannot be called, or "". url.Parse alone lets pass
// port 0, port 99999, an empty host, user information and zone ids.
func checkURL(raw string) string {
	if len(raw) > MaxURLLen {
		return fmt.Sprintf("must have at most %d characters", MaxURLLen)
	}
	u, err := url.Parse(raw)
	if err != nil || strings.ContainsFunc(raw, notVisibleASCII) {
		return "must be a URL in visible ASCII characters"
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

// numeric reports whether a host that ends in this label is an IPv4 address to
// many a resolver, in decimal, octal or hexadecimal (as in the URL standard of
// WHATWG). No top-level domain is a number.
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

// reservedHeaders are set by Wakecall or by HTTP itself. Idempotency-Key is
// among them because Go's transport resends such a POST by itself.
var reservedHeaders = []string{
	"accept-encoding", "connection", "content-encoding", "content-length", "content-type", "date", "expect",
	"forwarded", "host", "idempotency-key", "keep-alive", "metadata", "metadata-flavor", "te", "traceparent",
	"tracestate", "trailer", "transfer-encoding", "upgrade", "x-idempotency-key", "x-real-ip",
}

var reservedPrefixes = []string{
	"proxy-", "wakecall-", "webhook-", "x-amz-", "x-aws-ec2-metadata-", "x-forwarded-", "x-goog-",
}

func checkHeader(name, value string) string {
	lower := strings.ToLower(name)
	switch {
	case name == "" || len(name) > MaxHeaderName || strings.ContainsFunc(name, notTokenRune):
		return fmt.Sprintf("must have a name of 1 to %d token characters", MaxHeaderName)
	case slices.Contains(reservedHeaders, lower),
		slices.ContainsFunc(reservedPrefixes, func(p string) bool { return strings.HasPrefix(lower, p) }):
		return "is reserved"
	case len(value) > MaxHeaderValue:
		return fmt.Sprintf("must have a value of at most %d characters", MaxHeaderValue)
	case strings.ContainsFunc(value, func(r rune) bool { return r != ' ' && r != '\t' && notVisibleASCII(r) }):
		return "must have a value of visible ASCII characters"
	}
	return ""
}

// Target is where a callback goes, as it may be shown: without a query, in which some
// carry a secret. User information is refused in any case.
func (c Callback) Target() string {
	target, _, _ := strings.Cut(c.URL, "?")
	return target
}
