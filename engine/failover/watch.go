package failover

import (
	"sync"
	"time"

	"github.com/wakecall/wakecall/internal/tuning"
)

// watch judges which workers live. A worker is dead whose sign stays while the own sign of
// this process changes: what holds up the signs of all, such as a Temporal that is away,
// tells nothing of one. It has no clock; each call says what time it is.
type watch struct {
	self string
	// ended reports whether a worker's process has ended for certain.
	ended func(worker string) bool

	mu sync.Mutex
	// own is the own sign that was listed last, and judged when it was seen to change.
	own    Sign
	judged time.Time
	others map[string]*other
}

// other is what is known of another worker.
type other struct {
	// sign is the last one that was listed, and known is set once one was.
	sign  Sign
	known bool
	// changed is when it was seen to change, and still how many own signs came since.
	changed    time.Time
	still      int
	dead, lost bool
}

// verdicts are the new verdicts of one look.
type verdicts struct {
	// died are taken for dead from now on, lost for so long that their attempts count as
	// lost, and revived are dead no more.
	died, lost, revived []string
}

func newWatch(self string, ended func(worker string) bool) *watch {
	return &watch{self: self, ended: ended, others: map[string]*other{}}
}

// observe takes what was listed at a moment.
func (w *watch) observe(signs []Sign, now time.Time) (v verdicts) {
	w.mu.Lock()
	defer w.mu.Unlock()
	listed := map[string]Sign{}
	for _, sign := range signs {
		listed[sign.Worker] = sign
	}
	own, ok := listed[w.self]
	advanced := ok && !own.At.Equal(w.own.At)
	if advanced {
		w.own, w.judged = own, now
	}
	delete(listed, w.self)
	for worker, sign := range listed {
		if w.changed(worker, sign, now) {
			v.revived = append(v.revived, worker)
		}
	}
	if advanced {
		w.judge(listed, now, &v)
	}
	return v
}

// changed notes the sign of another worker. revived reports whether it was taken for dead.
func (w *watch) changed(worker string, sign Sign, now time.Time) (revived bool) {
	o := w.others[worker]
	if o != nil && o.known && o.sign.At.Equal(sign.At) {
		return false
	}
	w.others[worker] = &other{sign: sign, known: true, changed: now}
	return o != nil && o.dead
}

// judge counts one more own sign against those that stand still.
func (w *watch) judge(listed map[string]Sign, now time.Time, v *verdicts) {
	for worker, o := range w.others {
		_, there := listed[worker]
		age := now.Sub(o.changed)
		if !there && o.sign.Stopping || age > tuning.DeadRemembered {
			delete(w.others, worker) // it has stopped, or is long forgotten
			continue
		}
		if age == 0 {
			continue
		}
		o.still++
		ended := o.still >= tuning.EndedSigns && age >= tuning.EndedAfter && w.ended(worker)
		if !o.dead && (ended || o.still >= tuning.DeadSigns && age >= tuning.DeadAfter) {
			o.dead = true
			v.died = append(v.died, worker)
		}
		if !o.lost && (ended || o.still >= tuning.LostSigns && age >= tuning.LostAfter) {
			o.lost = true
			v.lost = append(v.lost, worker)
		}
	}
}

// crashed reports whether a worker is dead that has not rung a timer that was due at a moment. It
// was seen alive and did not begin to stop: one that stops may have left word of its attempts.
func (w *watch) crashed(worker string, due, now time.Time) bool {
	return w.verdict(worker, now, func(o *other) bool { return o.known && !o.sign.Stopping && o.leaves(due) })
}

// left reports whether a dead worker will not ring a timer that was due at a moment, and that it
// held when it died.
func (w *watch) left(worker string, due, now time.Time) bool {
	return w.verdict(worker, now, func(o *other) bool { return o.leaves(due) })
}

// leaves reports whether a dead worker has not rung a timer. What fell due while it could trust in
// its last sign it has probably rung, and may tell of it if it lives after all. So that waits for
// worse evidence.
func (o *other) leaves(due time.Time) bool {
	return o.dead && (o.lost || due.After(o.sign.At.Add(tuning.SignTrusted)))
}

// lives reports whether a worker was seen and is not dead.
func (w *watch) lives(worker string, now time.Time) bool {
	return w.verdict(worker, now, func(o *other) bool { return o.known && !o.dead })
}

// isDead reports whether a worker is dead.
func (w *watch) isDead(worker string, now time.Time) bool {
	return w.verdict(worker, now, func(o *other) bool { return o.dead })
}

// lost reports whether a worker has been dead for so long that its attempts are lost.
func (w *watch) lost(worker string, now time.Time) bool {
	return w.verdict(worker, now, func(o *other) bool { return o.lost })
}

// verdict judges a worker, as far as that can be told now. One that was never seen is watched from
// now on: it may have started a moment ago.
func (w *watch) verdict(worker string, now time.Time, of func(*other) bool) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if worker == w.self || worker == "" {
		return false
	}
	o := w.others[worker]
	if o == nil {
		w.others[worker] = &other{changed: now}
		return false
	}
	return of(o) && w.trusted(now)
}

// judges reports whether it can be told now which workers live.
func (w *watch) judges(now time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.trusted(now)
}

// trusted is called under the lock.
func (w *watch) trusted(now time.Time) bool { return now.Sub(w.judged) <= tuning.JudgementTrusted }

// survivors are the workers that live, this one among them.
func (w *watch) survivors() (workers []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	workers = append(workers, w.self)
	for worker, o := range w.others {
		if o.known && !o.dead && !o.sign.Stopping {
			workers = append(workers, worker)
		}
	}
	return workers
}
