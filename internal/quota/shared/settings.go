package shared

import (
	"github.com/redis/go-redis/v9"

	"github.com/wakecall/wakecall/internal/config"
)

// Settings say where gateways share their limits.
type Settings struct {
	RedisURL string `env:"WAKECALL_REDIS_URL" secret:"true" help:"redis://[user:password@]host:port/db where gateways share their limits on bookings; without it each gateway keeps to the limit by itself"`
}

// Check implements [config.Settings].
func (s Settings) Check(f *config.Faults) {
	if _, err := redis.ParseURL(s.RedisURL); s.RedisURL != "" && err != nil {
		// Its words would show a password.
		f.Add("WAKECALL_REDIS_URL", "must be redis://[user:password@]host:port/db")
	}
}
