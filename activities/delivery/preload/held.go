package preload

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
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

// recheckTakenOver rechecks a timer at once that another worker had, if it has time. A notification of a
// change went to that worker, and among many preloaded timers the next recheck is late for one that is
// moved to an earlier time.
func (h *held) recheckTakenOver(ctx context.Context) (delivery.Result, error) {
	if h.Tasks.Predecessor(h.run) == "" || h.due.Until(time.Now()) <= tuning.EarlyRecheck {
		return "", nil
	}
	return h.recheck(ctx)
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
		if result, err := h.released(ctx); err == nil && result != "" {
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

// recheckIfLate keeps a timer from ringing on stale knowledge. This process may have stood
// still, frozen or without a processor, the task may have taken long to arrive, or Temporal
// hears nothing of this process. Another worker may hold the timer now, and it may have been
// cancelled or moved. While another worker had the task, the workflow saw no change either.
func (h *held) recheckIfLate(ctx context.Context) (delivery.Result, error) {
	if h.Tasks.TimedOut(h.run) {
		return h.release(delivery.ResultWorkerStopping)
	}
	if h.Tasks.Predecessor(h.run) != "" || h.due.Until(time.Now()) <= -tuning.Promptly {
		if result, err := h.recheck(ctx); result != "" || err != nil {
			return result, err
		}
	}
	return h.recheckIfCutOff(ctx)
}

// recheckIfCutOff rechecks a timer that another worker may have been given since the last
// recheck. What was asked before this process stood still is asked again.
func (h *held) recheckIfCutOff(ctx context.Context) (delivery.Result, error) {
	for h.Failover.CutOff(h.checked) {
		h.awaitHeard(ctx)
		result, err := h.recheck(ctx)
		if result != "" || err != nil || time.Since(h.checked) < tuning.SignTrusted {
			return result, err
		}
	}
	return "", nil
}

// awaitHeard waits until the other workers know that this one lives. Before that they may take its
// timers at any moment, also right after a recheck.
func (h *held) awaitHeard(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, tuning.HeardWithin)
	defer cancel()
	look := time.NewTicker(tuning.HeardPoll)
	defer look.Stop()
	for !h.Failover.Heard() {
		select {
		case <-look.C:
		case <-ctx.Done():
			return
		}
	}
}

// recheck releases a timer that is no longer wanted, or no longer this worker's. It asks
// until Temporal answers: a possibly cancelled timer should ring late rather than wrongly.
func (h *held) recheck(ctx context.Context) (delivery.Result, error) {
	for {
		result, err := h.released(ctx)
		switch {
		case err == nil && result == "":
			return "", nil
		case err == nil:
			return h.release(result)
		}
		if err := pause(ctx); err != nil {
			return "", err
		}
	}
}

// released is why a timer must be released; "" if it must not. A worker asks once more after
// the answer that another one holds the timer. Temporal exchanges the task of a long
// attempt, and shows the new one a moment later.
func (h *held) released(ctx context.Context) (delivery.Result, error) {
	result, err := h.releasedNow(ctx)
	if err != nil || result != delivery.ResultWorkerStopping {
		return result, err
	}
	if err := pause(ctx); err != nil {
		return "", err
	}
	return h.releasedNow(ctx)
}

// releasedNow asks once. A new task shows that another worker may have held the timer in
// between.
func (h *held) releasedNow(ctx context.Context) (delivery.Result, error) {
	attempt, startedAt, since := h.Tasks.Hold(h.run)
	if !since.Equal(h.since) {
		return delivery.ResultWorkerStopping, nil
	}
	asked := time.Now()
	result, err := h.Runs.Revoked(ctx, h.spec.Key, timer.Hold{RunID: h.run, Attempt: attempt, StartedAt: startedAt})
	if err == nil {
		h.checked = asked
	}
	return result, err
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

// recheckAfter is the interval between rechecks of a preloaded timer. It grows with the
// number of preloaded timers.
func recheckAfter(preloaded int) time.Duration {
	each := max(tuning.EarlyRecheck, time.Duration(preloaded)*time.Second/tuning.EarlyRechecks)
	return each*3/4 + rand.N(each/2)
}

// recheckAt is a random moment in the recheck window of a preloaded timer.
func recheckAt(memo timer.Memo, now time.Time) time.Time {
	due := memo.RingsAt().Time()
	window := max(tuning.RecheckWindow, (memo.Preload.Window.D()-policy.DefaultPreload)/tuning.RecheckShare)
	window = min(window, due.Sub(now)) - tuning.LastRecheck
	return due.Add(-tuning.LastRecheck - rand.N(max(window, 1)))
}

func pause(ctx context.Context) error {
	select {
	case <-time.After(tuning.RecheckPause):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
