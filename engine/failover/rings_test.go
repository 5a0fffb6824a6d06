package failover

import (
	"context"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wakecall/wakecall/internal/tuning"
)

// ringing is a worker process that rings what it was handed, when it is due and as far as it
// knows. It learns of a takeover only if it asks.
type ringing struct {
	*process

	// trusting has it ring without a question, as the control does.
	trusting bool
	// got is when it was handed each task, zero once that is done.
	got map[handedTask]time.Time
}

// handedTask is a task of a run.
type handedTask struct {
	run       string
	scheduled int64
}

// tick is the time between two looks of a worker at its clock, and recording how long Temporal
// needs at most to record an attempt.
const (
	tick      = 100 * time.Millisecond
	recording = time.Second
)

// rings has a process ring from now on.
func (c *cluster) rings(p *process, trusting bool) {
	r := &ringing{process: p, trusting: trusting, got: map[handedTask]time.Time{}}
	go func() {
		for {
			select {
			case <-time.After(tick):
			case <-c.t.Context().Done():
				return
			}
			_, _ = call(c.t.Context(), p, func() (none struct{}, _ error) { // not while it is frozen
				for _, run := range c.runs {
					r.attend(run)
				}
				return none, nil
			})
		}
	}()
}

// attend rings a run of which this worker knows, once it is due.
func (r *ringing) attend(run *heldRun) {
	if task := (handedTask{run.id, run.scheduled}); run.holder == r.name {
		if _, known := r.got[task]; !known {
			r.got[task] = time.Now()
		}
	}
	for task, got := range r.got {
		if task.run == run.id && !got.IsZero() && !time.Now().Before(run.rings) && (r.trusting || r.failover.Heard()) {
			r.got[task] = time.Time{}
			r.ring(run, task, got)
		}
	}
}

// ring rings a timer whose task this worker got at a moment.
func (r *ringing) ring(run *heldRun, task handedTask, got time.Time) {
	has := func() bool { return run.holder == r.name && run.scheduled == task.scheduled }
	if !r.trusting && r.failover.CutOff(got) && !has() {
		return
	}
	run.rung = append(run.rung, time.Now())
	wait := rand.N(recording)
	go func() { // it is recorded, unless the worker stands still or has lost the task
		<-time.After(wait)
		_, _ = call(context.Background(), r.process, func() (none struct{}, _ error) {
			if has() {
				run.holder = ""
			}
			return none, nil
		})
	}()
}

// A worker that stands still, or that is too slow to give signs, rings nothing twice, and what it
// held rings in time at the other one. Those who ring without a question are found out.
func TestNothingRingsTwice(t *testing.T) {
	for name, c := range map[string]struct {
		trusting bool
		still    time.Duration // at most
		twice    bool
	}{
		"slow":          {false, tuning.LostAfter - recording, false},
		"slow, control": {true, tuning.LostAfter - recording, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cluster := newCluster(t)
				a, b := cluster.starts("a"), cluster.starts("b")
				cluster.rings(a, c.trusting)
				cluster.rings(b, c.trusting)
				passes(10 * time.Second)
				for range 8 {
					cluster.holds("a", 5, rand.N(10*time.Second))
					passes(2 * tick) // it knows of them
					a.freeze()
					passes(c.still - rand.N(c.still/4))
					a.thaw()
					passes(rand.N(10 * time.Second))
				}
				passes(time.Minute)
				require.Equal(t, c.twice, cluster.judge() > 0)
				require.NotEmpty(t, b.died, "it was taken for dead")
				require.NotEmpty(t, cluster.freed())
			})
		})
	}
}

// judge counts what rang twice, and demands that everything rang in time: from its moment on, or from
// the last time that a worker came to stand still before it rang.
func (c *cluster) judge() (twice int) {
	for _, run := range c.runs {
		require.NotEmpty(c.t, run.rung, run.id)
		last := run.rings
		for _, froze := range c.froze {
			if froze.After(last) && froze.Before(run.rung[0]) {
				last = froze
			}
		}
		require.WithinRange(c.t, run.rung[0], run.rings, last.Add(TakenOver), run.id)
		if len(run.rung) > 1 {
			twice++
		}
	}
	return twice
}

// What is booked at a worker that was frozen, and that the others still take for dead, rings once.
func TestWhatIsBookedAtAThawedWorkerRingsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cluster := newCluster(t)
		a, b := cluster.starts("a"), cluster.starts("b")
		cluster.rings(a, false)
		cluster.rings(b, false)
		passes(10 * time.Second)
		for range 8 {
			cluster.holds("a", 5, 0)
			a.freeze()
			passes(2*tuning.LostAfter + rand.N(tuning.SignEvery))
			a.thaw()
			cluster.holds("a", 5, -5*time.Second)
			passes(tuning.HeardWithin + recording + rand.N(10*time.Second)) // none is in flight at the next freeze
		}
		passes(time.Minute)
		require.Zero(t, cluster.judge())
		require.NotEmpty(t, b.died, "it was taken for dead")
	})
}
