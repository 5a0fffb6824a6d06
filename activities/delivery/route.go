package delivery

import (
	"context"
	"time"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/internal/tuning"
)

// route is the way of one attempt.
type route struct {
	link delivery.Link // empty if there is only one
	// only reports whether the other link has used up its ladder.
	only bool
	// probe is set if the attempt tests for all others whether the callback works again.
	probe *probe
	// downSince is since when the callback has failed, zero if it works.
	downSince time.Time
	// handed reports whether the route was decided before the attempt came here. wait is how
	// long it waits for busy receivers, and times is the number of such waits.
	handed bool
	wait   time.Duration
	times  int
}

// probe is limited to its timeout.
type probe struct{ timeout time.Duration }

// chooseRoute chooses the attempt's link. [links.record] or [links.release] must be called
// with the route.
func (t *try) chooseRoute(ctx context.Context) route {
	if t.fallback == nil {
		return route{}
	}
	if t.last != nil && t.last.Handed != nil {
		if r, decided := t.handedRoute(ctx); decided {
			return r
		}
	}
	r := t.links.choose(t.settings, t.last, time.Now())
	if r.probe == nil || !t.callback.Stream || t.Polled == nil {
		return r
	}
	return t.links.probeStream(t.settings, r, t.polled(ctx, t.settings))
}

// handedRoute is the route of an attempt that was handed over: the decided one, or the other
// link if no receiver took it. decided is false if one link has used up its ladder.
func (t *try) handedRoute(ctx context.Context) (r route, decided bool) {
	last, handed := *t.last, *t.last.Handed
	switch {
	case handed.Missed && t.retry.LinkFor(last) != "":
		return route{}, false
	case handed.Missed && handed.Link == delivery.LinkFallback:
		return route{link: delivery.LinkCallback}, true
	case handed.Missed && t.callback.Stream && t.Polled != nil:
		return t.missedRoute(ctx), true
	case handed.Missed: // by a stream that is no longer the callback
		return route{}, false
	case handed.Link == delivery.LinkFallback && t.callback.Stream && last.DownSince != 0: // its gateway reported that
		t.links.markStreamDown(t.settings, last.DownSince.Time())
	}
	r = route{link: handed.Link, downSince: last.DownSince.Time(), handed: true}
	if handed.Probe != 0 {
		r.probe = &probe{timeout: handed.Probe.D()}
	}
	return r, true
}

// missedRoute is the route of an attempt that no receiver took from the stream in time: to
// the fallback, unless receivers have taken others meanwhile.
func (t *try) missedRoute(ctx context.Context) route {
	handed, polled := *t.last.Handed, t.polled(ctx, t.settings)
	left := time.Until(polled.Add(t.fallback.After.D()))
	if at := handed.At.Time(); !polled.After(at) || left <= tuning.LinkTolerance {
		t.links.markStreamDown(t.settings, at)
		return route{link: delivery.LinkFallback, downSince: at}
	}
	t.links.markStreamUp(t.settings)
	return route{link: delivery.LinkCallback, wait: max(left, busyFor(handed.Times)), times: handed.Times + 1}
}
