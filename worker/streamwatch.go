package worker

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/tuning"
)

// streamWatch shows the attempts that wait for receivers, and raises an alert once an hour while
// there are any. It finds the stream types in the list of all policies.
type streamWatch struct {
	waiting  func(ctx context.Context, businessType string) (attempts int, longest time.Duration, err error)
	alerts   Alerts
	observer Observer
	logger   *slog.Logger
	// next is when it checks again.
	next time.Time

	mu sync.Mutex
	// old are the types with attempts that wait under an older version of the policy.
	old map[string]bool
}

// outdated reports whether attempts of a type wait for receivers under an older version of its
// policy.
func (w *streamWatch) outdated(businessType string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.old[businessType]
}

// look checks the types with receivers that connect, unless it has just done so.
func (w *streamWatch) look(ctx context.Context, policies []policy.Policy) {
	now := time.Now()
	if now.Before(w.next) {
		return
	}
	w.next = now.Add(tuning.StreamWatch)
	counts, old := map[string]int{}, map[string]bool{}
	for _, policy := range policies {
		if !policy.Streams() {
			continue
		}
		attempts, longest, err := w.waiting(ctx, policy.BusinessType)
		if err != nil {
			w.logger.Warn("a stream could not be checked", "business_type", policy.BusinessType, "error", err)
			continue
		}
		old[policy.BusinessType] = attempts > 0 && policy.StreamedUntil != 0 &&
			now.Add(-longest).Before(policy.StreamedUntil.Time().Add(tuning.PolicyHeard))
		if rate := policy.Rate(now); rate != nil && *rate == 0 { // they wait for the end of the pause
			attempts = 0
		}
		counts[policy.BusinessType] = attempts
		if attempts > 0 && longest >= tuning.StreamPatience {
			w.raise(ctx, timer.EventData{BusinessType: policy.BusinessType, Waiting: attempts, WaitingSince: wire.At(now.Add(-longest))})
		}
	}
	w.observer.StreamsWait(counts)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.old = old
}

func (w *streamWatch) raise(ctx context.Context, data timer.EventData) {
	now := wire.At(time.Now())
	w.logger.Warn("timers wait for a receiver to connect", "business_type", data.BusinessType, "timers", data.Waiting)
	event := timer.Event{Type: timer.EventStreamWaits, At: now, Data: data}
	if err := w.alerts.Raise(ctx, event, wire.At(now.Time().Truncate(time.Hour)).String()); err != nil {
		w.logger.Warn("an alert was not raised", "business_type", data.BusinessType, "error", err)
	}
}
