package dispatches

import (
	"context"
	"runtime"
	"sync"
	"time"

	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/internal/tuning"
)

// capacity is how many items a second the workers have proved to send. Every dispatch that
// is read adds to it.
type capacity struct {
	mu sync.Mutex
	// shown is the highest rate sent. most is the rate at which the workers fell behind,
	// known since at. Zero means unknown.
	shown, most float64
	at          time.Time
	// listed is when dispatches were last listed for their rates.
	listed time.Time
}

// observe adds the rates of a dispatch.
func (c *capacity) observe(view dispatch.View) {
	rate := view.Achieved.Last10Seconds
	if view.Status.Finished() {
		rate = view.Achieved.Whole
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case rate <= 0:
	case view.BehindWhy == dispatch.ShortOfWorker:
		c.most, c.at = rate, time.Now()
	default:
		c.shown = max(c.shown, rate)
		if rate > c.most { // it sent at this rate for a while
			c.most = 0
		}
	}
}

// cores is how many processors this process has. It is read before a program may ask for more
// threads than there are processors.
var cores = runtime.GOMAXPROCS(0)

// expect is the rate that a dispatch will probably reach; zero if its own rate seems possible.
func (c *capacity) expect(perSecond float64) float64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	most := max(c.shown, tuning.DispatchPerCore*float64(cores))
	if c.most > 0 && time.Since(c.at) < tuning.CapacityKnown {
		most = c.most
	}
	if perSecond <= most*tuning.CapacitySlack {
		return 0
	}
	return most
}

// listDue reports whether it is time to list dispatches again. The caller then does.
func (c *capacity) listDue(now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now.Sub(c.listed) < tuning.CapacityListed {
		return false
	}
	c.listed = now
	return true
}

// refreshCapacity reads the rates of the last dispatches now and then. The wait is short:
// without a list the earlier rates apply.
func (r *Reader) refreshCapacity(ctx context.Context) {
	if !r.capacity.listDue(time.Now()) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, tuning.CapacityPatience)
	defer cancel()
	last, _, _ := r.page(ctx, Request{Size: tuning.CapacityDispatches}, func(dispatch.View) bool { return true })
	for _, one := range last {
		r.capacity.observe(one)
	}
}

// expect shows the rate that an open dispatch will probably reach.
func (r *Reader) expect(view *dispatch.View) {
	if !view.Status.Finished() {
		view.Expected = r.capacity.expect(view.PerSecond)
	}
}
