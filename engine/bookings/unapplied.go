package bookings

import (
	"context"
	"sync"
	"time"

	"github.com/wakecall/wakecall/core/health"
	"github.com/wakecall/wakecall/engine/holds"
	"github.com/wakecall/wakecall/internal/tuning"
)

// Processes tells which processes live.
type Processes interface {
	// List returns the processes that give signs of life, with a verdict for each.
	List(ctx context.Context) (health.Processes, error)
}

// Unapplied are the changes and cancels of this process that no worker has applied yet, as far as it
// knows, to timers that no worker held. A worker applies such a change within milliseconds. If it dies with the
// task, the change waits for the task's timeout, up to two minutes. The other workers do not find it:
// visibility shows the timer as one that waits for its time.
type Unapplied struct {
	holds     *holds.Holds
	processes Processes

	mu      sync.Mutex
	changes map[string]unapplied // by run
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
	if _, known := u.changes[s.runID]; !known && len(u.changes) >= tuning.UnappliedKnown {
		delete(u.changes, u.oldest())
	}
	u.changes[s.runID] = unapplied{s, time.Now()}
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

// free frees the tasks of changes that silent processes have. What fails is tried again at the next look.
func (u *Unapplied) free(ctx context.Context, overdue []sent) {
	listed, err := u.processes.List(ctx)
	if err != nil {
		return
	}
	silent := map[string]bool{}
	for _, process := range listed.Processes {
		if process.State == health.Silent {
			silent[process.ID] = true
		}
	}
	if len(silent) == 0 {
		return
	}
	for _, change := range overdue {
		task, held, err := u.holds.Find(ctx, change.key.String(), change.runID)
		switch {
		case err != nil:
		case !held:
			u.remove(change.runID)
		case silent[task.Holder()]:
			_, _ = u.holds.Free(ctx, task)
		}
	}
}
