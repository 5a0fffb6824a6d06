package stats

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/singleflight"

	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/engine/query"
	"github.com/wakecall/wakecall/engine/registry"
	"github.com/wakecall/wakecall/engine/visibility"
	"github.com/wakecall/wakecall/internal/tuning"
)

// Stats counts timers by status and business type. Visibility groups a count by its own
// status only, so each type is a count. Timers that are delivering, paused, expired or
// redelivered are few, and are listed. A timer that failed and was tried again counts by its last run.
type Stats struct {
	kernel   *kernel.Kernel
	registry registry.Registry

	counts singleflight.Group
	mu     sync.Mutex
	known  map[string]countedStats
}

type countedStats struct {
	stats timer.Stats
	until time.Time
}

// New returns the Stats of a namespace.
func New(k *kernel.Kernel) *Stats {
	return &Stats{kernel: k, registry: registry.New(k), known: map[string]countedStats{}}
}

// Count counts the timers of a business type, or of all types for "". An answer is reused for
// a second, and for ten times as long as the count took. The error is [wire.Unavailable].
func (s *Stats) Count(ctx context.Context, businessType string) (timer.Stats, error) {
	return s.reuse(ctx, selection{businessType: businessType})
}

// CountWith is Count for all types, with further types among those that are counted one by one.
// They need no policy.
func (s *Stats) CountWith(ctx context.Context, further []string) (timer.Stats, error) {
	return s.reuse(ctx, selection{further: further})
}

// selection is what is counted: a business type, or each type with a policy and further ones.
type selection struct {
	businessType string
	further      []string
}

// key identifies the selection. No business type has a NUL.
func (c selection) key() string {
	return strings.Join(append([]string{c.businessType}, c.further...), "\x00")
}

// reuse returns the answer of a moment ago, or counts.
func (s *Stats) reuse(ctx context.Context, of selection) (timer.Stats, error) {
	s.mu.Lock()
	known := s.known[of.key()]
	s.mu.Unlock()
	if time.Now().Before(known.until) {
		return known.stats, nil
	}
	result := s.counts.DoChan(of.key(), func() (any, error) {
		shared, cancel := kernel.Bounded(context.WithoutCancel(ctx))
		defer cancel()
		return s.countAnew(shared, of)
	})
	select {
	case r := <-result:
		return r.Val.(timer.Stats), r.Err
	case <-ctx.Done():
		return timer.Stats{}, kernel.Translate(ctx.Err())
	}
}

// countAnew counts, and stores the answer.
func (s *Stats) countAnew(ctx context.Context, of selection) (timer.Stats, error) {
	began := time.Now()
	stats, err := s.count(ctx, of)
	if err != nil {
		return stats, err
	}
	now := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.known) >= tuning.CachedPolicies {
		clear(s.known)
	}
	s.known[of.key()] = countedStats{stats, now.Add(max(tuning.StatsTrusted, tuning.StatsRest*now.Sub(began)))}
	return stats, nil
}

// types are the business types to count one by one, in order.
func (s *Stats) types(ctx context.Context, of selection) ([]string, error) {
	if of.businessType != "" {
		return []string{of.businessType}, nil
	}
	registered, err := s.registry.Read(ctx)
	if err != nil {
		return nil, err
	}
	types := slices.AppendSeq(slices.Clone(of.further), maps.Keys(registered))
	slices.Sort(types)
	return slices.Compact(types), nil
}

func (s *Stats) count(ctx context.Context, of selection) (stats timer.Stats, err error) {
	stats.CountedAt = wire.At(time.Now())
	types, err := s.types(ctx, of)
	if err != nil {
		return stats, err
	}
	apart := groupCounter{Stats: s}
	if err := apart.read(ctx); err != nil {
		return stats, err
	}
	stats.BusinessTypes = make([]timer.TypeStats, len(types))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(tuning.StatsWidth)
	for i, name := range types {
		group.Go(func() (err error) {
			stats.BusinessTypes[i].BusinessType = name
			stats.BusinessTypes[i].Timers, err = apart.countTimers(ctx, name)
			return err
		})
	}
	if of.businessType == "" {
		group.Go(func() (err error) { stats.Timers, err = apart.countTimers(ctx, ""); return err })
	}
	if err = group.Wait(); err == nil && of.businessType != "" {
		stats.Timers = stats.BusinessTypes[0].Timers
	}
	return stats, err
}

func (c *groupCounter) countTimers(ctx context.Context, businessType string) (counts timer.StatusCounts, err error) {
	q := query.All(visibility.Timers(), query.NotStatus(visibility.Continued))
	if businessType != "" {
		q = query.All(visibility.Timers(), visibility.BusinessType.Is(businessType))
	}
	by, err := c.kernel.CountByStatus(ctx, q)
	if err != nil {
		return counts, err
	}
	again := 0
	for n, into := range [allGroups]*int{&counts.Delivering, &counts.Paused, &counts.Expired, &again} {
		if *into, err = c.inGroup(ctx, businessType, n); err != nil {
			return counts, err
		}
	}
	// The counts were not made at one moment.
	counts.Scheduled = max(by[visibility.Running]-counts.Delivering-counts.Paused, 0)
	counts.Delivered = max(by[visibility.Completed]-counts.Expired, 0)
	counts.Failed = max(by[visibility.Failed]+by[visibility.TimedOut]-again, 0)
	counts.Cancelled = by[visibility.Canceled] + by[visibility.Terminated]
	return counts, nil
}
