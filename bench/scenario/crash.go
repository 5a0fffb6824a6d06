package scenario

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wakecall/wakecall/bench/subject"
)

// Disk is a disk whose power can be cut.
type Disk interface {
	Sync() error
	Cut() error
}

// crash books timers at a fixed rate, kills the subject in the middle of it, and starts it again
// before the timers are due. If the plan says so, the power of its disk is cut meanwhile. The
// timers that were acknowledged must ring.
func (r *Runner) crash(ctx context.Context, plan Plan) (Booking, error) {
	crasher, can := r.subject.(subject.Crasher)
	if !can {
		return Booking{Skipped: "it cannot be killed from here"}, nil
	}
	if plan.Power && r.disk == nil {
		return Booking{Skipped: "a power cut needs a disk that only root may mount"}, nil
	}
	if plan.Power {
		// What was stored before the scenario is not at stake.
		if err := r.disk.Sync(); err != nil {
			return Booking{}, err
		}
	}
	c := &crashing{subject: r.subject, due: time.Now().Add(plan.For + plan.Ahead).Truncate(time.Millisecond)}
	if err := c.load(ctx, plan, crasher.Kill); err != nil {
		return Booking{}, err
	}
	if plan.Power {
		if err := r.disk.Cut(); err != nil {
			return Booking{}, err
		}
	}
	c.booking.Calls = c.log.calls
	return c.booking, errors.Join(crasher.Revive(), ctx.Err())
}

// crashing is the state of a crash scenario.
type crashing struct {
	subject subject.Subject
	due     time.Time
	killed  atomic.Bool
	log     ledger // of what failed before

	mu      sync.Mutex
	booking Booking
}

// load books for the plan's time, and kills. Calls under way are given up.
func (c *crashing) load(ctx context.Context, plan Plan, kill func() error) error {
	calling, hangUp := context.WithCancel(ctx)
	defer hangUp()
	loading, stop := context.WithTimeout(ctx, plan.For)
	defer stop()
	var group sync.WaitGroup
	for i := range beats(loading, plan.Rate) {
		group.Go(func() { c.book(calling, subject.Timer{ID: id(plan, i), Due: c.due}) })
	}
	c.killed.Store(true)
	err := kill()
	hangUp()
	group.Wait()
	return err
}

// book files a timer by its answer. Without one it may ring or not.
func (c *crashing) book(ctx context.Context, timer subject.Timer) {
	err := c.subject.Add(ctx, timer)
	if err != nil && !c.killed.Load() {
		c.log.record(0, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil {
		c.booking.Free = append(c.booking.Free, timer)
		return
	}
	c.booking.Expected = append(c.booking.Expected, timer)
}
