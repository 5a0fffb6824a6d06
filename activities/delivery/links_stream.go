package delivery

import (
	"context"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/tuning"
)

// A stream is down when no receiver has taken anything from its queue for the time of the
// policy, though something waited. An attempt by a link that is a stream is handed to the
// stream's queue with a bound on its wait there; when that has passed, Temporal hands it
// back. When receivers last asked for more, Temporal tells as well.

// streamHealth is what is known of a callback that is a stream.
type streamHealth struct {
	// lostAt is when it last showed that it is down, and tried whether one timer was
	// handed to it since.
	lostAt time.Time
	tried  bool
	// polled is when receivers last asked for more, as it was known at askedAt.
	polled, askedAt time.Time
}

// route says by which link an attempt goes. [links.tell] or [links.abandon] must be called
// with it.
func (a *Attempter) route(ctx context.Context, c attemptConfig, last *delivery.Report) route {
	if c.fallback == nil {
		return route{}
	}
	if last != nil && last.Handed != nil {
		if r, decided := a.goOn(ctx, c, *last); decided {
			return r
		}
	}
	r := a.links.choose(c, last, time.Now())
	if r.probe == nil || !c.callback.Stream || a.Polled == nil {
		return r
	}
	return a.links.seen(c, r, a.polled(ctx, c))
}

// goOn is the way of an attempt that was handed over: as it was decided, or by the other
// link where nobody took it. It is not decided where one link has used up its ladder.
func (a *Attempter) goOn(ctx context.Context, c attemptConfig, last delivery.Report) (r route, decided bool) {
	handed := *last.Handed
	switch {
	case handed.Missed && c.retry.LinkFor(last) != "":
		return route{}, false
	case handed.Missed && handed.Link == delivery.LinkFallback:
		return route{link: delivery.LinkCallback}, true
	case handed.Missed && c.callback.Stream && a.Polled != nil:
		return a.missed(ctx, c, handed), true
	case handed.Missed: // by a stream that the callback is no more
		return route{}, false
	case handed.Link == delivery.LinkFallback && c.callback.Stream && last.DownSince != 0: // its gateway says so
		a.links.lose(c, last.DownSince.Time())
	}
	r = route{link: handed.Link, downSince: last.DownSince.Time(), handed: true}
	if handed.Probe != 0 {
		r.probe = &probe{timeout: handed.Probe.D()}
	}
	return r, true
}

// missed is the way of an attempt that no receiver took from the stream in its time: to the
// fallback, unless receivers have taken others meanwhile.
func (a *Attempter) missed(ctx context.Context, c attemptConfig, handed delivery.Handover) route {
	polled := a.polled(ctx, c)
	left := time.Until(polled.Add(c.fallback.After.D()))
	if at := handed.At.Time(); !polled.After(at) || left <= tuning.LinkTolerance {
		a.links.lose(c, at)
		return route{link: delivery.LinkFallback, downSince: at}
	}
	a.links.found(c)
	return route{link: delivery.LinkCallback, wait: max(left, busyFor(handed.Times)), times: handed.Times + 1}
}

// WatchStream waits at a stream that is busy: it fails, to be repeated, as long as receivers
// take attempts from it, and ends when the attempt that waits there goes by the other link,
// or when that has to be decided anew.
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
	return temporal.NewApplicationErrorWithOptions("receivers take others", "busy", temporal.ApplicationErrorOptions{
		NextRetryDelay: max(left, busyFor(int(activity.GetInfo(ctx).Attempt))), Category: temporal.ApplicationErrorCategoryBenign,
	})
}

// busyFor is how long a stream is left alone that has shown so often in a row that it is
// busy.
func busyFor(times int) time.Duration {
	return min(tuning.FirstBusyStream<<min(times, 10), tuning.LongestBusyStream)
}

// polled is when receivers of the type last asked for more, by any gateway; zero where that
// is not known. A type with a rate is asked for no more than its rate.
func (a *Attempter) polled(ctx context.Context, c attemptConfig) time.Time {
	now := time.Now()
	known, ask := a.links.polledBefore(c, now)
	if ask {
		if polled, err := a.Polled(ctx, c.policy.BusinessType); err == nil {
			known = polled
			a.links.notePolled(c, polled)
		}
	}
	if rate := c.policy.Rate(now); rate != nil && !known.IsZero() {
		known = known.Add(min(time.Duration(2*float64(time.Second)/max(*rate, 0.001)), tuning.PollLasts))
	}
	return known
}

func (l *links) polledBefore(c attemptConfig, now time.Time) (polled time.Time, ask bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := &l.of(c).stream
	if ask = now.Sub(s.askedAt) >= tuning.PollsKnown; ask {
		s.askedAt = now
	}
	return s.polled, ask
}

func (l *links) notePolled(c attemptConfig, polled time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.of(c).stream.polled = polled
}

// lose notes that the callback, a stream, is down, and since when.
func (l *links) lose(c attemptConfig, since time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	h, now := l.of(c), time.Now()
	if over := now.Add(-c.fallback.After.D()); since.After(over) {
		since = over
	}
	if h.downSince.IsZero() || since.Before(h.downSince) {
		h.downSince = since
	}
	if h.stream.tried {
		h.lengthen()
	}
	h.stream.lostAt, h.stream.tried, h.probeAt = now, false, now.Add(max(h.pause, tuning.FirstLinkProbe))
}

// found notes that receivers take what comes by the callback, a stream.
func (l *links) found(c attemptConfig) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.of(c).rise(time.Now())
}

// seen is the way of a probe of a stream, by when receivers last asked for more. Where they
// have done so since the stream was lost they get one timer, and all others as soon as they
// have asked again. Nobody waits for a stream of which that is not so.
func (l *links) seen(c attemptConfig, r route, polled time.Time) route {
	l.mu.Lock()
	defer l.mu.Unlock()
	h, now := l.of(c), time.Now()
	h.settle(r)
	switch {
	case !polled.After(h.stream.lostAt):
		h.probeAt = now.Add(tuning.FirstLinkProbe)
		return route{link: delivery.LinkFallback, downSince: h.downSince}
	case h.stream.tried:
		h.rise(now)
		return route{link: delivery.LinkCallback}
	default:
		h.stream.lostAt, h.stream.tried, h.probeAt = now, true, now.Add(2*r.probe.timeout)
		return r
	}
}

// handOver is the report of an attempt that is made on another queue than the one on which
// it has come.
func (c attemptConfig) handOver(next attempt, r route) delivery.Report {
	way := c.by(r)
	report := next.skip(way, delivery.ResultUseQueue)
	if r.link == "" {
		return report
	}
	report.Stream, report.Handed = way.callback.Stream, nil
	if !r.downSince.IsZero() {
		report.DownSince = wire.At(r.downSince)
	}
	switch {
	case way.callback.Stream:
		handed := delivery.Handover{Link: r.link, At: wire.At(time.Now()), Wait: wire.Duration(c.waitsFor(next, r)), Times: r.times}
		if r.probe != nil {
			handed.Probe = wire.Duration(r.probe.timeout)
		}
		report.Handed = &handed
	case r.link == delivery.LinkFallback: // else the worker knows best whether the callback works
		report.Handed = &delivery.Handover{Link: r.link, At: wire.At(time.Now())}
	}
	return report
}

// waitsFor is how long an attempt waits for a receiver to connect before it goes by the
// other link, zero for as long as it takes. Behind a callback that is down that is as long
// as the ladder says, by which the callback is tried again.
func (c attemptConfig) waitsFor(next attempt, r route) time.Duration {
	switch {
	case r.only:
		return 0
	case r.wait != 0:
		return r.wait
	case r.probe != nil:
		return tuning.FirstLinkProbe
	case r.link == delivery.LinkCallback:
		return c.fallback.After.D()
	}
	step := c.retry.StepFor(next.last)
	if step == 0 {
		return 0
	}
	return max(step, tuning.FirstLinkProbe)
}

// drain is what becomes of an attempt that a worker took from the queue of a stream which
// is one of two links: it goes back with a bound on its wait, or, where it has one, for a
// moment.
func (a *Attempter) drain(c attemptConfig, next attempt, r route, queue string) (report delivery.Report, drained bool) {
	switch {
	case a.Polled == nil || c.fallback == nil || !c.by(r).callback.Stream || queue != a.Queue(c.policy, true):
		return delivery.Report{}, false
	case r.handed:
		return next.wait(c, tuning.DrainedWait, ""), true
	default:
		return c.handOver(next, r), true
	}
}
