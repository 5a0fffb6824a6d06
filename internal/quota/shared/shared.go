// Package shared counts bookings in Redis, exactly over all gateways that share one. It is
// separate from [quota], so that a program of one process needs no client of Redis.
package shared

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/wakecall/wakecall/internal/quota"
	"github.com/wakecall/wakecall/internal/tuning"
)

// keyPrefix begins every key in Redis.
const keyPrefix = "wakecall:bookings:"

// take takes a token from a bucket, and returns the microseconds until there is one. A bucket is
// the time at which it is full again (the generic cell rate algorithm), by the clock of Redis.
// Its arguments are the microseconds per token, and the size of the bucket.
var take = redis.NewScript(1, `
local time = redis.call("TIME")
local now = time[1] * 1000000 + time[2]
local interval, burst = tonumber(ARGV[1]), tonumber(ARGV[2])
local full = math.max(tonumber(redis.call("GET", KEYS[1]) or 0), now) + interval
local wait = full - now - interval * burst
if wait > 0 then
	return math.ceil(wait)
end
redis.call("SET", KEYS[1], string.format("%.0f", full), "PX", math.ceil((full - now) / 1000))
return 0`)

// Limiter holds its buckets in Redis, exact over all processes. While Redis does not answer,
// each process applies the limit by itself.
type Limiter struct {
	pool   *redis.Pool
	logger *slog.Logger
	local  quota.Local
	down   atomic.Bool
}

// New returns a limiter on the Redis at url, redis://[user:password@]host:port/db.
func New(url string, logger *slog.Logger) (*Limiter, error) {
	if err := check(url); err != nil {
		return nil, err
	}
	return &Limiter{logger: logger, pool: &redis.Pool{
		MaxIdle: tuning.SharedLimitConnections, MaxActive: tuning.SharedLimitConnections, Wait: true,
		DialContext: func(ctx context.Context) (redis.Conn, error) { return redis.DialURLContext(ctx, url) },
	}}, nil
}

// Close closes the connections.
func (l *Limiter) Close() {
	if err := l.pool.Close(); err != nil {
		l.logger.Warn("redis did not close cleanly", "error", err)
	}
}

// Allow takes a token from the bucket of key, or returns the time until there is one.
func (l *Limiter) Allow(ctx context.Context, key string, limit quota.Limit) (wait time.Duration, err error) {
	if limit.Rate <= 0 {
		return tuning.ClosedRetryAfter, nil
	}
	asking, cancel := context.WithTimeout(ctx, tuning.SharedLimitTimeout)
	defer cancel()
	wait, err = l.request(asking, l.pool.GetContext, key, limit)
	if _, answered := errors.AsType[redis.Error](err); err != nil && !answered {
		// A pooled connection may be dead, as after a restart of Redis.
		wait, err = l.request(asking, l.pool.DialContext, key, limit)
	}
	if l.logOutage(err); err != nil {
		return l.local.Allow(ctx, key, limit)
	}
	return wait, nil
}

func (l *Limiter) request(ctx context.Context, connect func(context.Context) (redis.Conn, error), key string,
	limit quota.Limit) (time.Duration, error) {
	conn, err := connect(ctx)
	if err != nil {
		return 0, err
	}
	defer func() { _ = conn.Close() }()
	microseconds, err := redis.Int64(take.DoContext(ctx, conn, keyPrefix+key, 1e6/limit.Rate, limit.Burst))
	return time.Duration(microseconds) * time.Microsecond, err
}

// logOutage logs when Redis goes and when it comes back, but not each failure between.
func (l *Limiter) logOutage(err error) {
	if down := err != nil; l.down.Swap(down) != down {
		l.logger.Warn("limits on bookings", "shared", !down, "error", err)
	}
}
