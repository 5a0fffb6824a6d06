package bulk

import (
	"context"
	"time"

	"go.temporal.io/api/serviceerror"
	"golang.org/x/sync/errgroup"

	"github.com/wakecall/wakecall/core/job"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/bookings"
	"github.com/wakecall/wakecall/engine/kernel"
	"github.com/wakecall/wakecall/engine/policies"
	"github.com/wakecall/wakecall/engine/query"
	"github.com/wakecall/wakecall/engine/timers"
	"github.com/wakecall/wakecall/engine/visibility"
	"github.com/wakecall/wakecall/internal/errtype"
	"github.com/wakecall/wakecall/internal/tuning"
	"github.com/wakecall/wakecall/workflows"
)

// Finder finds the timers that match an order.
type Finder struct {
	kernel *kernel.Kernel
	reader *timers.Reader
}

// Find lists a page of the timers that match an order, and the token of the next page. The
// token is empty on the last page. A page may be empty while others follow. The error is
// [wire.Unavailable].
func (f *Finder) Find(ctx context.Context, order job.Bulk, token []byte) (items []job.Item, next []byte, err error) {
	filter, only := order.Filter, query.Query{}
	switch {
	case order.Operation == job.Redeliver:
		filter.Status = timer.Failed
	case filter.Status == "":
		only = query.Status(visibility.Running)
	}
	response, err := f.kernel.List(ctx, query.All(timers.QueryOf(filter), only), tuning.BulkPage, token)
	if err != nil {
		return nil, nil, err
	}
	for _, info := range response.GetExecutions() {
		view, err := f.reader.View(ctx, info)
		if err == nil && order.Admits(view) {
			items = append(items, job.Item{Key: view.Key, RunID: view.RunID, Tag: view.Memo.Tag(), DueAt: view.DueAt})
		}
	}
	return items, response.GetNextPageToken(), nil
}

// FindMoving lists a page of the matching open timers that began another run since then, and
// the token of the next page. [Finder.Find] may miss them: their next run is listed before
// the pages that it has reached. The error is [wire.Unavailable].
func (f *Finder) FindMoving(ctx context.Context, order job.Bulk, since wire.Instant, token []byte) (items []job.Item, next []byte,
	err error) {
	if order.Operation == job.Redeliver || order.Filter.Status.Finished() {
		return nil, nil, nil
	}
	response, err := f.kernel.List(ctx, visibility.ContinuedTimers(order.Filter.BusinessType, since), tuning.BulkPage, token)
	if err != nil {
		return nil, nil, err
	}
	found := make([]*job.Item, len(response.GetExecutions()))
	var group errgroup.Group
	group.SetLimit(tuning.BulkWidth)
	for i, info := range response.GetExecutions() {
		group.Go(func() (err error) {
			found[i], err = f.moved(ctx, order, info.GetExecution().GetWorkflowId())
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, nil, err
	}
	for _, item := range found {
		if item != nil {
			items = append(items, *item)
		}
	}
	return items, response.GetNextPageToken(), nil
}

// moved is the timer's present state, or nil if it does not match the order.
func (f *Finder) moved(ctx context.Context, order job.Bulk, id string) (*job.Item, error) {
	key, ok := wire.ParseKey(id)
	filter := order.Filter
	if !ok || filter.BusinessID != "" && key.BusinessID != filter.BusinessID {
		return nil, nil
	}
	view, err := f.reader.Run(ctx, key, "")
	switch {
	case wire.CodeOf(err) == wire.Unavailable:
		return nil, err
	case err != nil || view.Status.Finished() || filter.Status != "" && view.Status != filter.Status || !order.Admits(view):
		return nil, nil
	}
	return &job.Item{Key: view.Key, RunID: view.RunID, Tag: view.Memo.Tag(), DueAt: view.DueAt}, nil
}

// Pages stores the timers that jobs have found.
type Pages struct{ kernel *kernel.Kernel }

// WritePage stores a page of a job's timers. Unless the page is new, it replaces the page with its
// number. The errors are [wire.AlreadyExists] for a new page, and [wire.Unavailable].
func (p *Pages) WritePage(ctx context.Context, job string, number int, page job.Page) error {
	return p.kernel.StoreBlob(ctx, kernel.Blob{ID: workflows.BulkPageID(job, number), WorkflowType: workflows.TypeBulkPage,
		Life: tuning.BulkLife, New: page.New}, page)
}

// ReadPage reads a page. The errors are [wire.NotFound] and [wire.Unavailable].
func (p *Pages) ReadPage(ctx context.Context, job string, number int) (page job.Page, err error) {
	stored, err := p.kernel.ReadBlob(ctx, workflows.BulkPageID(job, number))
	if err != nil {
		return page, err
	}
	if err := kernel.Payloads.FromPayload(stored, &page); err != nil {
		return page, &wire.Error{Code: wire.Internal, Message: "A page of the bulk job cannot be read.", Cause: err}
	}
	return page, nil
}

// ClosePages ends the first pages of an ended job. They are kept for as long as the job is.
// It calls beat between its steps. The error is [wire.Unavailable].
func (p *Pages) ClosePages(ctx context.Context, job string, pages int, beat func()) error {
	for from := 0; from < pages; from += tuning.BulkClosers {
		var group errgroup.Group
		for number := from; number < min(from+tuning.BulkClosers, pages); number++ {
			group.Go(func() error {
				err := p.kernel.EndBlob(ctx, workflows.BulkPageID(job, number), "the bulk job has ended")
				if wire.CodeOf(err) == wire.NotFound { // it was ended before
					return nil
				}
				return err
			})
		}
		if err := group.Wait(); err != nil {
			return err
		}
		beat()
	}
	return nil
}

// Worker applies an order to one timer.
type Worker struct {
	kernel    *kernel.Kernel
	reader    *timers.Reader
	policies  *policies.Policies
	canceller *bookings.Canceller
	changer   *bookings.Changer
	failures  *bookings.Failures
}

// Do applies an order to one found timer, once, however often it is called. pending reports
// whether no worker has applied the change yet. The errors are those of the call for one
// timer, and [wire.PreconditionFailed] for a timer that was changed since it was found.
func (w *Worker) Do(ctx context.Context, order job.Bulk, item job.Item) (pending bool, err error) {
	effect, err := w.do(ctx, order, item)
	if err != nil && w.hasApplied(ctx, order, item) {
		return false, nil
	}
	return effect == bookings.Pending, err
}

func (w *Worker) do(ctx context.Context, order job.Bulk, item job.Item) (effect bookings.Effect, err error) {
	target := bookings.Target{Key: item.Key, IfMatch: item.Tag, Status: order.Filter.Status, Wait: tuning.BulkWait}
	change := timer.Change{Fingerprint: order.ChangeFingerprint(), At: wire.At(time.Now())}
	switch order.Operation {
	case job.Cancel:
		if order.BookedBefore != 0 {
			return w.cancelBooking(ctx, item)
		}
		_, effect, err = w.canceller.Cancel(ctx, target)
		return effect, err
	case job.Redeliver:
		_, err := w.failures.Retry(ctx, item.Key, bookings.Retrial{RunID: item.RunID, Job: order.ChangeFingerprint()})
		return bookings.Done, err
	case job.Fire:
		change.Ring = true
	default:
		if change.Terms, err = w.terms(order, item); err != nil {
			return "", err
		}
	}
	_, effect, err = w.changer.Change(ctx, target, change)
	return effect, err
}

// cancelBooking cancels a timer in any state that it reached since it was found, unless its
// id was booked anew.
func (w *Worker) cancelBooking(ctx context.Context, item job.Item) (bookings.Effect, error) {
	view, err := w.reader.Run(ctx, item.Key, "")
	if err != nil {
		return "", err
	}
	if !view.Memo.SameBooking(item.Tag) {
		return "", timer.Unmet(&view)
	}
	_, effect, err := w.canceller.Cancel(ctx, bookings.Target{Key: item.Key, Wait: tuning.BulkWait})
	return effect, err
}

// Repeat orders a job once more if the job must miss nothing. It may be called again.
func (b *Orders) Repeat(ctx context.Context, order job.Bulk) error {
	again, ok := order.NextSweep()
	if !ok {
		return nil
	}
	return b.OrderOnce(ctx, again)
}

// OrderOnce orders a job on Wakecall's own behalf. A job that was ordered before is no error.
func (b *Orders) OrderOnce(ctx context.Context, order job.Bulk) error {
	_, err := b.Begin(ctx, order.ID, order)
	if errtype.Is[*serviceerror.WorkflowExecutionAlreadyStarted](err) {
		return nil
	}
	return kernel.Translate(err)
}

// terms are the order's changes to a timer, the secrets open.
func (w *Worker) terms(order job.Bulk, item job.Item) (terms timer.Terms, err error) {
	now := time.Now()
	terms = order.Terms(item.DueAt, now)
	if terms.Callback != nil {
		if terms.Callback, err = w.policies.OpenCallback(*terms.Callback); err != nil {
			return terms, err
		}
	}
	return terms, terms.CheckChange(now).Err()
}

// hasApplied reports whether this job has applied its order to a timer, although the call failed.
func (w *Worker) hasApplied(ctx context.Context, order job.Bulk, item job.Item) bool {
	described, err := w.kernel.Describe(ctx, item.String(), "")
	if err != nil {
		return false
	}
	info := described.GetWorkflowExecutionInfo()
	if order.Operation == job.Redeliver {
		var job string
		return kernel.ReadMemo(info, workflows.MemoJob, "timer", &job) == nil && job == order.ChangeFingerprint()
	}
	var memo timer.Memo
	return kernel.ReadMemo(info, workflows.MemoTimer, "timer", &memo) == nil && memo.Fingerprint == order.ChangeFingerprint()
}
