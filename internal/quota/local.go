package quota

import (
	"context"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/wakecall/wakecall/internal/tuning"
)

// Limit is a token bucket: Rate tokens a second, at most Burst at once.
type Limit struct {
	Rate  float64
	Burst int
}

// Local holds the buckets of one process. Its zero value is ready for use.
type Local struct {
	mu      sync.Mutex
	buckets map[string]*rate.Limiter
}

// Allow takes a token from the bucket of key, or returns the time until there is one. A changed
// limit takes effect at once. It never fails.
func (l *Local) Allow(_ context.Context, key string, limit Limit) (wait time.Duration, err error) {
	if limit.Rate <= 0 {
		return tuning.ClosedRetryAfter, nil
	}
	now := time.Now()
	reservation := l.bucket(key, limit, now).ReserveN(now, 1)
	if wait = reservation.DelayFrom(now); wait > 0 {
		reservation.CancelAt(now)
	}
	return wait, nil
}

func (l *Local) bucket(key string, limit Limit, now time.Time) *rate.Limiter {
	l.mu.Lock()
	defer l.mu.Unlock()
	bucket, ok := l.buckets[key]
	if !ok {
		if l.buckets == nil || len(l.buckets) >= tuning.LimitedTypes {
			l.buckets = map[string]*rate.Limiter{}
		}
		bucket = rate.NewLimiter(rate.Limit(limit.Rate), limit.Burst)
		l.buckets[key] = bucket
	}
	if bucket.Limit() != rate.Limit(limit.Rate) {
		bucket.SetLimitAt(now, rate.Limit(limit.Rate))
	}
	if bucket.Burst() != limit.Burst {
		bucket.SetBurstAt(now, limit.Burst)
	}
	return bucket
}
