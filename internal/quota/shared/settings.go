package shared

import (
	"errors"
	"net/url"
	"regexp"

	"github.com/wakecall/wakecall/internal/config"
)

// Settings locate the limits shared by gateways.
type Settings struct {
	RedisURL string `env:"WAKECALL_REDIS_URL" secret:"true" help:"redis://[user:password@]host:port/db where gateways share their limits on bookings; without it each gateway keeps to the limit by itself"`
}

// Check implements [config.Settings].
func (s Settings) Check(f *config.Faults) {
	if s.RedisURL != "" {
		if err := check(s.RedisURL); err != nil {
			f.Add("WAKECALL_REDIS_URL", "%w", err)
		}
	}
}

// The library's errors would contain a password.
var errURL = errors.New("must be redis://[user:password@]host:port/db")

var database = regexp.MustCompile(`^/?\d*$`)

// check returns an error unless a URL is that of a Redis; rediss:// is for TLS.
func check(rawURL string) error {
	parsed, err := url.Parse(rawURL)
	if err != nil || parsed.Scheme != "redis" && parsed.Scheme != "rediss" || parsed.Hostname() == "" ||
		!database.MatchString(parsed.Path) || parsed.RawQuery != "" || parsed.Fragment != "" {
		return errURL
	}
	return nil
}
