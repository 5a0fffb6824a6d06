// Package limiter bounds the concurrent calls to one server by their duration. It knows nothing
// about the calls.
package limiter

import (
	"container/heap"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/wakecall/wakecall/internal/tuning"
)

// Limiter is an adaptive concurrency limiter (additive increase, multiplicative decrease, as in
// TCP). It allows as many concurrent calls as do not slow one another down. Of the waiting
// calls, the one with the earliest deadline goes first.
type Limiter struct {
	mu    sync.Mutex
	inUse int
	// limit is the number of concurrent calls; it is never below least.
	limit, least float64
	slowdown     float64
	// quickest is the duration of the quickest recent call.
	quickest time.Duration
	waiting  queue
	rate     rate
	// Until deferred, only calls with a near deadline begin. resumes ends that time.
	deferred time.Time
	resumes  *time.Timer
}

// New returns a limiter that allows least calls regardless of their duration. It lowers the
// limit when a call takes more than slowdown times as long as the quickest.
func New(least int, slowdown float64) *Limiter {
	return &Limiter{limit: float64(least), least: float64(least), slowdown: slowdown, rate: rate{perSecond: tuning.FirstRate}}
}

// Rate returns how many calls a second the server takes under full load.
func (l *Limiter) Rate() float64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.rate.perSecond
}

// Acquire waits until one more call may go, unless ctx ends first, and reports whether it had to
// wait. Each one acquired must be released or discarded once.
func (l *Limiter) Acquire(ctx context.Context, deadline time.Time) (waited, ok bool) {
	l.mu.Lock()
	if l.admits(deadline) {
		l.inUse++
		l.mu.Unlock()
		return false, true
	}
	w := &waiter{deadline: deadline, granted: make(chan struct{})}
	heap.Push(&l.waiting, w)
	l.mu.Unlock()
	select {
	case <-w.granted:
		return true, true
	case <-ctx.Done():
		return true, !l.dequeue(w)
	}
}

// dequeue removes a waiter from the queue, and reports whether it was there: the grant may have
// come at the last moment.
func (l *Limiter) dequeue(w *waiter) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	place := slices.Index(l.waiting, w)
	if place >= 0 {
		heap.Remove(&l.waiting, place)
	}
	return place >= 0
}

// Release ends a call with its duration.
func (l *Limiter) Release(took time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.adapt(took)
	l.rate.count(time.Now(), len(l.waiting) > 0 && !l.defers())
	l.inUse--
	l.next()
}

// Discard ends a call with no useful duration: it was not made, or was refused.
func (l *Limiter) Discard() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.inUse--
	l.next()
}

// Defer keeps calls waiting for a time, except those whose deadline is near: the server has work
// that matters more.
func (l *Limiter) Defer(wait time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.deferred = time.Now().Add(wait)
	if l.resumes == nil {
		l.resumes = time.AfterFunc(wait, l.resume)
	} else {
		l.resumes.Reset(wait)
	}
	l.next()
}

func (l *Limiter) resume() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.next()
}

// Waiting returns how many calls wait.
func (l *Limiter) Waiting() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.waiting)
}

// InUse returns how many calls are in progress.
func (l *Limiter) InUse() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.inUse
}

// Quickest returns the duration of the quickest recent call; 0 before the first.
func (l *Limiter) Quickest() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.quickest
}

// next admits the waiting calls that may go.
func (l *Limiter) next() {
	for len(l.waiting) > 0 && l.admits(l.waiting[0].deadline) {
		l.inUse++
		close(heap.Pop(&l.waiting).(*waiter).granted)
	}
}

// admits reports whether a call may go.
func (l *Limiter) admits(deadline time.Time) bool {
	if l.inUse >= int(l.limit) {
		return false
	}
	return !l.defers() || time.Until(deadline) < tuning.DeferrableFrom
}

// defers reports whether calls are deferred.
func (l *Limiter) defers() bool { return time.Now().Before(l.deferred) }

func (l *Limiter) adapt(took time.Duration) {
	l.quickest = time.Duration(float64(l.quickest) * tuning.QuickestGrowth)
	if took < l.quickest || l.quickest == 0 {
		l.quickest = max(took, 1)
	}
	switch {
	case float64(took) > l.slowdown*float64(l.quickest):
		l.limit = max(l.limit*tuning.LimitBackOff, l.least)
	case len(l.waiting) > 0:
		l.limit = min(l.limit+1/l.limit, tuning.MaxConcurrency)
	}
}

type waiter struct {
	deadline time.Time
	granted  chan struct{}
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
