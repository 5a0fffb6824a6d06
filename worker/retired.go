package worker

import (
	"slices"
	"sync"
	"time"

	"github.com/wakecall/wakecall/internal/tuning"
)

// retired are the types with unpolled queues. A worker that polls one costs tens of goroutines,
// and types come and go. A type is retired if two checks in a row find no policy, nothing open
// and nothing on its queues. It is polled again when it is registered, which precedes a policy,
// or when its queues hold something.
type retired struct {
	mu    sync.Mutex
	types map[string]retiree
	// candidates are the types unneeded at the last check.
	candidates map[string]candidate
	// rounds counts the readings of the policies. next is the first type of the next check.
	rounds int
	next   string
}

// retiree is a retired type, with its registration and its last check.
type retiree struct {
	registered int64
	looked     time.Time
}

// candidate is an unneeded type, with the number of checks since its registration.
type candidate struct {
	registered int64
	looks      int
}

func newRetired() *retired {
	return &retired{types: map[string]retiree{}, candidates: map[string]candidate{}}
}

// has reports whether a type is retired.
func (r *retired) has(businessType string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, ok := r.types[businessType]
	return ok
}

// hasSince reports whether a type is retired and was not registered later.
func (r *retired) hasSince(businessType string, registered int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	retiree, ok := r.types[businessType]
	return ok && registered <= retiree.registered
}

// end removes a type that is polled again or gone.
func (r *retired) end(businessType string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.types, businessType)
}

// due reports whether it is time for a check.
func (r *retired) due() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.rounds++
	return r.rounds%tuning.RetireRounds == 0
}

// nextTurn returns the types of the present check. If there are many, they take turns.
func (r *retired) nextTurn(types []string) []string {
	slices.Sort(types)
	if len(types) <= tuning.RetireChecked {
		return types
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	first, _ := slices.BinarySearch(types, r.next)
	types = slices.Concat(types[first:], types[:first])
	r.next = types[tuning.RetireChecked]
	return types[:tuning.RetireChecked]
}

// record records a check of a type, and reports whether that retires it.
func (r *retired) record(businessType string, registered int64, needed bool) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	before := r.candidates[businessType]
	delete(r.candidates, businessType)
	if needed {
		return false
	}
	if before.registered != registered {
		before = candidate{registered: registered}
	}
	if before.looks++; before.looks < tuning.RetireLooks {
		r.candidates[businessType] = before
		return false
	}
	r.types[businessType] = retiree{registered, time.Now()}
	return true
}

// dueChecks returns the retired types without a recent check, and marks them as checked now.
func (r *retired) dueChecks() (types []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for businessType, retiree := range r.types {
		if time.Since(retiree.looked) >= tuning.RetiredRest && len(types) < tuning.RetireChecked {
			retiree.looked = time.Now()
			r.types[businessType] = retiree
			types = append(types, businessType)
		}
	}
	return types
}
