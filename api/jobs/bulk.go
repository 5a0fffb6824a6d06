package jobs

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/uuid"
	"github.com/labstack/echo/v4"

	"github.com/wakecall/wakecall/api/calls"
	"github.com/wakecall/wakecall/api/decode"
	"github.com/wakecall/wakecall/api/limits"
	"github.com/wakecall/wakecall/api/paths"
	"github.com/wakecall/wakecall/api/requests"
	"github.com/wakecall/wakecall/api/timers"
	"github.com/wakecall/wakecall/api/unbounded"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/job"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/bulk"
	"github.com/wakecall/wakecall/engine/jobs"
	"github.com/wakecall/wakecall/internal/tuning"
)

// Bulk are the jobs that do the same with every timer of a filter.
type Bulk interface {
	Jobs[job.Bulk, job.BulkProgress]
	// Results shows the outcome of each timer that the job has worked on.
	Results(ctx context.Context, id string, see func(job.Line) error) error
}

// bulkHandlers answer the calls on these jobs.
type bulkHandlers struct {
	handlers[job.Bulk, job.BulkProgress, job.View]
	bulk Bulk
}

// Register adds the calls on jobs that work on timers.
func Register(contract calls.Routes, bulk Bulk, reach delivery.Reach) {
	h := bulkHandlers{bulk: bulk, handlers: handlers[job.Bulk, job.BulkProgress, job.View]{
		jobs: bulk, name: "bulk", view: viewOfBulk,
		read:         func(body decode.Object) (job.Bulk, error) { return ReadBulk(body, reach) },
		businessType: func(order job.Bulk) string { return order.Filter.BusinessType }, noun: jobs.BulkNoun,
		page: func(page []job.View, next string) any { return ListBody{page, next} },
	}}
	r := contract.Under(h.path())
	h.register(r)
	r.Post("", calls.Operating(calls.Named, calls.NoPayloads).Accepting(calls.Body), h.start)
	r.Get("/:id/results", calls.Viewing(calls.ByID, calls.NoPayloads), h.results)
}

// BulkBody is the order as a client writes it.
type BulkBody struct {
	ID        *string           `json:"id"`
	Operation *job.Operation    `json:"operation"`
	Filter    *timer.Filter     `json:"filter"`
	Shift     *wire.Duration    `json:"shift"`
	Edit      *timers.TermsBody `json:"edit"`
	PerSecond *float64          `json:"per_second"`
	DryRun    *bool             `json:"dry_run"`
	Counted   *string           `json:"counted"`
}

// ReadBulk reads an order. What cannot be read does not keep the rest from being checked.
func ReadBulk(o decode.Object, reach delivery.Reach) (job.Bulk, error) {
	var body BulkBody
	edit, removed, errs := extractEdit(o, &body)
	errs = append(errs, o.Fill(&body)...)
	errs.Complete(emptyFilters(o))
	errs.Under("/edit", edit.Zeros(timers.TermsZeros))
	order := job.Bulk{
		ID: decode.Value(body.ID), Operation: decode.Value(body.Operation), Filter: decode.Value(body.Filter), Shift: decode.Value(body.Shift),
		PerSecond: job.DefaultRate, DryRun: decode.Value(body.DryRun), Counted: decode.Value(body.Counted),
	}
	if body.ID == nil {
		order.ID = uuid.NewString()
	}
	if body.PerSecond != nil {
		order.PerSecond = *body.PerSecond
	}
	if body.Edit != nil {
		terms, wrong := body.Edit.Terms()
		errs.Complete(inEdit(wrong))
		terms.OnDelivered, terms.OnFailed = cmp.Or(terms.OnDelivered, removed.OnDelivered), cmp.Or(terms.OnFailed, removed.OnFailed)
		order.Edit = &terms
		errs.Complete(inEdit(terms.CheckReach(reach)))
	}
	errs.Complete(body.missing())
	errs.Complete(order.Check(time.Now()))
	return order, errs.Err()
}

// extractEdit reads the edit, and takes it out of the order. Like a PATCH of one timer it may
// switch off the notice of an outcome. Anything but an object is left for Fill to refuse.
func extractEdit(o decode.Object, body *BulkBody) (edit decode.Object, removed timer.Terms, errs wire.FieldErrors) {
	if o["edit"].Kind() != '{' {
		return nil, removed, nil
	}
	edit = decode.ParseNested(o["edit"])
	delete(o, "edit")
	removed, body.Edit = timers.ExtractOutcomes(edit), &timers.TermsBody{}
	errs.Under("/edit", edit.Fill(body.Edit))
	return edit, removed, errs
}

// inEdit returns what is wrong with an edit, with pointers into the order.
func inEdit(found wire.FieldErrors) (errs wire.FieldErrors) {
	errs.Under("/edit", found)
	return errs
}

// missing is what is wrong with what the order leaves out: all timers of all types must be
// asked for.
func (b BulkBody) missing() (errs wire.FieldErrors) {
	if b.Operation == nil {
		errs.Add("/operation", wire.CodeRequired, "is required")
	}
	if b.Filter == nil {
		errs.Add("/filter", wire.CodeRequired, "is required; {} selects every timer that the operation applies to")
	}
	if b.Counted != nil && *b.Counted == "" {
		errs.Add("/counted", wire.CodeRequired, "must not be empty; leave it out")
	}
	return errs
}

// emptyFilters names every condition of the filter that is an empty text: it would select
// everything.
func emptyFilters(o decode.Object) (errs wire.FieldErrors) {
	filter := decode.ParseNested(o["filter"])
	for _, name := range slices.Sorted(maps.Keys(filter)) {
		if string(filter[name]) == `""` {
			errs.Add("/filter"+decode.PointerTo(name), wire.CodeRequired, "must not be empty; leave it out")
		}
	}
	return errs
}

// ListBody is a page of bulk jobs.
type ListBody struct {
	Jobs          []job.View `json:"jobs"`
	NextPageToken string     `json:"next_page_token"`
}

func viewOfBulk(j bulk.Job) job.View {
	return job.View{
		ID: j.ID, Operation: j.Order.Operation, Status: j.Status, CancelRequested: j.CancelRequested, WaitsFor: j.WaitsFor, Tally: j.Counts.Tally,
		Filter: j.Order.Filter, Shift: j.Order.Shift, PerSecond: j.Order.PerSecond, DryRun: j.Order.DryRun,
		Counted: j.Order.Counted, StartedAt: j.StartedAt, FinishedAt: j.FinishedAt, Links: j.Links,
	}
}

// errEnough ends the results after as many lines as the caller wants.
var errEnough = errors.New("enough lines")

// results answers with one line for each timer. There may be many thousands.
func (h bulkHandlers) results(c echo.Context) error {
	q := requests.ReadQuery(c, "count")
	left := q.Number("count", 0, limits.MaxPageSize)
	if err := q.Err(); err != nil {
		return err
	}
	ctx, id := c.Request().Context(), paths.Param(c, paths.ID)
	if _, err := h.permitted(ctx, id); err != nil {
		return err
	}
	c.Response().Header().Set(echo.HeaderContentType, unbounded.MediaTypeNDJSON)
	out := bufio.NewWriterSize(unbounded.NewWriter(c), tuning.StreamBuffer)
	err := h.bulk.Results(ctx, id, func(result job.Line) error {
		line, err := json.Marshal(result)
		if err == nil {
			_, err = out.Write(append(line, '\n'))
		}
		if left--; err == nil && left == 0 {
			return errEnough
		}
		return err
	})
	if err != nil && !errors.Is(err, errEnough) {
		return err
	}
	c.Response().WriteHeader(http.StatusOK)
	return out.Flush()
}
