package delivery

import (
	"context"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/internal/tuning"
)

// A stream is down when no receiver has taken anything from its queue for the policy's time,
// though something waited. An attempt by a stream link is handed to the stream's queue with
// a bound on its wait. After that Temporal returns it. Temporal also knows when receivers
// last asked for more.

// streamHealth is the state of a callback that is a stream.
type streamHealth struct {
	// lostAt is when the stream last proved to be down, and tried reports whether one timer
	// was handed to it since.
	lostAt time.Time
	tried  bool
	// polled is when receivers last asked for more, as known at askedAt.
	polled, askedAt time.Time
}

// WatchStream waits at a busy stream. It fails, and is repeated, while receivers take
// attempts from the stream. It ends when the waiting attempt takes the other link, or when
// its link must be chosen anew.
func (a *Attempter) WatchStream(ctx context.Context, spec timer.Spec) error {
	config, err := a.configure(ctx, spec)
	if err != nil {
		return err
	}
	if config.fallback == nil || !config.callback.Stream || a.Polled == nil {
		return nil
	}
	left := time.Until(a.polled(ctx, config).Add(config.fallback.After.D()))
	if left <= tuning.LinkTolerance {
		return nil
	}
	return temporal.NewApplicationErrorWithOptions("the receivers are busy with other timers", "busy", temporal.ApplicationErrorOptions{
		NextRetryDelay: max(left, busyFor(int(activity.GetInfo(ctx).Attempt))), Category: temporal.ApplicationErrorCategoryBenign,
	})
}

// busyFor is how long to leave a stream alone that has been found busy so often in a row.
func busyFor(times int) time.Duration {
	return min(tuning.FirstBusyStream<<min(times, 10), tuning.LongestBusyStream)
}

// polled is when receivers of the type last asked any gateway for more; zero if unknown. A
// type with a rate is asked for no more than its rate.
func (a *Attempter) polled(ctx context.Context, s settings) time.Time {
	now := time.Now()
	known, ask := a.links.cachedPoll(s, now)
	if ask {
		if polled, err := a.Polled(ctx, s.policy.BusinessType); err == nil {
			known = polled
			a.links.cachePoll(s, polled)
		}
	}
	if rate := s.policy.Rate(now); rate != nil && !known.IsZero() {
		known = known.Add(min(time.Duration(2*float64(time.Second)/max(*rate, 0.001)), tuning.PollLasts))
	}
	return known
}

func (l *links) cachedPoll(s settings, now time.Time) (polled time.Time, ask bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	h := &l.entryFor(s).stream
	if ask = now.Sub(h.askedAt) >= tuning.PollsKnown; ask {
		h.askedAt = now
	}
	return h.polled, ask
}

func (l *links) cachePoll(s settings, polled time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entryFor(s).stream.polled = polled
}

// markStreamDown records that the callback, a stream, is down, and since when.
func (l *links) markStreamDown(s settings, since time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	h, now := l.entryFor(s), time.Now()
	if over := now.Add(-s.fallback.After.D()); since.After(over) {
		since = over
	}
	if h.downSince.IsZero() || since.Before(h.downSince) {
		h.downSince = since
	}
	if h.stream.tried {
		h.lengthenPause()
	}
	h.stream.lostAt, h.stream.tried, h.probeAt = now, false, now.Add(max(h.pause, tuning.FirstLinkProbe))
}

// markStreamUp records that receivers take attempts by the callback, a stream.
func (l *links) markStreamUp(s settings) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entryFor(s).markUp(time.Now())
}

// probeStream is the route of a probe of a stream, given when receivers last asked for more.
// If they have asked since the stream was lost, they get one timer, and all others once they
// have asked again. No timer waits for another stream.
func (l *links) probeStream(s settings, r route, polled time.Time) route {
	l.mu.Lock()
	defer l.mu.Unlock()
	h, now := l.entryFor(s), time.Now()
	h.endProbe(r)
	switch {
	case !polled.After(h.stream.lostAt):
		h.probeAt = now.Add(tuning.FirstLinkProbe)
		return route{link: delivery.LinkFallback, downSince: h.downSince}
	case h.stream.tried:
		h.markUp(now)
		return route{link: delivery.LinkCallback}
	default:
		h.stream.lostAt, h.stream.tried, h.probeAt = now, true, now.Add(2*r.probe.timeout)
		return r
	}
}
