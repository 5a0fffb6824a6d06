// Package turns shares the places of a process among business types. Long work takes a place and
// holds it; if none is free, it waits for its turn. A free place goes to the waiting type with
// the fewest. A type with more places than a waiting one must give one up. So much work of one
// type cannot block work of another for more than moments.
package turns

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"
)

// Turns holds the places of one kind of work.
type Turns struct {
	// long is the time after which a place is given up to waiting work with the same right.
	long time.Duration

	mu      sync.Mutex
	free    int
	held    []*Place
	waiting []*waiter // the longest wait first
}

// New returns turns with the given number of places.
func New(places int, long time.Duration) *Turns { return &Turns{long: long, free: places} }

// Place is a held place.
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

// patience is how long a requested place may take to become free before another one is
// requested.
const patience = 250 * time.Millisecond

// Acquire takes a place for work of a business type that has waited since a moment. It returns nil
// if ctx ends first.
func (t *Turns) Acquire(ctx context.Context, businessType string, since time.Time) *Place {
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
			return t.dequeue(w)
		}
	}
}

// dequeue stops waiting. It returns a place granted at the last moment.
func (t *Turns) dequeue(w *waiter) *Place {
	t.mu.Lock()
	defer t.mu.Unlock()
	if i := slices.Index(t.waiting, w); i >= 0 {
		t.waiting = slices.Delete(t.waiting, i, i+1)
		return nil
	}
	return <-w.granted
}

// GiveUp returns a channel that is closed when other work must have the place.
func (p *Place) GiveUp() <-chan struct{} { return p.giveUp }

// Release frees the place. It must be called once.
func (p *Place) Release() {
	p.turns.mu.Lock()
	defer p.turns.mu.Unlock()
	p.turns.held = slices.DeleteFunc(p.turns.held, func(other *Place) bool { return other == p })
	p.turns.free++
	p.turns.grant()
}

// grant grants the free places, and requests one if they are not enough.
func (t *Turns) grant() {
	now := time.Now()
	for t.free > 0 && len(t.waiting) > 0 {
		next := t.next(t.counts())
		t.waiting = slices.DeleteFunc(t.waiting, func(w *waiter) bool { return w == next })
		place := &Place{turns: t, businessType: next.businessType, since: now, giveUp: make(chan struct{})}
		t.free, t.held = t.free-1, append(t.held, place)
		next.granted <- place
	}
	t.reclaimOne(now)
}

// counts returns the number of places of each type.
func (t *Turns) counts() map[string]int {
	counts := map[string]int{}
	for _, place := range t.held {
		counts[place.businessType]++
	}
	return counts
}

// next returns the waiter with the longest wait among the types with the fewest places.
func (t *Turns) next(counts map[string]int) *waiter {
	return slices.MinFunc(t.waiting, func(a, b *waiter) int {
		return cmp.Or(cmp.Compare(counts[a.businessType], counts[b.businessType]), a.since.Compare(b.since))
	})
}

// reclaimOne requests one place, unless a requested one is about to become free.
func (t *Turns) reclaimOne(now time.Time) {
	if len(t.waiting) == 0 || slices.ContainsFunc(t.held, func(p *Place) bool { return !p.asked.IsZero() && now.Sub(p.asked) < patience }) {
		return
	}
	counts := t.counts()
	poor := counts[t.next(counts).businessType]
	if place := t.dearest(counts); place != nil && counts[place.businessType] > poor+1 {
		place.reclaim(now)
		return
	}
	for _, w := range t.waiting { // with equal shares, they take turns
		if now.Sub(w.since) < t.long {
			continue
		}
		for _, place := range t.held {
			if place.asked.IsZero() && now.Sub(place.since) >= t.long && counts[place.businessType] >= counts[w.businessType] {
				place.reclaim(now)
				return
			}
		}
	}
}

// dearest returns the longest held place of the type with the most, among those not requested.
func (t *Turns) dearest(counts map[string]int) (dearest *Place) {
	for _, place := range t.held {
		if place.asked.IsZero() && (dearest == nil || counts[place.businessType] > counts[dearest.businessType]) {
			dearest = place
		}
	}
	return dearest
}

func (p *Place) reclaim(now time.Time) {
	p.asked = now
	close(p.giveUp)
}
