// Package shared counts bookings in Redis, exact over all gateways that use one. It is
// apart from [quota]: the client of Redis is a large library, which a program of one
// process goes without.
package shared

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/go-redis/redis_rate/v10"
	"github.com/redis/go-redis/v9"

	"github.com/wakecall/wakecall/internal/quota"
	"github.com/wakecall/wakecall/internal/tuning"
)

// keyPrefix stands before every key in Redis.
const keyPrefix = "wakecall:adds:"

// Limiter keeps its buckets in Redis, exact over all processes. While Redis does
// not answer, each process keeps to the limit by itself.
type Limiter struct {
	client  *redis.Client
	limiter *redis_rate.Limiter
	logger  *slog.Logger
	local   quota.Local
	down    atomic.Bool
}

// New returns a limiter on the Redis at url, redis://[user:password@]host:port/db.
func New(url string, logger *slog.Logger) (*Limiter, error) {
	options, err := redis.ParseURL(url)
	if err != nil {
		return nil, err
	}
	redis.SetLogger(silent{})
	client := redis.NewClient(options)
	return &Limiter{client: client, limiter: redis_rate.NewLimiter(client), logger: logger}, nil
}

// Close ends the connections.
func (l *Limiter) Close() {
	if err := l.client.Close(); err != nil {
		l.logger.Warn("redis did not end cleanly", "error", err)
	}
}

// Allow takes a token from the bucket of key, or says when there will be one.
func (l *Limiter) Allow(ctx context.Context, key string, limit quota.Limit) (wait time.Duration, err error) {
	if limit.Rate <= 0 {
		return tuning.ClosedRetryAfter, nil
	}
	asking, cancel := context.WithTimeout(ctx, tuning.SharedLimitTimeout)
	defer cancel()
	result, err := l.limiter.Allow(asking, keyPrefix+key, redis_rate.Limit{
		Rate: 1, Burst: limit.Burst, Period: time.Duration(float64(time.Second) / limit.Rate),
	})
	if l.note(err); err != nil {
		return l.local.Allow(ctx, key, limit)
	}
	if result.Allowed > 0 {
		return 0, nil
	}
	return result.RetryAfter, nil
}

// note logs when Redis goes and when it comes back, and not each time between.
func (l *Limiter) note(err error) {
	if down := err != nil; l.down.Swap(down) != down {
		l.logger.Warn("limits on bookings", "shared", !down, "error", err)
	}
}

// silent keeps the client from writing each failed dial to standard error: that
// Redis is away is logged once.
type silent struct{}

func (silent) Printf(context.Context, string, ...any) {}
