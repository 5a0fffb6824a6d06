package quota

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/go-redis/redis_rate/v10"
	"github.com/redis/go-redis/v9"

	"github.com/wakecall/wakecall/internal/tuning"
)

// keyPrefix stands before every key in Redis.
const keyPrefix = "wakecall:adds:"

// Shared keeps its buckets in Redis, exact over all processes. While Redis does
// not answer, each process keeps to the limit by itself.
type Shared struct {
	client  *redis.Client
	limiter *redis_rate.Limiter
	logger  *slog.Logger
	local   Local
	down    atomic.Bool
}

// NewShared returns a limiter on the Redis at url, redis://[user:password@]host:port/db.
func NewShared(url string, logger *slog.Logger) (*Shared, error) {
	options, err := redis.ParseURL(url)
	if err != nil {
		return nil, err
	}
	redis.SetLogger(silent{})
	client := redis.NewClient(options)
	return &Shared{client: client, limiter: redis_rate.NewLimiter(client), logger: logger}, nil
}

// Close ends the connections.
func (s *Shared) Close() error { return s.client.Close() }

// Allow takes a token from the bucket of key, or says when there will be one.
func (s *Shared) Allow(ctx context.Context, key string, limit Limit) (wait time.Duration, err error) {
	if limit.Rate <= 0 {
		return tuning.ClosedRetryAfter, nil
	}
	asking, cancel := context.WithTimeout(ctx, tuning.SharedLimitTimeout)
	defer cancel()
	result, err := s.limiter.Allow(asking, keyPrefix+key, redis_rate.Limit{
		Rate: 1, Burst: limit.Burst, Period: time.Duration(float64(time.Second) / limit.Rate),
	})
	if s.note(err); err != nil {
		return s.local.Allow(ctx, key, limit)
	}
	if result.Allowed > 0 {
		return 0, nil
	}
	return result.RetryAfter, nil
}

// note logs when Redis goes and when it comes back, and not each time between.
func (s *Shared) note(err error) {
	if down := err != nil; s.down.Swap(down) != down {
		s.logger.Warn("limits on bookings", "shared", !down, "error", err)
	}
}

// silent keeps the client from writing each failed dial to standard error: that
// Redis is away is logged once.
type silent struct{}

func (silent) Printf(context.Context, string, ...any) {}
