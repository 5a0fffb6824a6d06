package preload

import (
	"context"
	"time"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/tuning"
)

// held is a timer whose task this worker holds.
type held struct {
	*Preloader
	spec timer.Spec
	run  string
	// since is when this worker got the task, and checked when it last asked whether it still
	// has it.
	since, checked time.Time
	due            wire.Instant
	// wake carries a value when the timer must be rechecked at once.
	wake <-chan struct{}
}

// awaitDue waits until the timer is due, and rechecks it on the way.
func (h *held) awaitDue(ctx context.Context) (delivery.Result, error) {
	if result, err := h.awaitRechecks(ctx); result != "" || err != nil {
		return result, err
	}
	_, _ = h.Policies.Policy(ctx, h.spec.BusinessType) // it is then cached for the attempt
	if _, result, err := h.await(ctx, h.leavesAt(ctx)); result != "" || err != nil {
		return result, err
	}
	return h.recheckIfLate(ctx)
}

// awaitRechecks waits for the moment of the recheck, rechecks, and waits until it would
// be too late for another one.
func (h *held) awaitRechecks(ctx context.Context) (delivery.Result, error) {
	var done func()
	h.wake, done = h.wakeups.expect(h.run)
	defer done()
	if result, err := h.recheckTakenOver(ctx); result != "" || err != nil {
		return result, err
	}
	if result, err := h.awaitEarly(ctx, recheckAt(h.spec.Memo, time.Now())); result != "" || err != nil {
		return result, err
	}
	if result, err := h.recheck(ctx); result != "" || err != nil {
		return result, err
	}
	last := h.due.Time().Add(-tuning.LastRecheck)
	if leaves := h.leavesAt(ctx); leaves.Before(last) {
		last = leaves // the gateway that makes the attempt checks by itself
	}
	return h.awaitWoken(ctx, last)
}

// awaitEarly waits for a moment, and rechecks now and then. A recheck without an answer is
// ignored: there will be others.
func (h *held) awaitEarly(ctx context.Context, moment time.Time) (delivery.Result, error) {
	for {
		next := time.Now().Add(recheckAfter(h.wakeups.expected()))
		if !next.Before(moment) {
			return h.awaitWoken(ctx, moment)
		}
		if result, err := h.awaitWoken(ctx, next); result != "" || err != nil {
			return result, err
		}
		if result, err := h.askRevoked(ctx); err == nil && result != "" {
			return h.release(result)
		}
	}
}

// awaitWoken waits for a moment, and rechecks at each wakeup.
func (h *held) awaitWoken(ctx context.Context, moment time.Time) (delivery.Result, error) {
	for {
		woken, result, err := h.await(ctx, moment)
		if result != "" || err != nil || !woken {
			return result, err
		}
		if result, err := h.recheck(ctx); result != "" || err != nil {
			return result, err
		}
	}
}

// await waits for a moment or a wakeup. The result says why the timer was released
// meanwhile, if it was.
func (h *held) await(ctx context.Context, moment time.Time) (woken bool, result delivery.Result, err error) {
	wait := time.NewTimer(time.Until(moment))
	defer wait.Stop()
	select {
	case <-wait.C:
	case <-h.wake:
		woken = true
	case <-h.stopping:
		result, err = h.release(delivery.ResultWorkerStopping)
	case <-ctx.Done():
		err = ctx.Err()
	}
	return woken, result, err
}

// leavesAt is when this worker's part ends: at the instant, or a moment before if a
// receiver's gateway makes the attempt.
func (h *held) leavesAt(ctx context.Context) time.Time {
	policy, _ := h.Policies.Policy(ctx, h.spec.BusinessType)
	if callback, _ := h.spec.Call(policy); callback.Stream {
		return h.due.Time().Add(-tuning.StreamLead)
	}
	return h.due.Time()
}

func (h *held) release(how delivery.Result) (delivery.Result, error) {
	h.Observer.Released(how)
	return how, nil
}
