package delivery

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

// preload waits in memory until a timer is due. An empty result says that it shall be
// called now; another one says why this worker does not call it. Temporal tells a
// worker nothing about a timer whose workflow task it has. So the timer is rechecked
// shortly before it is due, and again whenever a wakeup says that something changed:
// a change that is durable by then is certain to be seen.
func (a *Attempter) preload(ctx context.Context, spec timer.Spec) (delivery.Result, error) {
	held := a.hold(ctx, spec.Key)
	due := spec.RingsAt()
	wait := due.Until(time.Now())
	if wait <= 0 {
		return a.recheckIfLate(ctx, held, due)
	}
	if wait > spec.Lead()+tuning.ClockSkew {
		return delivery.ResultUseQueue, nil
	}
	leave, ok := a.Preload.Enter(spec.Memo)
	if !ok && wait > tuning.ShortPreload {
		return a.release(delivery.ResultRejected)
	}
	if ok {
		defer leave()
	}
	a.Observer.Preloaded(1)
	defer a.Observer.Preloaded(-1)
	if result, err := a.awaitRechecks(ctx, held, spec); result != "" || err != nil {
		return result, err
	}
	_, _ = a.Policies.Policy(ctx, spec.BusinessType) // it is cached then, for the attempt to read
	if _, result, err := a.await(ctx, a.leavesAt(ctx, spec), nil); result != "" || err != nil {
		return result, err
	}
	return a.recheckIfLate(ctx, held, due)
}

// held is a timer whose task this worker has.
type held struct {
	key wire.Key
	run string
	// since is when it was handed the task.
	since time.Time
}

func (a *Attempter) hold(ctx context.Context, key wire.Key) held {
	run := runOf(ctx)
	_, _, since := a.Tasks.Hold(run)
	return held{key: key, run: run, since: since}
}

// leavesAt is when this worker has done its part: at the instant, or a moment before where
// the gateway makes the attempt to which the receiver is connected.
func (a *Attempter) leavesAt(ctx context.Context, spec timer.Spec) time.Time {
	policy, _ := a.Policies.Policy(ctx, spec.BusinessType)
	if callback, _ := spec.Call(policy); callback.Stream {
		return spec.RingsAt().Time().Add(-tuning.StreamLead)
	}
	return spec.RingsAt().Time()
}

// awaitNearly waits for a timer that is all but due.
func awaitNearly(ctx context.Context, due wire.Instant) error {
	early := due.Until(time.Now())
	if early <= 0 || early > tuning.StreamLead {
		return nil
	}
	select {
	case <-time.After(early):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// recheckIfLate keeps a timer from being called on old knowledge. This process may have
// stood still, frozen or without a processor, or the task took long to arrive: another
// worker may have the timer by now, and it may have been cancelled or moved.
func (a *Attempter) recheckIfLate(ctx context.Context, h held, due wire.Instant) (delivery.Result, error) {
	if a.Tasks.TimedOut(h.run) {
		return a.release(delivery.ResultWorkerStopping)
	}
	if due.Until(time.Now()) > -tuning.Promptly {
		return "", nil
	}
	return a.recheck(ctx, h)
}

// awaitRechecks waits for the moment of the recheck, rechecks, and waits until it would
// be too late for another one.
func (a *Attempter) awaitRechecks(ctx context.Context, h held, spec timer.Spec) (delivery.Result, error) {
	woken, done := a.wakeups.expect(h.run)
	defer done()
	if result, err := a.awaitEarly(ctx, h, recheckAt(spec.Memo, time.Now()), woken); result != "" || err != nil {
		return result, err
	}
	if result, err := a.recheck(ctx, h); result != "" || err != nil {
		return result, err
	}
	last := spec.RingsAt().Time().Add(-tuning.LastRecheck)
	if leaves := a.leavesAt(ctx, spec); leaves.Before(last) {
		last = leaves // whoever makes the attempt asks by itself
	}
	return a.awaitWoken(ctx, h, last, woken)
}

// awaitEarly waits for a moment, and rechecks now and then. No answer is none: there will
// be other rechecks.
func (a *Attempter) awaitEarly(ctx context.Context, h held, moment time.Time, wakeups <-chan struct{}) (delivery.Result, error) {
	for {
		next := time.Now().Add(recheckAfter(a.wakeups.expected()))
		if !next.Before(moment) {
			return a.awaitWoken(ctx, h, moment, wakeups)
		}
		if result, err := a.awaitWoken(ctx, h, next, wakeups); result != "" || err != nil {
			return result, err
		}
		if result, err := a.released(ctx, h); err == nil && result != "" {
			return a.release(result)
		}
	}
}

// recheckAfter is the time until one of many preloaded timers is rechecked, which is
// longer the more they are.
func recheckAfter(preloaded int) time.Duration {
	each := max(tuning.EarlyRecheck, time.Duration(preloaded)*time.Second/tuning.EarlyRechecks)
	return each*3/4 + rand.N(each/2)
}

// awaitWoken waits for a moment, and rechecks at each wakeup.
func (a *Attempter) awaitWoken(ctx context.Context, h held, moment time.Time, wakeups <-chan struct{}) (delivery.Result, error) {
	for {
		woken, result, err := a.await(ctx, moment, wakeups)
		if result != "" || err != nil || !woken {
			return result, err
		}
		if result, err := a.recheck(ctx, h); result != "" || err != nil {
			return result, err
		}
	}
}

// await waits for a moment or a wakeup. The result says why the timer was released
// meanwhile, if it was.
func (a *Attempter) await(ctx context.Context, moment time.Time, wakeups <-chan struct{}) (woken bool, result delivery.Result, err error) {
	wait := time.NewTimer(time.Until(moment))
	defer wait.Stop()
	select {
	case <-wait.C:
	case <-wakeups:
		woken = true
	case <-a.stopping:
		result, err = a.release(delivery.ResultWorkerStopping)
	case <-ctx.Done():
		err = ctx.Err()
	}
	return woken, result, err
}

// recheckAt is a random moment of the window in which a preloaded timer is rechecked.
func recheckAt(memo timer.Memo, now time.Time) time.Time {
	due := memo.RingsAt().Time()
	window := max(min(max(tuning.RecheckWindow, (memo.Preload.Window.D()-policy.DefaultPreload)/tuning.RecheckShare), due.Sub(now))-tuning.LastRecheck, 1)
	return due.Add(-tuning.LastRecheck - rand.N(window))
}

// recheck releases a timer that is not wanted any more, or not of this worker. It asks
// until Temporal answers: a timer that may have been cancelled is called late rather than
// wrongly.
func (a *Attempter) recheck(ctx context.Context, h held) (delivery.Result, error) {
	for {
		result, err := a.released(ctx, h)
		switch {
		case err == nil && result == "":
			return "", nil
		case err == nil:
			return a.release(result)
		}
		if err := pause(ctx); err != nil {
			return "", err
		}
	}
}

// released is why a timer is to be released; "" if it is not. Who is told that another
// worker has it asks once more: Temporal exchanges the task of an attempt that takes long,
// and tells of the new one a moment later.
func (a *Attempter) released(ctx context.Context, h held) (delivery.Result, error) {
	result, err := a.releasedNow(ctx, h)
	if err != nil || result != delivery.ResultWorkerStopping {
		return result, err
	}
	if err := pause(ctx); err != nil {
		return "", err
	}
	return a.releasedNow(ctx, h)
}

// releasedNow asks once. A task that came anew shows that another worker may have had the
// timer meanwhile.
func (a *Attempter) releasedNow(ctx context.Context, h held) (delivery.Result, error) {
	attempt, startedAt, since := a.Tasks.Hold(h.run)
	if !since.Equal(h.since) {
		return delivery.ResultWorkerStopping, nil
	}
	return a.Runs.Revoked(ctx, h.key, timer.Hold{RunID: h.run, Attempt: attempt, StartedAt: startedAt})
}

func pause(ctx context.Context) error {
	select {
	case <-time.After(tuning.RecheckPause):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (a *Attempter) release(how delivery.Result) (delivery.Result, error) {
	a.Observer.Released(how)
	return how, nil
}

// Recheck makes a timer that is preloaded here be rechecked at once.
func (a *Attempter) Recheck(_ context.Context, run string) error {
	a.wakeups.notify(run)
	return nil
}

// ReleaseAll releases every preloaded timer to other workers, now and from now on. It
// must be called once.
func (a *Attempter) ReleaseAll() { close(a.stopping) }
