package preload

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/internal/tuning"
)

// recheckTakenOver rechecks a timer at once that another worker had, if it has time. A notification of a
// change went to that worker, and among many preloaded timers the next recheck is late for one that is
// moved to an earlier time.
func (h *held) recheckTakenOver(ctx context.Context) (delivery.Result, error) {
	if h.Tasks.Predecessor(h.run) == "" || h.due.Until(time.Now()) <= tuning.EarlyRecheck {
		return "", nil
	}
	return h.recheck(ctx)
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
		result, err := h.askRevoked(ctx)
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

// askRevoked asks why a timer must be released; "" if it must not. A worker asks once more after
// the answer that another one holds the timer. Temporal exchanges the task of a long
// attempt, and shows the new one a moment later.
func (h *held) askRevoked(ctx context.Context) (delivery.Result, error) {
	result, err := h.askRevokedOnce(ctx)
	if err != nil || result != delivery.ResultWorkerStopping {
		return result, err
	}
	if err := pause(ctx); err != nil {
		return "", err
	}
	return h.askRevokedOnce(ctx)
}

// askRevokedOnce is askRevoked with one question. A new task shows that another worker may have held the timer in
// between.
func (h *held) askRevokedOnce(ctx context.Context) (delivery.Result, error) {
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
