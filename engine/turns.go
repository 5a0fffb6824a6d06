package engine

import (
	"container/heap"
	"context"
	"slices"
	"sync"
	"time"
)

const (
	// mostTurns is how many go at once at most.
	mostTurns = 64
	// backOff is what remains of them then, for each turn that was too slow.
	backOff = 0.95
	// ageing is by how much the quickest turn is forgotten with each one.
	ageing = 1.0001
)

// turns let as many go at once as do not slow one another down (additive
// increase, multiplicative decrease, as in TCP), and of those that wait the one
// first whose time is up first.
type turns struct {
	mu    sync.Mutex
	taken int
	// allowed go at once, least always.
	allowed, least float64
	// slowdown is how many times as long as the quickest a turn may take before
	// fewer go at once.
	slowdown float64
	// quickest is the shortest turn of late.
	quickest time.Duration
	waiting  queue
}

func newTurns(least int, slowdown float64) *turns {
	return &turns{allowed: float64(least), least: float64(least), slowdown: slowdown}
}

// take waits for a turn, unless ctx ends first, and reports whether it had to.
func (t *turns) take(ctx context.Context, deadline time.Time) (waited, ok bool) {
	t.mu.Lock()
	if t.taken < int(t.allowed) {
		t.taken++
		t.mu.Unlock()
		return false, true
	}
	w := &waiter{deadline: deadline, turn: make(chan struct{})}
	heap.Push(&t.waiting, w)
	t.mu.Unlock()
	select {
	case <-w.turn:
		return true, true
	case <-ctx.Done():
		return true, !t.giveUp(w)
	}
}

// giveUp leaves the queue, and reports whether there was a place to leave: the
// turn may have come at the last moment.
func (t *turns) giveUp(w *waiter) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	place := slices.Index(t.waiting, w)
	if place >= 0 {
		heap.Remove(&t.waiting, place)
	}
	return place >= 0
}

// leave ends a turn that took so long.
func (t *turns) leave(took time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.adapt(took)
	t.next()
}

// giveBack ends a turn in which nothing was done.
func (t *turns) giveBack() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.next()
}

// next hands a turn that is over to who waits.
func (t *turns) next() {
	t.taken--
	for t.taken < int(t.allowed) && len(t.waiting) > 0 {
		t.taken++
		close(heap.Pop(&t.waiting).(*waiter).turn)
	}
}

// queued is how many wait.
func (t *turns) queued() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.waiting)
}

func (t *turns) adapt(took time.Duration) {
	t.quickest = time.Duration(float64(t.quickest) * ageing)
	if took < t.quickest || t.quickest == 0 {
		t.quickest = max(took, 1)
	}
	switch {
	case float64(took) > t.slowdown*float64(t.quickest):
		t.allowed = max(t.allowed*backOff, t.least)
	case len(t.waiting) > 0:
		t.allowed = min(t.allowed+1/t.allowed, mostTurns)
	}
}

type waiter struct {
	deadline time.Time
	turn     chan struct{}
}

// queue is a heap of waiters.
type queue []*waiter

func (q queue) Len() int           { return len(q) }
func (q queue) Less(i, j int) bool { return q[i].deadline.Before(q[j].deadline) }
func (q queue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)        { *q = append(*q, x.(*waiter)) }
func (q *queue) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}
