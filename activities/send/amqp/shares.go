package amqpsend

import (
	"context"
	"slices"
	"sync"

	amqp "github.com/rabbitmq/amqp091-go"
)

// shares divide the channels of a connection among business types. A type may have no more
// of them than are left over for others at that moment: however many queues confirm
// nothing, a channel remains for the next type (dynamic thresholds, as in worker.Bulkhead).
type shares struct {
	mu    sync.Mutex
	free  int
	types map[string]*share
}

// share is what one business type has, and who waits for more, in the order in which they
// came.
type share struct {
	held    int
	waiting []chan struct{}
}

func newShares(channels int) *shares { return &shares{free: channels, types: map[string]*share{}} }

// acquire takes a place for a business type, which leave gives back. It ends with ctx, and
// with the connection when gone is closed.
func (s *shares) acquire(ctx context.Context, businessType string, gone <-chan struct{}) error {
	granted := s.request(businessType)
	select {
	case <-granted:
		return nil
	default:
	}
	select {
	case <-granted:
		return nil
	case <-gone:
		s.giveUp(businessType, granted)
		return amqp.ErrClosed
	case <-ctx.Done():
		s.giveUp(businessType, granted)
		return ctx.Err()
	}
}

// request queues for a place; granted is closed once there is one.
func (s *shares) request(businessType string) (granted chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.types[businessType]
	if t == nil {
		t = &share{}
		s.types[businessType] = t
	}
	granted = make(chan struct{})
	t.waiting = append(t.waiting, granted)
	s.grant()
	return granted
}

// giveUp leaves the queue, or gives back what was granted at the last moment.
func (s *shares) giveUp(businessType string, granted chan struct{}) {
	s.mu.Lock()
	t := s.types[businessType]
	place := slices.Index(t.waiting, granted)
	if place >= 0 {
		t.waiting = slices.Delete(t.waiting, place, place+1)
		s.grant()
	}
	s.mu.Unlock()
	if place < 0 {
		s.release(businessType)
	}
}

// release gives a place back.
func (s *shares) release(businessType string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.free++
	s.types[businessType].held--
	s.grant()
}

// grant hands out what may be taken, and forgets types that have nothing. The caller holds
// mu.
func (s *shares) grant() {
	for name, t := range s.types {
		for len(t.waiting) > 0 && t.held < s.free {
			s.free--
			t.held++
			close(t.waiting[0])
			t.waiting = t.waiting[1:]
		}
		if t.held == 0 && len(t.waiting) == 0 {
			delete(s.types, name)
		}
	}
}
