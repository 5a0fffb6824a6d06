package bulk

import (
	"cmp"
	"context"
	"time"

	"go.temporal.io/api/serviceerror"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/job"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/bookings"
	"github.com/wakecall/wakecall/engine/jobs"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/engine/policies"
	"github.com/wakecall/wakecall/engine/timers"
	"github.com/wakecall/wakecall/internal/audit"
	"github.com/wakecall/wakecall/internal/errtype"
	"github.com/wakecall/wakecall/workflows"
)

// Bulk are the jobs that apply one change to all timers of a filter.
type Bulk struct {
	*Orders
	*Finder
	*Pages
	*Worker
}

// Config configures [Bulk].
type Config struct {
	Kernel   *kernel.Kernel
	Reader   *timers.Reader
	Bookings *bookings.Bookings
	Policies *policies.Policies
	// Reach is where messages may be sent.
	Reach delivery.Reach
}

// New returns the bulk jobs of a namespace.
func New(config Config) *Bulk {
	k, pages, booked := config.Kernel, &Pages{kernel: config.Kernel}, config.Bookings
	return &Bulk{
		Orders: &Orders{
			Jobs: jobs.New[job.Bulk, job.BulkProgress](k, kind), pages: pages, policies: config.Policies, reach: config.Reach,
		},
		Finder: &Finder{kernel: k, reader: config.Reader},
		Pages:  pages,
		Worker: &Worker{
			kernel: k, reader: config.Reader, policies: config.Policies,
			canceller: booked.Canceller, changer: booked.Changer, failures: booked.Failures,
		},
	}
}

// Orders takes the orders of bulk jobs, and shows their state.
type Orders struct {
	*jobs.Jobs[job.Bulk, job.BulkProgress]
	pages    *Pages
	policies *policies.Policies
	reach    delivery.Reach
}

// Job is one bulk job.
type Job = jobs.Job[job.Bulk, job.BulkProgress]

var kind = jobs.Kind[job.Bulk]{
	JobKind: workflows.BulkJob, Noun: jobs.BulkNoun,
	Settle: func(order job.Bulk, now wire.Instant) job.Bulk { return order.AsOf(now) },
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
}

// Start orders a bulk job under the id of its order. The same order under the same id starts
// nothing, and returns the job's state. The errors are [wire.InvalidRequest],
// [wire.AlreadyExists] and [wire.Unavailable].
func (b *Orders) Start(ctx context.Context, order job.Bulk) (Job, error) {
	err := order.Check(time.Now()).Err()
	if order.Edit != nil {
		var errs wire.FieldErrors
		errs.Under("/edit", order.Edit.CheckReach(b.reach))
		err = errs.Join(err)
	}
	if err != nil {
		return Job{}, err
	}
	order, err = b.afterCount(ctx, order.Signed())
	if err != nil {
		return Job{}, err
	}
	stored, err := b.seal(order)
	if err != nil {
		return Job{}, err
	}
	job, err := b.Begin(ctx, order.ID, stored)
	if !errtype.Is[*serviceerror.WorkflowExecutionAlreadyStarted](err) {
		return job, kernel.Translate(err)
	}
	if job, err = b.Get(ctx, order.ID); err != nil {
		return Job{}, err
	}
	if job.Order.Fingerprint != order.Fingerprint {
		return Job{}, &wire.Error{Code: wire.AlreadyExists, Message: "A bulk job with this id exists with another order."}
	}
	job.Again = true
	return job, nil
}

// afterCount finds the dry run that an order names.
func (b *Orders) afterCount(ctx context.Context, order job.Bulk) (job.Bulk, error) {
	if order.Counted == "" {
		return order, nil
	}
	count, err := b.Get(ctx, order.Counted)
	switch {
	case wire.CodeOf(err) == wire.NotFound:
		return order, job.ErrNoCount()
	case err != nil:
		return order, err
	}
	return order.AfterCount(count.Order, count.Status, count.Counts)
}

// seal seals the secrets of an order.
func (b *Orders) seal(order job.Bulk) (job.Bulk, error) {
	if order.Edit == nil || order.Edit.Callback == nil {
		return order, nil
	}
	edit, err := *order.Edit, error(nil)
	if edit.Callback, err = b.policies.SealCallback(edit.Callback); err != nil {
		return job.Bulk{}, wire.Within("/edit", err)
	}
	order.Edit = &edit
	return order, nil
}

// Results yields the outcome of each handled timer, in the order of finding, as far as
// stored: the last second of a running job is missing. A dry run yields what it has found, once it
// has ended. It stops at the error of see. The errors are those of [jobs.Jobs.Get].
func (b *Orders) Results(ctx context.Context, id string, see func(job.Line) error) error {
	j, err := b.Get(ctx, id)
	if err != nil {
		return err
	}
	for number := range j.Counts.Pages {
		page, err := b.pages.ReadPage(ctx, id, number)
		if err != nil {
			return err
		}
		for _, line := range page.Lines(j.Order.DryRun, j.Counts.OutcomesOf(number)) {
			if err := see(line); err != nil {
				return err
			}
		}
		if number == j.Counts.At() && !j.Order.DryRun {
			break
		}
	}
	return nil
}
