package worker

import (
	"context"
	"sync"

	sdkworker "go.temporal.io/sdk/worker"
)

// share is the slots of one business type's queue in this worker. Its size
// follows the policy while it is in use. It implements the SDK's SlotSupplier:
// a slot is reserved before each poll and released after the task, or when the
// poll came back empty.
type share struct {
	mu   sync.Mutex
	size int
	held int
	// more is closed, and replaced, when a slot may have become free.
	more chan struct{}
}

func newShare(size int) *share { return &share{size: size, more: make(chan struct{})} }

// resize takes effect with the next reservation; what is held stays held.
func (s *share) resize(size int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.size != size {
		s.size = size
		s.wake()
	}
}

func (s *share) wake() {
	close(s.more)
	s.more = make(chan struct{})
}

// ReserveSlot waits for a slot.
func (s *share) ReserveSlot(ctx context.Context, _ sdkworker.SlotReservationInfo) (*sdkworker.SlotPermit, error) {
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
func (s *share) TryReserveSlot(sdkworker.SlotReservationInfo) *sdkworker.SlotPermit {
	permit, _ := s.try()
	return permit
}

func (s *share) try() (*sdkworker.SlotPermit, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held >= s.size {
		return nil, s.more
	}
	s.held++
	return &sdkworker.SlotPermit{}, nil
}

// MarkSlotUsed has nothing to do: a reserved slot counts from its reservation.
func (s *share) MarkSlotUsed(sdkworker.SlotMarkUsedInfo) {}

// ReleaseSlot gives a slot back.
func (s *share) ReleaseSlot(sdkworker.SlotReleaseInfo) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held--
	s.wake()
}

// MaxSlots is unknown: the policy decides.
func (s *share) MaxSlots() int { return 0 }
