// Package turns shares the places of a process among business types. Work that lasts takes
// a place and holds it; where none is free, it waits for its turn. A place goes to the type
// that has the fewest, and who has more than another one that waits is asked to give one up:
// however much work there is of one type, work of the next begins within moments.
package turns

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"
)

// Turns are the places of one kind of work.
type Turns struct {
	// long is after how long a place is given up to work of the same right that waits.
	long time.Duration

	mu      sync.Mutex
	free    int
	held    []*Place
	waiting []*waiter // those that have waited longest first
}

// New returns turns at that many places.
func New(places int, long time.Duration) *Turns { return &Turns{long: long, free: places} }

// Place is one that is held.
type Place struct {
	turns        *Turns
	businessType string
	since, asked time.Time
	giveUp       chan struct{}
}

type waiter struct {
	businessType string
	since        time.Time
	granted      chan *Place
}

// patience is how long a place that was asked for may take to become free, before another
// one is asked for.
const patience = 250 * time.Millisecond

// Take takes a place for work of a business type, which has waited since a moment. It waits
// for as long as ctx lasts, and returns nil then.
func (t *Turns) Take(ctx context.Context, businessType string, since time.Time) *Place {
	w := &waiter{businessType: businessType, since: since, granted: make(chan *Place, 1)}
	t.mu.Lock()
	t.waiting = append(t.waiting, w)
	slices.SortStableFunc(t.waiting, func(a, b *waiter) int { return a.since.Compare(b.since) })
	t.grant()
	t.mu.Unlock()
	again := time.NewTicker(patience)
	defer again.Stop()
	for {
		select {
		case place := <-w.granted:
			return place
		case <-again.C:
			t.mu.Lock()
			t.grant()
			t.mu.Unlock()
		case <-ctx.Done():
			return t.leave(w)
		}
	}
}

// leave waits no more. A place may have been granted at the last moment.
func (t *Turns) leave(w *waiter) *Place {
	t.mu.Lock()
	defer t.mu.Unlock()
	if i := slices.Index(t.waiting, w); i >= 0 {
		t.waiting = slices.Delete(t.waiting, i, i+1)
		return nil
	}
	return <-w.granted
}

// GiveUp is closed when somebody else shall have the place.
func (p *Place) GiveUp() <-chan struct{} { return p.giveUp }

// Leave leaves the place. It must be called once.
func (p *Place) Leave() {
	p.turns.mu.Lock()
	defer p.turns.mu.Unlock()
	p.turns.held = slices.DeleteFunc(p.turns.held, func(other *Place) bool { return other == p })
	p.turns.free++
	p.turns.grant()
}

// grant grants what is free, and asks for more where it is not enough.
func (t *Turns) grant() {
	now := time.Now()
	for t.free > 0 && len(t.waiting) > 0 {
		next := t.next(t.counts())
		t.waiting = slices.DeleteFunc(t.waiting, func(w *waiter) bool { return w == next })
		place := &Place{turns: t, businessType: next.businessType, since: now, giveUp: make(chan struct{})}
		t.free, t.held = t.free-1, append(t.held, place)
		next.granted <- place
	}
	t.ask(now)
}

// counts is how many places each type has.
func (t *Turns) counts() map[string]int {
	counts := map[string]int{}
	for _, place := range t.held {
		counts[place.businessType]++
	}
	return counts
}

// next is who has waited longest of those whose types have the fewest places.
func (t *Turns) next(counts map[string]int) *waiter {
	return slices.MinFunc(t.waiting, func(a, b *waiter) int {
		return cmp.Or(cmp.Compare(counts[a.businessType], counts[b.businessType]), a.since.Compare(b.since))
	})
}

// ask asks for one place, unless one that was asked for is about to become free.
func (t *Turns) ask(now time.Time) {
	if len(t.waiting) == 0 || slices.ContainsFunc(t.held, func(p *Place) bool { return !p.asked.IsZero() && now.Sub(p.asked) < patience }) {
		return
	}
	counts := t.counts()
	poor := counts[t.next(counts).businessType]
	if place := t.dearest(counts); place != nil && counts[place.businessType] > poor+1 {
		place.ask(now)
		return
	}
	for _, w := range t.waiting { // all have as many: they take turns
		if now.Sub(w.since) < t.long {
			continue
		}
		for _, place := range t.held {
			if place.asked.IsZero() && now.Sub(place.since) >= t.long && counts[place.businessType] >= counts[w.businessType] {
				place.ask(now)
				return
			}
		}
	}
}

// dearest is the place of the type with the most that is held longest, of those that nobody
// was asked for.
func (t *Turns) dearest(counts map[string]int) (dearest *Place) {
	for _, place := range t.held {
		if place.asked.IsZero() && (dearest == nil || counts[place.businessType] > counts[dearest.businessType]) {
			dearest = place
		}
	}
	return dearest
}

func (p *Place) ask(now time.Time) {
	p.asked = now
	close(p.giveUp)
}
