package worker

import (
	"sync"
	"time"

	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/workflows"
)

// Completions tells how fast Temporal records what was delivered.
type Completions interface {
	// Rate is in tasks per second.
	Rate() float64
}

// Preload bounds how many timers this process preloads: no more than Temporal can
// record before the first of their tasks times out. Temporal hands a task that timed
// out to a worker again, which then has to find the receipt of its first attempt.
// What times out first is recorded first, so a timer is refused only on account of
// those that must be recorded by the same time.
type Preload struct {
	completions Completions

	mu        sync.Mutex
	preloaded [taskSeconds]int // by the seconds in which they must be recorded
}

// taskSeconds are as many as a task may take in all.
const taskSeconds = int(workflows.MaxTaskTimeout / time.Second)

// NewPreload returns a bound for timers that are recorded at the rate of completions.
func NewPreload(completions Completions) *Preload { return &Preload{completions: completions} }

// Enter takes a place for a timer, if Temporal can then record every preloaded timer in
// time. leave gives it back, and must be called once.
func (p *Preload) Enter(memo timer.Memo) (leave func(), ok bool) {
	return p.enter(workflows.RecordTime(memo))
}

func (p *Preload) enter(recordTime time.Duration) (leave func(), ok bool) {
	places := places(recordTime, p.completions.Rate())
	p.mu.Lock()
	defer p.mu.Unlock()
	seconds := inSeconds(recordTime)
	if p.recordedBy(seconds) >= places {
		return nil, false
	}
	p.preloaded[seconds]++
	return func() { p.leave(seconds) }, true
}

// Room reports whether a timer may be booked to be preloaded at once. Half of the
// places are kept for what Temporal hands out when its time comes: that has been
// booked longer ago, or in another process. What Temporal records of a booking is as
// much as what it records of a completion, and while a herd is booked there may have been
// no completion for long: so no more are taken than perSecond allows, which is at how
// many bookings in a second Temporal is now.
func (p *Preload) Room(memo timer.Memo, perSecond float64) bool {
	return p.room(workflows.RecordTime(memo), perSecond)
}

func (p *Preload) room(recordTime time.Duration, perSecond float64) bool {
	places := places(recordTime, min(perSecond, p.completions.Rate()))
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.recordedBy(inSeconds(recordTime)) < places/tuning.EagerPart
}

// places are how many timers can be recorded in a time.
func places(recordTime time.Duration, perSecond float64) int {
	return min(max(int(perSecond*recordTime.Seconds()), tuning.MinPreloaded), tuning.MaxPreloaded)
}

func inSeconds(recordTime time.Duration) int {
	return min(max(int(recordTime.Seconds()), 0), taskSeconds-1)
}

// recordedBy counts the timers that must be recorded by then.
func (p *Preload) recordedBy(seconds int) (timers int) {
	for _, preloaded := range p.preloaded[:seconds+1] {
		timers += preloaded
	}
	return timers
}

func (p *Preload) leave(seconds int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.preloaded[seconds]--
}
