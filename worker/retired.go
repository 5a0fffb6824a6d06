package worker

import (
	"slices"
	"sync"
	"time"

	"github.com/wakecall/wakecall/internal/tuning"
)

// retired are the types whose queues are not polled any more: a worker that polls one costs
// tens of goroutines, and types come and go. A type is retired that has no policy, nothing
// open and nothing on its queues, at two looks in a row. It is polled again when it is
// registered again, which comes before a policy, and when something lies on its queues after
// all.
type retired struct {
	mu    sync.Mutex
	types map[string]retiree
	// candidates are the types that nothing needed at the last look.
	candidates map[string]candidate
	// rounds counts the readings of the policies, and next is whose turn it is at a look.
	rounds int
	next   string
}

// retiree is a type that is retired: when it was registered, and when it was looked at.
type retiree struct {
	registered int64
	looked     time.Time
}

// candidate is a type that nothing needed, at so many looks since it was registered.
type candidate struct {
	registered int64
	looks      int
}

func newRetired() *retired {
	return &retired{types: map[string]retiree{}, candidates: map[string]candidate{}}
}

// has is whether a type is retired.
func (r *retired) has(businessType string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, ok := r.types[businessType]
	return ok
}

// since is whether a type is retired, and was not registered again since.
func (r *retired) since(businessType string, registered int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	retiree, ok := r.types[businessType]
	return ok && registered <= retiree.registered
}

// end says that a type is polled again, or that there is none any more.
func (r *retired) end(businessType string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.types, businessType)
}

// due is whether it is time for a look.
func (r *retired) due() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.rounds++
	return r.rounds%tuning.RetireRounds == 0
}

// turn are those of some types that are looked at now. Where they are many, they take turns.
func (r *retired) turn(types []string) []string {
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

// note notes what a look has shown of a type, and whether it is retired by that.
func (r *retired) note(businessType string, registered int64, needed bool) bool {
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

// rested are retired types that nobody has looked at for long, as if they were looked at
// now.
func (r *retired) rested() (types []string) {
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
