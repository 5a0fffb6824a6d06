package config

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/caarlos0/env/v11"

	"github.com/wakecall/wakecall/internal/auth"
)

var parsers = map[reflect.Type]env.ParserFunc{
	reflect.TypeFor[netip.Prefix](): func(text string) (any, error) {
		network, err := netip.ParsePrefix(strings.TrimSpace(text))
		if err != nil {
			return nil, errors.New("must be networks such as 10.0.0.0/8, with commas between them")
		}
		return network, nil
	},
	reflect.TypeFor[auth.Mapping](): func(text string) (any, error) { return auth.ParseMapping(text) },
	reflect.TypeFor[auth.Key]():     func(text string) (any, error) { return auth.ParseKey(text) },
	reflect.TypeFor[time.Duration](): func(text string) (any, error) {
		d, err := time.ParseDuration(text)
		if err != nil {
			return nil, fmt.Errorf("%q is not a duration such as 90s, 30m or 72h", text)
		}
		return d, nil
	},
	reflect.TypeFor[int](): func(text string) (any, error) {
		n, err := strconv.Atoi(text)
		if err != nil {
			return nil, fmt.Errorf("%q is not a whole number", text)
		}
		return n, nil
	},
	reflect.TypeFor[bool](): func(text string) (any, error) {
		is, err := strconv.ParseBool(text)
		if err != nil {
			return nil, fmt.Errorf("%q is neither true nor false", text)
		}
		return is, nil
	},
}

// Loopback reports whether an address to listen on is for this machine alone. It returns an
// error for an invalid address.
func Loopback(addr string) (bool, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return false, fmt.Errorf("%q is not a host:port", addr)
	}
	if _, err := net.LookupPort("tcp", port); err != nil {
		return false, fmt.Errorf("%q has no port from 0 to 65535", addr)
	}
	if host == "localhost" {
		return true, nil
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback(), nil
}

func isWebAddress(text string) bool {
	address, err := url.Parse(text)
	return err == nil && (address.Scheme == "http" || address.Scheme == "https") && address.Host != ""
}
