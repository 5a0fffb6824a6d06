package engine

import (
	"cmp"
	"context"

	"go.temporal.io/api/serviceerror"

	"github.com/wakecall/wakecall/internal/audit"
	"github.com/wakecall/wakecall/internal/errtype"
	"github.com/wakecall/wakecall/timer"
	"github.com/wakecall/wakecall/workflows"
)

// Bulk are the jobs that do the same with all timers that a filter finds.
type Bulk struct {
	*Jobs[timer.Bulk, timer.BulkProgress]
	timers *Timers
}

// BulkJob is one of them.
type BulkJob = Job[timer.Bulk, timer.BulkProgress]

func newBulk(e *Engine) *Bulk {
	b := &Bulk{timers: e.Timers, Jobs: JobsOf[timer.Bulk, timer.BulkProgress](e, JobKind[timer.Bulk]{
		JobKind: workflows.BulkJob, Noun: BulkNoun,
		For: func(ctx context.Context, order timer.Bulk) timer.Bulk {
			order.By = cmp.Or(order.By, audit.Who(ctx, order.Filter.BusinessType))
			return order
		},
		Named: func(id string) bool { return len(timer.CheckBulkID(id)) == 0 },
		Summary: func(order timer.Bulk) string {
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
// [timer.InvalidRequest], [timer.AlreadyExists] and [timer.Unavailable].
func (b *Bulk) Start(ctx context.Context, order timer.Bulk) (BulkJob, error) {
	err := order.Check().Err()
	if order.Edit != nil {
		var errs timer.FieldErrors
		errs.Under("/edit", b.timers.reach.Terms(*order.Edit))
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
		return BulkJob{}, &timer.Error{Code: timer.AlreadyExists, Message: "A bulk job with this id exists with another order."}
	}
	job.Again = true
	return job, nil
}

// seal seals what an order has to keep secret.
func (b *Bulk) seal(order timer.Bulk) (timer.Bulk, error) {
	if order.Edit == nil || order.Edit.Callback == nil {
		return order, nil
	}
	edit, err := *order.Edit, error(nil)
	if edit.Callback, err = b.timers.policies.secrets.sealCallback(edit.Callback); err != nil {
		return timer.Bulk{}, timer.Within("/edit", err)
	}
	order.Edit = &edit
	return order, nil
}

// Results shows what became of each timer that a job has been at, in the order in which
// they were found, as far as it has been told: the last second of a job that runs follows.
// It stops with the error of see. Its errors are those of [Jobs.Get].
func (b *Bulk) Results(ctx context.Context, id string, see func(timer.BulkLine) error) error {
	job, err := b.Get(ctx, id)
	if err != nil {
		return err
	}
	for number := range job.Counts.Pages {
		page, err := b.ReadPage(ctx, id, number)
		if err != nil {
			return err
		}
		outcomes := page.Outcomes
		if told := job.Counts.OutcomesOf(number); len(told) > len(outcomes) {
			outcomes = told
		}
		for i, outcome := range outcomes[:min(len(outcomes), len(page.Items))] {
			if err := see(timer.BulkLine{Key: page.Items[i].Key, BulkOutcome: outcome}); err != nil {
				return err
			}
		}
		if number == job.Counts.At() {
			break
		}
	}
	return nil
}
