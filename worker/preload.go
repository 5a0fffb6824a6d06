package worker

import (
	"sync"
	"time"

	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/workflows"
)

// Completions measures how fast Temporal records deliveries.
type Completions interface {
	// Rate returns tasks per second.
	Rate() float64
}

// Preload bounds how many timers this process preloads: at most as many as Temporal can record
// before the first of their tasks times out. After a timeout Temporal gives the task to a worker
// again, and that worker must find the receipt of its first attempt. The next task to time out
// is recorded first. So only timers due for recording by the same time count against a new one.
type Preload struct {
	completions Completions
	most        int // for the memory of this process

	mu        sync.Mutex
	preloaded [taskSeconds]int // by the second of their latest recording
}

// taskSeconds is the longest time of a task, in seconds.
const taskSeconds = int(workflows.MaxTaskTimeout / time.Second)

// NewPreload returns a bound for timers recorded at the rate of completions.
func NewPreload(completions Completions) *Preload {
	return &Preload{completions: completions, most: mostPreloaded(memoryLimit)}
}

// Enter takes a place for a timer, if Temporal can then record every preloaded timer in time.
// leave frees it, and must be called once.
func (p *Preload) Enter(memo timer.Memo) (leave func(), ok bool) {
	return p.enter(workflows.RecordTime(memo))
}

func (p *Preload) enter(recordTime time.Duration) (leave func(), ok bool) {
	places := p.capacityIn(recordTime, p.completions.Rate())
	p.mu.Lock()
	defer p.mu.Unlock()
	seconds := inSeconds(recordTime)
	if p.recordedBy(seconds) >= places {
		return nil, false
	}
	p.preloaded[seconds]++
	return func() { p.release(seconds) }, true
}

// Room reports whether a timer may be preloaded at its booking. Half of the places are reserved
// for timers that Temporal hands out later: they were booked earlier, or in another process.
// perSecond is the present rate of bookings in Temporal. It bounds the places too, for two
// reasons. Temporal records as much for a booking as for a completion, and a herd may be booked
// without any completion.
func (p *Preload) Room(memo timer.Memo, perSecond float64) bool {
	return p.room(workflows.RecordTime(memo), perSecond)
}

func (p *Preload) room(recordTime time.Duration, perSecond float64) bool {
	places := p.capacityIn(recordTime, min(perSecond, p.completions.Rate()))
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.recordedBy(inSeconds(recordTime)) < places/tuning.EagerPart
}

// capacityIn returns how many timers can be recorded in a time, and have room in memory.
func (p *Preload) capacityIn(recordTime time.Duration, perSecond float64) int {
	return min(max(int(perSecond*recordTime.Seconds()), tuning.MinPreloaded), p.most)
}

func inSeconds(recordTime time.Duration) int {
	return min(max(int(recordTime.Seconds()), 0), taskSeconds-1)
}

// recordedBy counts the timers that must be recorded within so many seconds.
func (p *Preload) recordedBy(seconds int) (timers int) {
	for _, preloaded := range p.preloaded[:seconds+1] {
		timers += preloaded
	}
	return timers
}

func (p *Preload) release(seconds int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.preloaded[seconds]--
}
