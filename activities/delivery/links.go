package delivery

import (
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/tuning"
)

// links knows, for each business type with two links, since when its callback has failed.
// The knowledge lives in the memory of this process and grows with the outcomes of its
// attempts. The reports of timers bring the knowledge of other workers.
type links struct {
	mu    sync.Mutex
	types *lru.Cache[string, *callbackHealth]
}

// callbackHealth is the state of one callback.
type callbackHealth struct {
	callback delivery.Destination
	// downSince is when the first of the failed attempts since the last success began, zero
	// for none; upAt is the time of that success.
	downSince, upAt time.Time
	// probing is the attempt under way that tests whether the callback works again, nil for
	// none. The next one is not made before probeAt.
	probing *probe
	probeAt time.Time
	// pause is the time between two probes.
	pause  time.Duration
	stream streamHealth
}

func newLinks() (*links, error) {
	types, err := lru.New[string, *callbackHealth](tuning.LinkTypes)
	return &links{types: types}, err
}

// choose returns the link of an attempt. record or release must be called with it.
func (l *links) choose(s settings, last *delivery.Report, now time.Time) route {
	if s.fallback == nil {
		return route{}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	h := l.entryFor(s)
	if last != nil {
		h.learn(last.DownSince)
		if link := s.retry.LinkFor(*last); link != "" {
			return route{link: link, only: true, downSince: h.downSince}
		}
	}
	switch {
	case h.downSince.IsZero() || now.Before(h.switchAt(s).Add(-tuning.LinkTolerance)):
		return route{link: delivery.LinkCallback}
	case h.probing != nil || now.Before(h.probeAt):
		return route{link: delivery.LinkFallback, downSince: h.downSince}
	}
	h.probing = &probe{timeout: max(h.pause, tuning.FirstLinkProbe)}
	return route{link: delivery.LinkCallback, probe: h.probing, downSince: h.downSince}
}

// entryFor is the state of a type's callback. It is empty if the type now has another callback.
func (l *links) entryFor(s settings) *callbackHealth {
	h, ok := l.types.Get(s.policy.BusinessType)
	if !ok || h.callback != s.callback.Destination {
		h = &callbackHealth{callback: s.callback.Destination}
		l.types.Add(s.policy.BusinessType, h)
	}
	return h
}

// learn adopts the knowledge of another worker, or of this one before its restart. A later
// success outweighs it.
func (h *callbackHealth) learn(downSince wire.Instant) {
	since := downSince.Time()
	if downSince != 0 && since.After(h.upAt) && (h.downSince.IsZero() || since.Before(h.downSince)) {
		h.downSince = since
	}
}

// switchAt is when a type switches to its fallback.
func (h *callbackHealth) switchAt(s settings) time.Time {
	return h.downSince.Add(s.fallback.After.D())
}

// record records the outcome of an attempt. It returns since when the callback has failed,
// zero if it works.
func (l *links) record(s settings, r route, answer delivery.Answer, began time.Time) (downSince time.Time) {
	if r.link == "" {
		return time.Time{}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	h, now := l.entryFor(s), time.Now()
	if r.link == delivery.LinkFallback {
		return h.downSince
	}
	switch {
	case answer.Up():
		h.markUp(now)
	case answer.Down():
		if began.Before(h.upAt) { // others were served meanwhile
			began = h.upAt
		}
		if h.downSince.IsZero() || began.Before(h.downSince) {
			h.downSince = began
		}
		if r.probe != nil {
			h.lengthenPause()
		}
		h.probeAt = now.Add(max(h.pause, tuning.FirstLinkProbe))
	}
	h.endProbe(r)
	return h.downSince
}

// lengthenPause makes the time between two probes longer.
func (h *callbackHealth) lengthenPause() {
	h.pause = min(max(2*h.pause, tuning.FirstLinkProbe), tuning.LongestLinkProbe)
}

// endProbe ends a probe if the route belongs to the one under way.
func (h *callbackHealth) endProbe(r route) {
	if h.probing == r.probe {
		h.probing = nil
	}
}

// markUp records a success.
func (h *callbackHealth) markUp(now time.Time) {
	h.downSince, h.upAt, h.pause, h.stream.tried = time.Time{}, now, 0, false
}

// release ends an attempt without an outcome. It does nothing after [links.record].
func (l *links) release(s settings, r route) {
	if r.probe == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entryFor(s).endProbe(r)
}
