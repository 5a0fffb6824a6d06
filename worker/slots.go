package worker

import (
	"context"
	"sync"

	sdkworker "go.temporal.io/sdk/worker"
)

// typeSlots supplies the slots of one business type's queue in this worker. Their number follows
// the policy. It implements the SDK's SlotSupplier: a slot is reserved before each poll, and
// released after the task or an empty poll.
type typeSlots struct {
	mu    sync.Mutex
	size  int
	inUse int
	// held reports whether no slot is given out.
	held bool
	// more is closed and replaced when a slot may have become free.
	more chan struct{}
}

func newTypeSlots(size int) *typeSlots { return &typeSlots{size: size, more: make(chan struct{})} }

// resize takes effect with the next reservation; a slot in use stays in use.
func (s *typeSlots) resize(size int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.size != size {
		s.size = size
		s.notify()
	}
}

// capacity returns the size of the last resize.
func (s *typeSlots) capacity() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.size
}

// hold starts or ends a stop of new slots. A slot in use stays in use.
func (s *typeSlots) hold(held bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held != held {
		s.held = held
		s.notify()
	}
}

func (s *typeSlots) notify() {
	close(s.more)
	s.more = make(chan struct{})
}

// ReserveSlot waits for a slot.
func (s *typeSlots) ReserveSlot(ctx context.Context, _ sdkworker.SlotReservationInfo) (*sdkworker.SlotPermit, error) {
	for {
		permit, more := s.try()
		if permit != nil {
			return permit, nil
		}
		select {
		case <-more:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// TryReserveSlot takes a slot if there is one.
func (s *typeSlots) TryReserveSlot(sdkworker.SlotReservationInfo) *sdkworker.SlotPermit {
	permit, _ := s.try()
	return permit
}

func (s *typeSlots) try() (*sdkworker.SlotPermit, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held || s.inUse >= s.size {
		return nil, s.more
	}
	s.inUse++
	return &sdkworker.SlotPermit{}, nil
}

// MarkSlotUsed has nothing to do: a reserved slot counts from its reservation.
func (s *typeSlots) MarkSlotUsed(sdkworker.SlotMarkUsedInfo) {}

// ReleaseSlot frees a slot.
func (s *typeSlots) ReleaseSlot(sdkworker.SlotReleaseInfo) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inUse--
	s.notify()
}

// MaxSlots returns 0 for unknown: the policy decides.
func (s *typeSlots) MaxSlots() int { return 0 }
