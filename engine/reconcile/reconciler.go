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

// Reconciler finds the timers that Temporal has lost, and wakes them: it can lose
// the timer of a workflow without a word (temporal#11869), and the timeout of a task that a
// worker has, which no signal makes good for. A timer that is wrongly taken
// for one does not ring twice; its workflow looks at the clock and at what was done.
type Reconciler struct {
	untried, retried *scan
}

// New returns what wakes timers.
func New(k *kernel.Kernel, reader *timers.Reader, changer *bookings.Changer, queues *queues.Queues) *Reconciler {
	scanned := scan{
		kernel: k, reader: reader, changer: changer, queues: queues, holds: holds.New(k), pace: timerate.NewLimiter(tuning.ChecksPerSecond, 1),
	}
	untried, retried := scanned, scanned
	untried.known, retried.known = &skips{}, &skips{}
	return &Reconciler{untried: &untried, retried: &retried}
}

// Waiting checks the open timers that are later than slack and were never tried, and
// wakes those with nothing under way for them. Its error is [wire.Unavailable], beside
// what was done.
func (r *Reconciler) Waiting(ctx context.Context, slack time.Duration) (timer.Reconciliation, error) {
	return r.untried.round(ctx, slack, visibility.Untried())
}

// Retrying does the same for timers whose retry is later than slack. It may run beside
// [Reconciler.Waiting], whose few do not wait behind a crowd of retries.
func (r *Reconciler) Retrying(ctx context.Context, slack time.Duration) (timer.Reconciliation, error) {
	return r.retried.round(ctx, slack, visibility.Retrying())
}

// scan finds the lost among the timers in one state. Its rounds come one after
// another.
type scan struct {
	kernel  *kernel.Kernel
	reader  *timers.Reader
	changer *bookings.Changer
	queues  *queues.Queues
	holds   *holds.Holds
	pace    *timerate.Limiter
	known   *skips
}

// round is one check of all the timers that should have rung.
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

// spot is where an attempt waits: a business type may have attempts on several queues,
// and the default one has those of many types.
type spot struct{ businessType, queue string }

// round goes through every page: the lost may be on the last one.
func (s *scan) round(ctx context.Context, slack time.Duration, state query.Query) (timer.Reconciliation, error) {
	began := time.Now()
	this := &round{
		scan: s, began: began, before: began.Add(-slack), slack: slack, backlog: map[spot]bool{},
		result: timer.Reconciliation{Woken: map[string]int{}, Passed: map[string]error{}},
	}
	s.known.forget(began)
	err := s.kernel.EachPage(ctx, visibility.Overdue(state, wire.At(this.before)), func(page []*workflowpb.WorkflowExecutionInfo) error {
		return this.page(ctx, page)
	})
	return this.result, err
}

// page checks the runs of one page. One that cannot be checked is passed over.
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

// record keeps why a timer was passed over. Its error ends the round.
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
	if goesOn, err := r.goesOn(call, key, described); goesOn || err != nil {
		return err
	}
	view, err := r.reader.View(call, info)
	if err != nil {
		return err
	}
	return r.wake(call, timer.Spec{Key: key, Memo: view.Memo})
}

// goesOn reports whether something is under way for a timer by its activities, or is freed for
// them now.
func (r *round) goesOn(ctx context.Context, key wire.Key, described *workflowservice.DescribeWorkflowExecutionResponse) (goesOn bool, err error) {
	run := described.GetWorkflowExecutionInfo().GetExecution()
	for _, pending := range described.GetPendingActivities() {
		if holds.LostActivity(pending, r.before) {
			freed, err := r.holds.FreeActivity(ctx, run, pending.GetActivityId())
			return true, r.noteFreed(key, freed, err)
		}
		stuck, err := r.stuck(ctx, key, pending)
		switch {
		case kernel.Watches(pending) && stuck: // what it watches over would wait for ever
			return false, err
		case kernel.Watches(pending) && err == nil:
			continue
		case err != nil || !stuck:
			r.known.skip(run.GetRunId(), kernel.NextAttempt(pending).Time().Add(r.slack), r.began)
			goesOn = true
		}
		if err != nil {
			return true, err
		}
	}
	return goesOn, nil
}

// freeLost frees a timer whose workflow task a worker has for longer than Temporal lets it:
// nobody else is handed a task that has lost its timeout, and no signal wakes its timer.
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

// stuck reports whether an attempt should have been made and does not even wait for
// its turn.
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

// wake gives a timer's workflow a task, and counts those that took it.
func (r *round) wake(ctx context.Context, spec timer.Spec) error {
	woken, err := r.changer.Wake(ctx, spec)
	if woken {
		r.result.Woken[spec.BusinessType]++
	}
	return err
}
