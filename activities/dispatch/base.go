package dispatch

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/tuning"
)

// base is the state shared by the parts of a shard run. All of it belongs to the loop.
type base struct {
	*Executor
	shard dispatch.Shard
	// began is when the run began. What was read of the dispatch before is of another one that
	// had its id, or of an earlier round.
	began    time.Time
	state    dispatch.State
	settings *settings
	// main are the open pages of the source, and ladder are those of the ladder.
	main, ladder []*page
	// calls counts the callbacks with a place: those under way.
	calls int
	// endReason is why the run ends, once it does. draining is until when it may still go
	// on; zero for never.
	endReason dispatch.ShardRunEnd
	draining  time.Time

	// events are handled by the loop. pending counts the work outside of the loop.
	events  chan func()
	pending int
}

// plan is the shard's present plan.
func (b *base) plan() dispatch.Plan { return b.settings.memo.Plan }

// perSecond is how many items a second this shard sends.
func (b *base) perSecond() float64 {
	return max(b.plan().PerSecond/float64(max(len(b.plan().Active), 1)), dispatch.MinRate/dispatch.MaxShards)
}

// timeFor is the time in which this shard sends a number of items.
func (b *base) timeFor(items float64) time.Duration {
	return time.Duration(items / b.perSecond() * float64(time.Second))
}

// first reports whether this is the first of the active shards, which acts for all.
func (b *base) first() bool {
	place, active := b.plan().PlaceOf(b.shard.Number)
	return active && place == 0
}

// ending reports whether the run ends.
func (b *base) ending() bool { return b.endReason != "" }

// endWith makes the run end in any state.
func (b *base) endWith(reason dispatch.ShardRunEnd) { b.endReason, b.draining = reason, time.Time{} }

// problem records why the shard cannot be complete.
func (b *base) problem(message string) {
	b.state.Problem = &delivery.Failure{Message: wire.Excerpt(message), At: wire.At(time.Now())}
}

// startWork does work outside of the loop. The loop calls then with its error.
func (b *base) startWork(ctx context.Context, work func() error, then func(err error)) {
	b.pending++
	go func() {
		err := guard(ctx, work)
		b.events <- func() { b.pending--; then(err) }
	}()
}

// errPanic is the error of work that panicked.
var errPanic = errors.New("panic")

// guard does work, and turns its panic into an error. Temporal's SDK recovers panics of an
// activity's own goroutine only: any other would end the process.
func guard(ctx context.Context, work func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v", errPanic, p)
			activity.GetLogger(ctx).Error("the work of a shard panicked", "panic", p, "stack", string(debug.Stack()))
		}
	}()
	return work()
}

// drainEvents handles the other finished work.
func (b *base) drainEvents() {
	for range tuning.DispatchEvents {
		select {
		case then := <-b.events:
			then()
		default:
			return
		}
	}
}

// awaitPending waits for all work outside of the loop.
func (b *base) awaitPending() {
	for b.pending > 0 {
		(<-b.events)()
	}
}

// acquire takes a place for a callback, up to limit for the business type in this process.
func (b *base) acquire(limit int) bool {
	if !b.acquireSlot(b.shard.BusinessType, limit) {
		return false
	}
	b.calls++
	return true
}

// release frees the place of a callback.
func (b *base) release() {
	b.calls--
	b.releaseSlot(b.shard.BusinessType)
}

// abandon waits for the work beside a loop that has ended, without handling it. Only one that panicked
// leaves any. The places of its callbacks must not be lost to the other shards of the process.
func (b *base) abandon() {
	for ; b.pending > 0; b.pending-- {
		<-b.events
	}
	for b.calls > 0 {
		b.release()
	}
}

// markResolved records that the outcome of an item is stored.
func (b *base) markResolved(p *page, i int) {
	p.markResolved(i)
	if p.Attempts > 0 {
		b.state.Retrying--
	}
	b.closePage(p)
}

// closePage drops a page once all of its items are resolved.
func (b *base) closePage(p *page) {
	if p.left > 0 {
		return
	}
	for _, pages := range []*[]*page{&b.main, &b.ladder} {
		for i, open := range *pages {
			if open == p {
				*pages = append((*pages)[:i], (*pages)[i+1:]...)
				return
			}
		}
	}
}
