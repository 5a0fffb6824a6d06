package engine

import (
	"cmp"
	"context"
	"time"

	"go.temporal.io/api/serviceerror"

	"github.com/wakecall/wakecall/core/job"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/audit"
	"github.com/wakecall/wakecall/internal/errtype"
	"github.com/wakecall/wakecall/workflows"
)

// Bulk are the jobs that do the same with all timers that a filter finds.
type Bulk struct {
	*Jobs[job.Bulk, job.BulkProgress]
	timers *Timers
}

// BulkJob is one of them.
type BulkJob = Job[job.Bulk, job.BulkProgress]

func newBulk(e *Engine) *Bulk {
	b := &Bulk{timers: e.Timers, Jobs: JobsOf[job.Bulk, job.BulkProgress](e, JobKind[job.Bulk]{
		JobKind: workflows.BulkJob, Noun: BulkNoun,
		For: func(ctx context.Context, order job.Bulk) job.Bulk {
			order.By = cmp.Or(order.By, audit.Who(ctx, order.Filter.BusinessType))
			return order
		},
		Named: func(id string) bool { return len(job.CheckID(id)) == 0 },
		Summary: func(order job.Bulk) string {
			what := string(order.Operation) + " timers"
			if order.Filter.BusinessType != "" {
				what += " of " + order.Filter.BusinessType
			}
			if order.DryRun {
				what += " (dry run)"
			}
			return what
		},
	})}
	e.Policies.sweep = b.sweep
	return b
}

// Start orders a bulk job under the id of its order. The same order under the same id
// starts nothing, and is answered with the job as it stands. Its errors are
// [wire.InvalidRequest], [wire.AlreadyExists] and [wire.Unavailable].
func (b *Bulk) Start(ctx context.Context, order job.Bulk) (BulkJob, error) {
	err := order.Check(time.Now()).Err()
	if order.Edit != nil {
		var errs wire.FieldErrors
		errs.Under("/edit", order.Edit.CheckReach(b.timers.reach))
		err = errs.Join(err)
	}
	if err != nil {
		return BulkJob{}, err
	}
	order = order.Signed()
	stored, err := b.seal(order)
	if err != nil {
		return BulkJob{}, err
	}
	job, err := b.begin(ctx, order.ID, stored)
	if !errtype.Is[*serviceerror.WorkflowExecutionAlreadyStarted](err) {
		return job, translate(err)
	}
	if job, err = b.Get(ctx, order.ID); err != nil {
		return BulkJob{}, err
	}
	if job.Order.Fingerprint != order.Fingerprint {
		return BulkJob{}, &wire.Error{Code: wire.AlreadyExists, Message: "A bulk job with this id exists with another order."}
	}
	job.Again = true
	return job, nil
}

// seal seals what an order has to keep secret.
func (b *Bulk) seal(order job.Bulk) (job.Bulk, error) {
	if order.Edit == nil || order.Edit.Callback == nil {
		return order, nil
	}
	edit, err := *order.Edit, error(nil)
	if edit.Callback, err = b.timers.policies.secrets.sealCallback(edit.Callback); err != nil {
		return job.Bulk{}, wire.Within("/edit", err)
	}
	order.Edit = &edit
	return order, nil
}

// Results shows what became of each timer that a job has been at, in the order in which
// they were found, as far as it has been told: the last second of a job that runs follows.
// It stops with the error of see. Its errors are those of [Jobs.Get].
func (b *Bulk) Results(ctx context.Context, id string, see func(job.Line) error) error {
	j, err := b.Get(ctx, id)
	if err != nil {
		return err
	}
	for number := range j.Counts.Pages {
		page, err := b.ReadPage(ctx, id, number)
		if err != nil {
			return err
		}
		outcomes := page.Outcomes
		if told := j.Counts.OutcomesOf(number); len(told) > len(outcomes) {
			outcomes = told
		}
		for i, outcome := range outcomes[:min(len(outcomes), len(page.Items))] {
			if err := see(job.Line{Key: page.Items[i].Key, Outcome: outcome}); err != nil {
				return err
			}
		}
		if number == j.Counts.At() {
			break
		}
	}
	return nil
}
