package worker

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/wakecall/wakecall/internal/tuning"
)

// Bulkhead shares the slots of the fast path among business types. A type may hold at most its
// share, and at most as many as are left for others at that moment. So a slot remains for the
// next type, however many receivers hang (dynamic thresholds, Choudhury and Hahne 1998).
// Attempts on a type's queue have their own slots, but count for the common limit of both paths.
type Bulkhead struct {
	mu    sync.Mutex
	free  int
	types map[string]*typeUse
	// queued are the types with waiters.
	queued map[*typeUse]struct{}
}

// typeUse is the use of one business type, with its waiters.
type typeUse struct {
	inUse   int
	waiting []*waiter // in order of arrival
	granted time.Time // when a waiter last got a slot
	// onQueue counts the attempts on the queue. forQueue are the waiters for one.
	onQueue  int
	forQueue []*waiter
}

// waiter waits for a slot of a share, under a limit for both paths.
type waiter struct {
	share, limit int
	granted      chan struct{}
}

// NewBulkhead returns a bulkhead over the given number of slots.
func NewBulkhead(slots int) *Bulkhead {
	return &Bulkhead{free: slots, types: map[string]*typeUse{}, queued: map[*typeUse]struct{}{}}
}

// Enter takes a slot for a business type on the fast path. ok is false if none became free in
// time. At most share slots are in use, and at most limit together with the queue. leave frees
// the slot, and must be called once.
func (b *Bulkhead) Enter(ctx context.Context, businessType string, share, limit int) (leave func(), ok bool) {
	leave = func() { b.release(businessType) }
	w, ok := b.enter(businessType, share, limit)
	if ok || b.await(ctx, businessType, w) {
		return leave, true
	}
	return leave, !b.giveUp(businessType, w)
}

// EnterQueue counts an attempt of a business type on its queue. ok is false if both paths had
// limit of them all the time. leave must be called once.
func (b *Bulkhead) EnterQueue(ctx context.Context, businessType string, limit int) (leave func(), ok bool) {
	leave = func() { b.releaseQueue(businessType) }
	w, ok := b.enterQueue(businessType, limit)
	if ok {
		return leave, true
	}
	wait := time.NewTimer(tuning.QueueSlotWait)
	defer wait.Stop()
	select {
	case <-w.granted:
		return leave, true
	case <-wait.C:
	case <-ctx.Done():
	}
	return leave, !b.giveUp(businessType, w)
}

// await waits for a slot while slots become free.
func (b *Bulkhead) await(ctx context.Context, businessType string, w *waiter) (granted bool) {
	ctx, cancel := context.WithTimeout(ctx, tuning.BusySlotWait)
	defer cancel()
	check := time.NewTicker(tuning.IdleSlotWait)
	defer check.Stop()
	for hope := true; hope; {
		select {
		case <-w.granted:
			return true
		case <-check.C:
			hope = b.releasedLately(businessType)
		case <-ctx.Done():
			hope = false
		}
	}
	return false
}

// releasedLately reports whether slots of a type become free.
func (b *Bulkhead) releasedLately(businessType string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	t := b.types[businessType]
	return t != nil && time.Since(t.granted) < tuning.IdleSlotWait
}

// enter takes a slot, or a place in the queue for one.
func (b *Bulkhead) enter(businessType string, share, limit int) (w *waiter, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	t := b.useOf(businessType)
	w = &waiter{share: share, limit: limit, granted: make(chan struct{})}
	if len(t.waiting) == 0 && b.admits(t, w) {
		b.acquire(t)
		return nil, true
	}
	t.waiting = append(t.waiting, w)
	b.queued[t] = struct{}{}
	return w, false
}

func (b *Bulkhead) enterQueue(businessType string, limit int) (w *waiter, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	t := b.useOf(businessType)
	w = &waiter{limit: limit, granted: make(chan struct{})}
	if t.admitsQueue(w) {
		t.onQueue++
		return nil, true
	}
	t.forQueue = append(t.forQueue, w)
	return w, false
}

func (b *Bulkhead) useOf(businessType string) *typeUse {
	t := b.types[businessType]
	if t == nil {
		t = &typeUse{}
		b.types[businessType] = t
	}
	return t
}

func (b *Bulkhead) admits(t *typeUse, w *waiter) bool {
	return t.inUse < w.share && t.inUse < b.free && t.inUse+t.onQueue < w.limit
}

func (t *typeUse) admitsQueue(w *waiter) bool { return t.inUse+t.onQueue < w.limit }

func (b *Bulkhead) acquire(t *typeUse) {
	b.free--
	t.inUse++
}

// giveUp removes a waiter, and reports whether it was waiting: it may have got a slot at the
// last moment.
func (b *Bulkhead) giveUp(businessType string, w *waiter) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	t := b.types[businessType]
	if t == nil || (!removeWaiter(&t.waiting, w) && !removeWaiter(&t.forQueue, w)) {
		return false
	}
	b.grant(t)
	b.removeIdle(businessType, t)
	return true
}

func removeWaiter(waiting *[]*waiter, w *waiter) bool {
	place := slices.Index(*waiting, w)
	if place < 0 {
		return false
	}
	*waiting = slices.Delete(*waiting, place, place+1)
	return true
}

func (b *Bulkhead) release(businessType string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.free++
	t := b.types[businessType]
	t.inUse--
	b.grant(t)
	b.removeIdle(businessType, t)
	for other := range b.queued { // waiters kept out by the slots of others
		b.grant(other)
	}
}

func (b *Bulkhead) releaseQueue(businessType string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	t := b.types[businessType]
	t.onQueue--
	b.grant(t)
	b.removeIdle(businessType, t)
}

// grant gives free slots to waiters. The queue comes first, because its attempts are late
// already.
func (b *Bulkhead) grant(t *typeUse) {
	for len(t.forQueue) > 0 && t.admitsQueue(t.forQueue[0]) {
		t.onQueue++
		close(t.forQueue[0].granted)
		t.forQueue = t.forQueue[1:]
	}
	for len(t.waiting) > 0 && b.admits(t, t.waiting[0]) {
		b.acquire(t)
		close(t.waiting[0].granted)
		t.granted = time.Now()
		t.waiting = t.waiting[1:]
	}
	if len(t.waiting) == 0 {
		delete(b.queued, t)
	}
}

func (b *Bulkhead) removeIdle(businessType string, t *typeUse) {
	if t.inUse == 0 && t.onQueue == 0 && len(t.waiting) == 0 && len(t.forQueue) == 0 {
		delete(b.types, businessType)
	}
}
