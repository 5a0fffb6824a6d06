package worker

import "sync"

// Bulkhead shares the slots of the fast path among business types. A type may
// hold no more than its share, and no more than what is left over for others
// at that moment: however many receivers hang at once, a slot remains for the
// next type (dynamic thresholds, Choudhury and Hahne 1998).
type Bulkhead struct {
	mu   sync.Mutex
	free int
	held map[string]int
}

// NewBulkhead returns a bulkhead over that many slots.
func NewBulkhead(slots int) *Bulkhead {
	return &Bulkhead{free: slots, held: map[string]int{}}
}

// Enter takes a slot for a business type, or reports that it may not. leave
// gives it back, and must be called once.
func (b *Bulkhead) Enter(businessType string, share int) (leave func(), ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if held := b.held[businessType]; held >= share || held >= b.free {
		return nil, false
	}
	b.free--
	b.held[businessType]++
	return func() { b.leave(businessType) }, true
}

func (b *Bulkhead) leave(businessType string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.free++
	if b.held[businessType]--; b.held[businessType] == 0 {
		delete(b.held, businessType)
	}
}
