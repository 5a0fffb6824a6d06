package failover

import (
	"context"
	"sync"
)

// looks lets all who wait for a look share the next one. It never returns one that began before
// they asked.
type looks struct {
	look func(context.Context) error
	// looking has room for one look.
	looking chan struct{}

	mu   sync.Mutex
	next *sharedLook // nil while no one waits for it
}

// sharedLook has not begun yet, or is over.
type sharedLook struct {
	err  error
	over chan struct{}
}

func newLooks(look func(context.Context) error) *looks {
	return &looks{look: look, looking: make(chan struct{}, 1)}
}

// await returns after a look that began after the call, with its error.
func (l *looks) await(ctx context.Context) error {
	shared, first := l.join()
	if first {
		l.looking <- struct{}{}
		l.begin()
		shared.err = l.look(ctx)
		close(shared.over)
		<-l.looking
		return shared.err
	}
	select {
	case <-shared.over:
		return shared.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// join returns the next look. The first to join it makes it.
func (l *looks) join() (shared *sharedLook, first bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if first = l.next == nil; first {
		l.next = &sharedLook{over: make(chan struct{})}
	}
	return l.next, first
}

func (l *looks) begin() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.next = nil
}
