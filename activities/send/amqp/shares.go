package amqpsend

import (
	"context"
	"slices"
	"sync"

	amqp "github.com/rabbitmq/amqp091-go"
)

// shares divides the channels of a connection among business types. A type may have at most
// as many channels as remain for others at that moment. So a channel remains for the next
// type, however many queues confirm nothing (dynamic thresholds, as in worker.Bulkhead).
type shares struct {
	mu    sync.Mutex
	free  int
	types map[string]*share
}

// share is one business type's share, and its waiters in the order of their requests.
type share struct {
	held    int
	waiting []chan struct{}
}

func newShares(channels int) *shares { return &shares{free: channels, types: map[string]*share{}} }

// acquire takes a place for a business type; release gives it back. It ends with ctx, or
// with the connection, which closes gone.
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

// giveUp leaves the queue, or returns a place granted at the last moment.
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

// grant hands out the free places, and forgets types without any. The caller holds mu.
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
