package bookings

import (
	"context"
	"sync"
	"time"

	"github.com/wakecall/wakecall/core/health"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/engine/holds"
	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/workflows"
)

// Processes tells which processes live.
type Processes interface {
	// List returns the processes that give signs of life, with a verdict for each.
	List(ctx context.Context) (health.Processes, error)
}

// Unapplied are the changes and cancels that no worker has applied yet, as far as this process knows, to
// timers that no worker held: those of its own, and those of others to timers that it has read. A worker
// applies such a change within milliseconds. If it dies with the task, the change waits for the task's
// timeout, up to two minutes. The other workers do not find it: visibility shows the timer as one that
// waits for its time.
type Unapplied struct {
	holds     *holds.Holds
	processes Processes
	// unsure is when Temporal may last have lost the signs of processes that had died: it keeps them in
	// memory, and this process may have started after it. A task of before has timed out two minutes later.
	unsure time.Time

	mu      sync.Mutex
	changes map[string]unapplied // by run
}

func newUnapplied(holds *holds.Holds, processes Processes) *Unapplied {
	return &Unapplied{holds: holds, processes: processes, unsure: time.Now(), changes: map[string]unapplied{}}
}

// unapplied is a change, and when it was sent.
type unapplied struct {
	sent

	at time.Time
}

// add adds a change that was sent. Of very many it forgets the oldest, which is most likely applied.
func (u *Unapplied) add(s sent) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.put(unapplied{s, time.Now()})
}

// put adds a change. Of several changes of a run the first one tells since when it waits. The caller holds
// the lock.
func (u *Unapplied) put(change unapplied) {
	if before, known := u.changes[change.runID]; known {
		change.at = before.at
	} else if len(u.changes) >= tuning.UnappliedKnown {
		delete(u.changes, u.oldest())
	}
	u.changes[change.runID] = change
}

// taken adds what woke a timer whose task a worker has had for longer than a change takes, and does not
// preload. The process that sent it may have died with that worker.
func (u *Unapplied) taken(view timer.View, since time.Time) {
	if time.Since(since) <= tuning.UnappliedAfter || mayBePreloaded(view) {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.put(unapplied{sent{key: view.Key, runID: view.RunID}, time.Now().Add(-tuning.UnappliedAfter)})
}

// oldest returns the run of the change that was sent first. The caller holds the lock.
func (u *Unapplied) oldest() (runID string) {
	var at time.Time
	for run, change := range u.changes {
		if runID == "" || change.at.Before(at) {
			runID, at = run, change.at
		}
	}
	return runID
}

// remove removes the changes of a run whose changes are no longer held.
func (u *Unapplied) remove(runID string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.changes, runID)
}

// FreeUnapplied frees the tasks of such changes that dead workers have, until ctx is done. Other workers
// then apply them. No receiver is called within such a task. So it does no harm if its worker lives after
// all: Temporal refuses what that one made of it.
func (u *Unapplied) FreeUnapplied(ctx context.Context) {
	look := time.NewTicker(tuning.UnappliedLook)
	defer look.Stop()
	for {
		select {
		case <-look.C:
			if overdue := u.overdue(time.Now()); len(overdue) > 0 {
				u.free(ctx, overdue)
			}
		case <-ctx.Done():
			return
		}
	}
}

// overdue returns the changes that should have been applied by a moment. It forgets those for which it
// is too late.
func (u *Unapplied) overdue(now time.Time) (overdue []sent) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for run, change := range u.changes {
		switch age := now.Sub(change.at); {
		case age > tuning.UnappliedFor:
			delete(u.changes, run)
		case age > tuning.UnappliedAfter:
			overdue = append(overdue, change.sent)
		}
	}
	return overdue
}

// free frees the tasks of changes that dead processes have. What fails is tried again at the next look.
func (u *Unapplied) free(ctx context.Context, overdue []sent) {
	dead := u.verdict(ctx)
	if dead == nil {
		return
	}
	for _, change := range overdue {
		task, held, err := u.holds.Find(ctx, change.key.String(), change.runID)
		switch {
		case err != nil:
		case !held:
			u.remove(change.runID)
		case dead(task.Holder()):
			_, _ = u.holds.Free(ctx, task)
		}
	}
}

// verdict reports of a process whether it is dead. It is nil where none seems to be, so that nothing is
// read. A process that is not listed has stopped, after it had ended its tasks, or died before Temporal
// lost the signs.
func (u *Unapplied) verdict(ctx context.Context) (dead func(id string) bool) {
	listed, err := u.processes.List(ctx)
	if err != nil || !listed.Whole() {
		u.unsure = time.Now()
	}
	forgotten := err == nil && listed.Whole() && time.Since(u.unsure) < workflows.MaxTaskTimeout
	states, silent := map[string]health.Life{}, false
	for _, process := range listed.Processes {
		states[process.ID] = process.State
		silent = silent || process.State == health.Silent
	}
	if !silent && !forgotten {
		return nil
	}
	return func(id string) bool {
		state, known := states[id]
		return state == health.Silent || forgotten && !known && id != ""
	}
}
