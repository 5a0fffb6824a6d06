package shared

import (
	"errors"
	"net/url"
	"regexp"

	"github.com/wakecall/wakecall/internal/config"
)

// Settings say where gateways share their limits.
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

// The words of the library would show a password.
var errURL = errors.New("must be redis://[user:password@]host:port/db")

var database = regexp.MustCompile(`^/?\d*$`)

// check says whether a URL is that of a Redis; rediss:// is one by TLS.
func check(rawURL string) error {
	parsed, err := url.Parse(rawURL)
	if err != nil || parsed.Scheme != "redis" && parsed.Scheme != "rediss" || parsed.Hostname() == "" ||
		!database.MatchString(parsed.Path) || parsed.RawQuery != "" || parsed.Fragment != "" {
		return errURL
	}
	return nil
}
