package failover

import (
	"sync"
	"time"

	"github.com/wakecall/wakecall/internal/tuning"
)

// watch judges which workers live. A worker is dead if its sign stays the same while the own
// sign of this process changes. If the own sign stays too, the cause may be Temporal, and no
// worker is judged. The watch has no clock: each call says what time it is.
type watch struct {
	self string
	// ended reports whether a worker's process has certainly ended.
	ended func(worker string) bool

	mu sync.Mutex
	// own is the own sign that was listed last, and judged when it was seen to change.
	own    Sign
	judged time.Time
	// asked is when the signs were asked for that were listed last.
	asked time.Time
	peers map[string]*peer
}

// peer is what is known of another worker.
type peer struct {
	// sign is the last one that was listed. known is set once one was.
	sign  Sign
	known bool
	// changedAt is when the sign was seen to change, and ownSigns is how many own signs came since.
	changedAt time.Time
	ownSigns  int
	// dead is set once the worker is taken for dead, and lost once its attempts count as lost.
	dead, lost bool
}

// verdicts are the new verdicts of one look.
type verdicts struct {
	// died are taken for dead from now on. The attempts of lost count as lost. revived were taken
	// for dead, and live.
	died, lost, revived []string
}

func newWatch(self string, ended func(worker string) bool) *watch {
	return &watch{self: self, ended: ended, peers: map[string]*peer{}}
}

// observe takes what was listed at a moment, and when that was asked for. Many look at once, each before it
// frees a task. What was asked for before what is known says nothing new, and would make an own sign count
// again.
func (w *watch) observe(signs []Sign, asked, now time.Time) (v verdicts) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if asked.Before(w.asked) {
		return v
	}
	w.asked = asked
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
		if w.update(worker, sign, now) {
			v.revived = append(v.revived, worker)
		}
	}
	if advanced {
		w.judge(listed, now, &v)
	}
	return v
}

// update records the sign of another worker. revived reports whether it was taken for dead.
func (w *watch) update(worker string, sign Sign, now time.Time) (revived bool) {
	p := w.peers[worker]
	if p != nil && p.known && p.sign.At.Equal(sign.At) {
		return false
	}
	w.peers[worker] = &peer{sign: sign, known: true, changedAt: now}
	return p != nil && p.dead
}

// judge counts one more own sign against the workers whose sign has not changed.
func (w *watch) judge(listed map[string]Sign, now time.Time, v *verdicts) {
	for worker, p := range w.peers {
		_, present := listed[worker]
		age := now.Sub(p.changedAt)
		if !present && p.sign.Stopping || age > tuning.DeadRemembered {
			delete(w.peers, worker) // it has stopped, or is long forgotten
			continue
		}
		if age == 0 {
			continue
		}
		p.ownSigns++
		ended := p.ownSigns >= tuning.EndedSigns && age >= tuning.EndedAfter && w.ended(worker)
		if !p.dead && (ended || p.ownSigns >= tuning.DeadSigns && age >= tuning.DeadAfter) {
			p.dead = true
			v.died = append(v.died, worker)
		}
		if !p.lost && (ended || p.ownSigns >= tuning.LostSigns && age >= tuning.LostAfter) {
			p.lost = true
			v.lost = append(v.lost, worker)
		}
	}
}

// crashed reports whether a worker is dead and has missed a timer that was due at a moment. The
// worker was seen alive and did not begin to stop: a stopping one may have stored its receipts.
func (w *watch) crashed(worker string, due, now time.Time) bool {
	return w.verdict(worker, now, func(p *peer) bool { return p.known && !p.sign.Stopping && p.missed(due) })
}

// missed reports whether a worker is dead and has missed a timer that it held, due at a moment.
func (w *watch) missed(worker string, due, now time.Time) bool {
	return w.verdict(worker, now, func(p *peer) bool { return p.missed(due) })
}

// missed reports whether a dead worker has not rung a timer. It has probably rung what fell due
// while it could trust in its last sign. If it lives after all, it can tell of that. So this
// judgement waits until its attempts count as lost.
func (p *peer) missed(due time.Time) bool {
	return p.dead && (p.lost || due.After(p.sign.At.Add(tuning.SignTrusted)))
}

// lives reports whether a worker was seen and is not dead.
func (w *watch) lives(worker string, now time.Time) bool {
	return w.verdict(worker, now, func(p *peer) bool { return p.known && !p.dead })
}

// isDead reports whether a worker is dead.
func (w *watch) isDead(worker string, now time.Time) bool {
	return w.verdict(worker, now, func(p *peer) bool { return p.dead })
}

// lost reports whether a worker has been dead for so long that its attempts are lost.
func (w *watch) lost(worker string, now time.Time) bool {
	return w.verdict(worker, now, func(p *peer) bool { return p.lost })
}

// verdict reports whether a condition holds for a worker. It is false while workers cannot be
// judged. A worker that was never seen is watched from now on: it may have started a moment ago.
func (w *watch) verdict(worker string, now time.Time, holds func(*peer) bool) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if worker == w.self || worker == "" {
		return false
	}
	p := w.peers[worker]
	if p == nil {
		w.peers[worker] = &peer{changedAt: now}
		return false
	}
	return holds(p) && w.trusted(now)
}

// canJudge reports whether it is known now which workers live.
func (w *watch) canJudge(now time.Time) bool {
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
	for worker, p := range w.peers {
		if p.known && !p.dead && !p.sign.Stopping {
			workers = append(workers, worker)
		}
	}
	return workers
}
