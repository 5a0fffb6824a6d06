package worker

import (
	"context"
	"sync"

	sdkworker "go.temporal.io/sdk/worker"
)

// typeSlots supply the slots of one business type's queue in this worker. Their
// number follows the policy while they are in use. It implements the SDK's
// SlotSupplier: a slot is reserved before each poll and released after the task, or
// when the poll came back empty.
type typeSlots struct {
	mu    sync.Mutex
	size  int
	inUse int
	// held is whether none is given out.
	held bool
	// more is closed, and replaced, when a slot may have become free.
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

// capacity is what the last resize said.
func (s *typeSlots) capacity() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.size
}

// hold gives no slot out until it is called off. A slot in use stays in use.
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

// ReleaseSlot gives a slot back.
func (s *typeSlots) ReleaseSlot(sdkworker.SlotReleaseInfo) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inUse--
	s.notify()
}

// MaxSlots is unknown: the policy decides.
func (s *typeSlots) MaxSlots() int { return 0 }
