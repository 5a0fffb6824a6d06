package reconcile

import (
	"context"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	timerate "golang.org/x/time/rate"

	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/bookings"
	"github.com/wakecall/wakecall/engine/holds"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/engine/query"
	"github.com/wakecall/wakecall/engine/queues"
	"github.com/wakecall/wakecall/engine/timers"
	"github.com/wakecall/wakecall/engine/visibility"
	"github.com/wakecall/wakecall/internal/tuning"
)

// Reconciler finds the timers that Temporal has lost, and wakes them. Temporal can silently
// lose the timer of a workflow (temporal#11869). It can also lose the timeout of a worker's
// task, which no signal repairs. A timer that is woken by mistake does not ring twice; its
// workflow checks the clock and the earlier attempts.
type Reconciler struct {
	untried, retried *scan
}

// New returns the Reconciler of a namespace.
func New(k *kernel.Kernel, reader *timers.Reader, changer *bookings.Changer, queues *queues.Queues) *Reconciler {
	scanned := scan{
		kernel: k, reader: reader, changer: changer, queues: queues, holds: holds.New(k), pace: timerate.NewLimiter(tuning.ChecksPerSecond, 1),
	}
	untried, retried := scanned, scanned
	untried.known, retried.known = &skips{}, &skips{}
	return &Reconciler{untried: &untried, retried: &retried}
}

// Waiting checks the open timers that are later than slack and were never tried. It wakes
// those with nothing under way. The error is [wire.Unavailable]; the result has what was
// done before it.
func (r *Reconciler) Waiting(ctx context.Context, slack time.Duration) (timer.Reconciliation, error) {
	return r.untried.round(ctx, slack, visibility.Untried())
}

// Retrying does the same for timers whose retry is later than slack. It may run at the same
// time as [Reconciler.Waiting], so that the few waiting timers need not wait behind many retries.
func (r *Reconciler) Retrying(ctx context.Context, slack time.Duration) (timer.Reconciliation, error) {
	return r.retried.round(ctx, slack, visibility.Retrying())
}

// scan finds the lost among the timers in one state. Its rounds come one after another.
type scan struct {
	kernel  *kernel.Kernel
	reader  *timers.Reader
	changer *bookings.Changer
	queues  *queues.Queues
	holds   *holds.Holds
	pace    *timerate.Limiter
	known   *skips
}

// round is one check of all overdue timers.
type round struct {
	*scan
	before, began time.Time
	slack         time.Duration
	result        timer.Reconciliation
	// backlog reports whether attempts wait for their turn at a spot, which is no defect.
	backlog map[spot]bool
	// unanswered counts the checks in a row that Temporal did not answer.
	unanswered int
}

// spot is where an attempt waits: a business type may have attempts on several queues, and
// the default queue has attempts of many types.
type spot struct{ businessType, queue string }

// round goes through every page: a lost timer may be on the last one.
func (s *scan) round(ctx context.Context, slack time.Duration, state query.Query) (timer.Reconciliation, error) {
	began := time.Now()
	this := &round{
		scan: s, began: began, before: began.Add(-slack), slack: slack, backlog: map[spot]bool{},
		result: timer.Reconciliation{Woken: map[string]int{}, Passed: map[string]error{}},
	}
	s.known.forget(began)
	overdue := visibility.Overdue(state, wire.At(this.before))
	// Mostly there are none, which PostgreSQL sees in an index. To list none it reads all open timers.
	if n, err := s.kernel.Count(ctx, overdue); err != nil || n == 0 {
		return this.result, err
	}
	err := s.kernel.EachPage(ctx, overdue, func(page []*workflowpb.WorkflowExecutionInfo) error { return this.page(ctx, page) })
	return this.result, err
}

// page checks the runs of one page. It skips a run that cannot be checked.
func (r *round) page(ctx context.Context, page []*workflowpb.WorkflowExecutionInfo) error {
	for _, info := range page {
		key, ok := wire.ParseKey(info.GetExecution().GetWorkflowId())
		if !ok || r.known.has(info.GetExecution().GetRunId(), r.began) {
			continue
		}
		if err := r.pace.Wait(ctx); err != nil {
			return kernel.Translate(err)
		}
		if err := r.record(key, r.check(ctx, key)); err != nil {
			return err
		}
	}
	return nil
}

// record records why a timer was skipped. Its error ends the round.
func (r *round) record(key wire.Key, err error) error {
	if err == nil {
		r.unanswered = 0
		return nil
	}
	r.result.Passed[key.String()] = err
	if wire.CodeOf(err) == wire.Unavailable {
		r.unanswered++
	}
	if r.unanswered >= tuning.UnansweredChecks {
		return err
	}
	return nil
}

// check wakes a timer if nothing is under way for it.
func (r *round) check(ctx context.Context, key wire.Key) error {
	call, cancel := kernel.Bounded(ctx)
	defer cancel()
	described, err := r.kernel.DescribeAll(call, key.String(), "")
	if wire.CodeOf(err) == wire.NotFound { // deleted since
		return nil
	}
	if err != nil {
		return err
	}
	info := described.GetWorkflowExecutionInfo()
	if !kernel.Running(info) || info.GetExecutionTime().AsTime().After(r.before) {
		return nil
	}
	if task := described.GetPendingWorkflowTask(); task != nil {
		return r.freeLost(call, key, info.GetExecution().GetRunId())
	}
	if until := timers.AcceptanceIn(info); until.Awaited() && until.Until.Time().After(r.before) {
		r.known.skip(info.GetExecution().GetRunId(), until.Until.Time().Add(r.slack), r.began)
		return nil
	}
	if found, err := r.underWay(call, key, described); found || err != nil {
		return err
	}
	view, err := r.reader.View(call, info)
	if err != nil {
		return err
	}
	return r.wake(call, timer.Spec{Key: key, Memo: view.Memo})
}

// underWay reports whether a timer's activities show something under way, or are now freed.
func (r *round) underWay(ctx context.Context, key wire.Key,
	described *workflowservice.DescribeWorkflowExecutionResponse) (found bool, err error) {
	run := described.GetWorkflowExecutionInfo().GetExecution()
	for _, pending := range described.GetPendingActivities() {
		if holds.LostActivity(pending, r.before) {
			freed, err := r.holds.FreeActivity(ctx, run, pending)
			return true, r.noteFreed(key, freed, err)
		}
		stuck, err := r.stuck(ctx, key, pending)
		switch {
		case kernel.Watches(pending) && stuck: // the attempt that it watches would wait for ever
			return false, err
		case kernel.Watches(pending) && err == nil:
			continue
		case err != nil || !stuck:
			r.known.skip(run.GetRunId(), kernel.NextAttempt(pending).Time().Add(r.slack), r.began)
			found = true
		}
		if err != nil {
			return true, err
		}
	}
	return found, nil
}

// freeLost frees a timer whose workflow task a worker has held past Temporal's timeout. No
// other worker gets a task that has lost its timeout, and no signal wakes its timer.
func (r *round) freeLost(ctx context.Context, key wire.Key, runID string) error {
	task, held, err := r.holds.Find(ctx, key.String(), runID)
	if err != nil || !held || !task.TimedOut(r.before) {
		return err
	}
	freed, err := r.holds.Free(ctx, task)
	return r.noteFreed(key, freed, err)
}

func (r *round) noteFreed(key wire.Key, freed bool, err error) error {
	if freed {
		r.result.Woken[key.BusinessType]++
	}
	return err
}

// stuck reports whether an attempt is overdue and does not even wait for its turn.
func (r *round) stuck(ctx context.Context, key wire.Key, pending *workflowpb.PendingActivityInfo) (bool, error) {
	since := kernel.NextAttempt(pending).Time()
	if pending.GetState() != enumspb.PENDING_ACTIVITY_STATE_SCHEDULED || since.After(r.before) {
		return false, nil
	}
	where := spot{businessType: key.BusinessType, queue: pending.GetActivityOptions().GetTaskQueue().GetName()}
	waits, known := r.backlog[where]
	if !known {
		var err error
		if waits, err = r.queues.Backlogged(ctx, where.businessType, where.queue); err != nil {
			return false, err
		}
		r.backlog[where] = waits
	}
	return !waits, nil
}

// wake gives a timer's workflow a task, and counts the timers that took it.
func (r *round) wake(ctx context.Context, spec timer.Spec) error {
	woken, err := r.changer.Wake(ctx, spec)
	if woken {
		r.result.Woken[spec.BusinessType]++
	}
	return err
}
