// Package config reads Wakecall's own settings from the environment. How to
// reach Temporal is read by the SDK's envconfig, with the same variables as
// the temporal CLI.
package config

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"

	"github.com/caarlos0/env/v11"
	"github.com/redis/go-redis/v9"

	"github.com/wakecall/wakecall/internal/seal"
)

// Config is every setting of the roles api and worker. The help text is what
// docs/configuration.md says.
type Config struct {
	HTTPAddr string `env:"WAKECALL_HTTP_ADDR" envDefault:"127.0.0.1:8080" help:"where the API listens"`
	APIKeys  []Key  `env:"WAKECALL_API_KEYS" help:"comma-separated name:sha256-hex pairs of the API keys that are let in; without any, the API listens on loopback only"`
	WebUI    string `env:"WAKECALL_WEB_UI_URL" help:"base URL of Temporal's Web UI, for the links in answers"`

	SecretKey     string         `env:"WAKECALL_SECRET_KEY" help:"base64 of 32 bytes that seals signing secrets and header values; the same for api and worker"`
	CallbackAllow []netip.Prefix `env:"WAKECALL_CALLBACK_ALLOW" help:"comma-separated private networks (CIDR) that callbacks may reach; none by default"`

	PolicyTTL         time.Duration `env:"WAKECALL_POLICY_TTL" envDefault:"3s" help:"how long a policy that was read is trusted, and how often a worker looks for new ones"`
	ReconcileInterval time.Duration `env:"WAKECALL_RECONCILE_INTERVAL" envDefault:"1m" help:"how often a worker looks for timers that are overdue by as much with nothing under way, and wakes them; 0s for never"`
	RedisURL          string        `env:"WAKECALL_REDIS_URL" help:"redis://[user:password@]host:port/db where gateways share their limits on bookings; without it each gateway keeps to the limit by itself"`
	StopTimeout       time.Duration `env:"WAKECALL_STOP_TIMEOUT" envDefault:"65s" help:"how long a stopping worker waits for attempts in flight; above the longest attempt timeout, or a deploy makes duplicates"`
	MetricsAddr       string        `env:"WAKECALL_METRICS_ADDR" envDefault:"127.0.0.1:9090" help:"where the role worker serves /metrics and /livez"`
	LogLevel          string        `env:"WAKECALL_LOG_LEVEL" envDefault:"info" help:"debug, info, warn or error"`
}

// maxPolicyTTL keeps the promise that a changed policy is in force within it.
const maxPolicyTTL = 10 * time.Second

// Key admits one API client, by the digest of its key.
type Key struct {
	Name   string
	SHA256 [32]byte
}

// Load reads the environment, and checks everything before anything is opened.
// Its error names every variable that is wrong.
func Load() (Config, error) {
	config, err := env.ParseAsWithOptions[Config](env.Options{FuncMap: parsers})
	if err != nil {
		return Config{}, err
	}
	return config, config.check()
}

func (c Config) check() error {
	var wrong []error
	if _, err := seal.New(c.SecretKey); err != nil {
		wrong = append(wrong, fmt.Errorf("WAKECALL_SECRET_KEY: %w", err))
	}
	loopback, err := isLoopback(c.HTTPAddr)
	switch {
	case err != nil:
		wrong = append(wrong, fmt.Errorf("WAKECALL_HTTP_ADDR: %w", err))
	case !loopback && len(c.APIKeys) == 0:
		wrong = append(wrong, errors.New("WAKECALL_HTTP_ADDR: an address beyond loopback needs WAKECALL_API_KEYS"))
	}
	if c.PolicyTTL < 0 || c.PolicyTTL > maxPolicyTTL {
		wrong = append(wrong, fmt.Errorf("WAKECALL_POLICY_TTL: must be from 0s to %s", maxPolicyTTL))
	}
	if _, err := redis.ParseURL(c.RedisURL); c.RedisURL != "" && err != nil {
		// Its words would show a password.
		wrong = append(wrong, errors.New("WAKECALL_REDIS_URL: must be redis://[user:password@]host:port/db"))
	}
	if c.ReconcileInterval < 0 {
		wrong = append(wrong, errors.New("WAKECALL_RECONCILE_INTERVAL: must not be negative"))
	}
	if c.StopTimeout < 0 {
		wrong = append(wrong, errors.New("WAKECALL_STOP_TIMEOUT: must not be negative"))
	}
	return errors.Join(wrong...)
}

func isLoopback(addr string) (bool, error) {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return false, err
	}
	if host == "localhost" {
		return true, nil
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback(), nil
}
