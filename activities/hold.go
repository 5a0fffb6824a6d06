package activities

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/wakecall/wakecall/timer"
)

const (
	// lastLook is the latest that a held timer looks whether it is still wanted:
	// time enough for the answer.
	lastLook = 30 * time.Millisecond
	// looking and lookingShare are how long before the ring the looks begin, at
	// least and in parts of the preload. They are spread, or those of a herd
	// would come at the instant at which it rings.
	looking      = 300 * time.Millisecond
	lookingShare = 4
	// lookAgain is the pause after a look that was not answered.
	lookAgain = 20 * time.Millisecond
	// smallHold is a wait for which no place is needed.
	smallHold = time.Second
	// promptly is how late a timer may ring on what was known when it was due.
	promptly = 100 * time.Millisecond
	// clockSkew is by how much the clocks of the engine and of a worker may
	// differ. A timer that comes earlier than that waits in the engine.
	clockSkew = 5 * time.Second
)

// hold keeps a timer until its time. The result is empty when it shall ring now,
// and says why not otherwise. Temporal tells a worker nothing of a timer whose
// task it has, so it is asked shortly before the ring, and again when a nudge
// says that something changed: what is durable by then is certain to be seen.
func (r *Ringer) hold(ctx context.Context, spec timer.Spec) (timer.Result, error) {
	rings := spec.RingsAt()
	wait := rings.Until(time.Now())
	if wait <= 0 {
		return r.recheck(ctx, spec)
	}
	if wait > spec.Lead()+clockSkew {
		return timer.ResultUseQueue, nil
	}
	leave, ok := r.Hold.Enter(spec.RecordTime())
	if !ok && wait > smallHold {
		return r.letGo(timer.ResultRejected)
	}
	if ok {
		defer leave()
	}
	r.Observer.Held(1)
	defer r.Observer.Held(-1)
	if result, err := r.awaitLooks(ctx, spec); result != "" || err != nil {
		return result, err
	}
	_, _ = r.Policies.Policy(ctx, spec.BusinessType) // to have it at hand; the ring reads it again
	if _, result, err := r.await(ctx, rings.Time(), nil); result != "" || err != nil {
		return result, err
	}
	return r.recheck(ctx, spec)
}

// recheck keeps a timer from ringing on old news. This process may have stood
// still, frozen or for want of a processor, or the task was long on its way: by now
// another worker may have it, and the timer may have been cancelled or moved.
func (r *Ringer) recheck(ctx context.Context, spec timer.Spec) (timer.Result, error) {
	if r.Tasks.TimedOut(runOf(ctx)) {
		return r.letGo(timer.ResultWorkerStopping)
	}
	if spec.RingsAt().Until(time.Now()) > -promptly {
		return "", nil
	}
	return r.look(ctx, spec.Key)
}

// awaitLooks waits for the moment of the look, looks, and waits for the last
// moment at which an answer comes in time. A nudge makes it look at once.
func (r *Ringer) awaitLooks(ctx context.Context, spec timer.Spec) (timer.Result, error) {
	nudged, done := r.looks.expect(runOf(ctx))
	defer done()
	if result, err := r.awaitLook(ctx, spec.Key, lookAt(spec.Memo, time.Now()), nudged); result != "" || err != nil {
		return result, err
	}
	if result, err := r.look(ctx, spec.Key); result != "" || err != nil {
		return result, err
	}
	return r.awaitLook(ctx, spec.Key, spec.RingsAt().Time().Add(-lastLook), nudged)
}

// awaitLook waits for a moment, and looks when it is nudged.
func (r *Ringer) awaitLook(ctx context.Context, key timer.Key, moment time.Time, nudged <-chan struct{}) (timer.Result, error) {
	for {
		woken, result, err := r.await(ctx, moment, nudged)
		if result != "" || err != nil || !woken {
			return result, err
		}
		if result, err := r.look(ctx, key); result != "" || err != nil {
			return result, err
		}
	}
}

// await waits for a moment, or until it is woken. The result says why the timer
// was let go meanwhile, if it was.
func (r *Ringer) await(ctx context.Context, moment time.Time, wake <-chan struct{}) (woken bool, result timer.Result, err error) {
	wait := time.NewTimer(time.Until(moment))
	defer wait.Stop()
	select {
	case <-wait.C:
	case <-wake:
		woken = true
	case <-r.leaving:
		result, err = r.letGo(timer.ResultWorkerStopping)
	case <-ctx.Done():
		err = ctx.Err()
	}
	return woken, result, err
}

// lookAt is when a held timer looks.
func lookAt(memo timer.Memo, now time.Time) time.Time {
	rings := memo.RingsAt().Time()
	window := max(min(max(looking, (memo.Preload.Window.D()-timer.DefaultPreload)/lookingShare), rings.Sub(now))-lastLook, 1)
	return rings.Add(-lastLook - rand.N(window))
}

// look lets go of a timer that is not wanted any more. It asks until it is told:
// one that may have been cancelled is rung late rather than wrongly.
func (r *Ringer) look(ctx context.Context, key timer.Key) (timer.Result, error) {
	for {
		wanted, err := r.Runs.Wanted(ctx, key, runOf(ctx))
		switch {
		case err == nil && wanted:
			return "", nil
		case err == nil:
			return r.letGo(timer.ResultInterrupted)
		}
		select {
		case <-time.After(lookAgain):
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
}

func (r *Ringer) letGo(how timer.Result) (timer.Result, error) {
	r.Observer.Unrung(how)
	return how, nil
}

// Look makes a timer that this process holds look whether it is still wanted.
func (r *Ringer) Look(_ context.Context, run string) error {
	r.looks.nudge(run)
	return nil
}

// HandBack lets go of everything that is held, now and from now on: another
// worker shall ring it. It must be called once.
func (r *Ringer) HandBack() { close(r.leaving) }
