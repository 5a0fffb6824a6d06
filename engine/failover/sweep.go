package failover

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	workflowpb "go.temporal.io/api/workflow/v1"
	"golang.org/x/sync/errgroup"
	timerate "golang.org/x/time/rate"

	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/engine/visibility"
	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/workflows"
)

// sweep frees the timers that dead workers hold until they are due.
type sweep struct {
	*Failover
	// pace is for those that are due later than soon.
	pace *timerate.Limiter

	mu sync.Mutex
	// alive are the runs that a living worker holds.
	alive map[string]bool
}

// candidate is a run whose task a worker may have.
type candidate struct {
	workflowID, runID string
	rings             time.Time
}

func newSweep(f *Failover) *sweep {
	return &sweep{Failover: f, pace: timerate.NewLimiter(tuning.DispatchPerSecond, 1), alive: map[string]bool{}}
}

// reset forgets who lived.
func (s *sweep) reset() { s.keepAlive(map[string]bool{}) }

// pass looks at each timer that may be held, in the order of their due times. Of several survivors
// each begins with its own share. It ends before those that have time once another worker has died:
// what that one had may be due before.
func (s *sweep) pass(ctx context.Context, overtaken func() bool) (freed int, err error) {
	candidates, err := s.candidates(ctx)
	if err != nil {
		return 0, fmt.Errorf("%w: %w", errUnlisted, err)
	}
	var count atomic.Int64
	var looking errgroup.Group
	looking.SetLimit(tuning.FreesAtOnce)
	for _, c := range candidates {
		if c.hasTime() && (overtaken() || s.pace.Wait(ctx) != nil) {
			break
		}
		looking.Go(func() error {
			freed, err := s.free(ctx, c)
			if freed {
				count.Add(1)
			}
			return err
		})
	}
	err = looking.Wait()
	return int(count.Load()), err
}

// hasTime reports whether a timer need not be freed as fast as Temporal can.
func (c candidate) hasTime() bool { return time.Until(c.rings) > tuning.FreedSoon }

// candidates lists the timers that another worker may hold, or none: their start delay is over,
// and their first attempt has not ended. It forgets the living that hold none of them any more.
// After an outage very many may be overdue for long, and wait for a worker. The last of the list are
// some of these: a worker that died since had those that Temporal handed out first.
func (s *sweep) candidates(ctx context.Context) (found []candidate, err error) {
	oldest := time.Now().Add(-tuning.OldestHeld)
	var older []candidate
	query := visibility.Overdue(visibility.Untried(), wire.At(time.Now().Add(tuning.ClockSkew)))
	alive := map[string]bool{}
	err = s.kernel.EachPage(ctx, query, func(page []*workflowpb.WorkflowExecutionInfo) error {
		for _, info := range page {
			var memo timer.Memo
			run := info.GetExecution()
			if s.isAlive(run.GetRunId()) {
				alive[run.GetRunId()] = true
				continue
			}
			if s.isMine(run.GetRunId()) || kernel.ReadMemo(info, workflows.MemoTimer, "timer", &memo) != nil {
				continue
			}
			if c := (candidate{run.GetWorkflowId(), run.GetRunId(), memo.RingsAt().Time()}); c.rings.After(oldest) {
				found = append(found, c)
			} else {
				older = append(older, c)
			}
		}
		return nil
	})
	if err == nil {
		s.keepAlive(alive)
	}
	older = s.inOrder(older)
	return append(s.inOrder(found), older[:min(len(older), tuning.OlderLooked)]...), err
}

// inOrder puts the share of this worker first, each part by due time.
func (s *sweep) inOrder(candidates []candidate) []candidate {
	survivors := s.watch.survivors()
	slices.Sort(survivors)
	mine := uint32(slices.Index(survivors, s.Worker))
	share := func(c candidate) int {
		h := fnv.New32a()
		_, _ = h.Write([]byte(c.runID)) // a hash takes everything
		if h.Sum32()%uint32(len(survivors)) == mine {
			return 0
		}
		return 1
	}
	slices.SortFunc(candidates, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(share(a), share(b)), a.rings.Compare(b.rings))
	})
	return candidates
}

// free frees a run if a dead worker has its task.
func (s *sweep) free(ctx context.Context, c candidate) (freed bool, err error) {
	freed, alive, err := s.freeTask(ctx, c)
	if alive && s.watch.canJudge(time.Now()) {
		s.setAlive(c.runID)
	}
	return freed, err
}

// freeTask frees the workflow task of a run if a dead worker has it, or if it was lost on its
// way to this one. alive reports whether the worker that has it may live.
func (f *Failover) freeTask(ctx context.Context, c candidate) (freed, alive bool, err error) {
	task, held, err := f.holds.Find(ctx, c.workflowID, c.runID)
	if err != nil || !held {
		return false, false, err
	}
	now := time.Now()
	switch mine := task.Holder() == f.Worker; {
	case mine && f.Tasks.Got(c.runID, task.StartedID()), !mine && !f.watch.missed(task.Holder(), c.rings, now):
		return false, true, nil
	case mine && !f.missing.forLong(c.runID, task.StartedID(), now):
		return false, false, nil // it may be on its way
	}
	if alive, err = f.isAliveNow(ctx, task.Holder()); alive || err != nil {
		return false, alive, err
	}
	if freed, err = f.holds.TakeOver(ctx, task); !freed && err == nil {
		freed, err = f.holds.Free(ctx, task)
	}
	return freed, false, err
}

// isAliveNow looks once more for a worker that was taken for dead. One that stood still may have
// given a sign a moment ago, and a booking hands it a task at once.
func (f *Failover) isAliveNow(ctx context.Context, worker string) (alive bool, err error) {
	if worker == f.Worker {
		return false, nil
	}
	err = f.judgeOthers(ctx)
	return !f.watch.isDead(worker, time.Now()), err
}

// isMine reports whether this process certainly has a run's task. While it was cut off, another
// worker may have freed the task, and the next one may have been lost.
func (s *sweep) isMine(run string) bool {
	since, ok := s.Tasks.Has(run)
	return ok && !s.CutOff(since)
}

func (s *sweep) isAlive(run string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.alive[run]
}

func (s *sweep) keepAlive(runs map[string]bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.alive = runs
}

func (s *sweep) setAlive(run string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.alive[run] = true
}
