package api

import (
	"context"
	"fmt"
	"net/http"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/labstack/echo/v4"

	"github.com/wakecall/wakecall/core/problem"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/bookings"
	"github.com/wakecall/wakecall/internal/audit"
	"github.com/wakecall/wakecall/internal/tuning"
)

type batchResult struct {
	Status int         `json:"status"`
	Timer  *timer.View `json:"timer,omitempty"`
	// ExpectedLateness is what [forecast.HeaderExpectedLateness] says of a timer alone.
	ExpectedLateness wire.Duration     `json:"expected_lateness,omitzero"`
	Problem          *problem.Document `json:"problem,omitempty"`
	// key is the timer's that it is about, as far as that could be read.
	key wire.Key
}

type batchBody struct {
	Results []batchResult `json:"results"`
}

// addBatch adds up to 1,000 timers. Each item is admitted or refused for
// itself; the results stand in the order of the items.
func (h timerHandlers) addBatch(c echo.Context) error {
	key, err := idempotencyKey(c)
	if err != nil {
		return err
	}
	items, err := readBatch(c)
	if err != nil {
		return err
	}
	whole := bookings.Request{TraceParent: traceParent(c), IdempotencyKey: key}
	results := h.addItems(c.Request().Context(), items, whole)
	limitFieldErrors(results)
	if e := noted(c); e.begun() {
		e.Items = itemsOfAudit(results)
	}
	return c.JSON(http.StatusOK, batchBody{Results: results})
}

func limitFieldErrors(results []batchResult) {
	left := maxBatchFieldErrors
	for _, result := range results {
		if result.Problem == nil || len(result.Problem.Errors) == 0 {
			continue
		}
		if most := max(left, 1); len(result.Problem.Errors) > most {
			result.Problem.Errors, result.Problem.Detail = result.Problem.Errors[:most], wire.MoreFieldErrors(most)
		}
		left -= len(result.Problem.Errors)
	}
}

// addItems books by batchWidth goroutines, and not by one for each item: each of those
// would grow its stack anew, a sixth of the gateway's processor time.
//
// whole is what the items have in common.
func (h timerHandlers) addItems(ctx context.Context, items []jsontext.Value, whole bookings.Request) []batchResult {
	results := make([]batchResult, len(items))
	next := make(chan int)
	var group sync.WaitGroup
	for range min(tuning.BatchWidth, len(items)) {
		group.Go(func() {
			for i := range next {
				results[i] = h.addItem(ctx, items[i], whole)
			}
		})
	}
	for i := range items {
		next <- i
	}
	close(next)
	group.Wait()
	return results
}

func readBatch(c echo.Context) ([]jsontext.Value, error) {
	if err := readQuery(c).err(); err != nil {
		return nil, err
	}
	raw, err := readBody(c, maxBatchBody, nil)
	if err != nil {
		return nil, err
	}
	return splitBatch(raw)
}

// splitBatch takes a batch apart. The timers are checked one by one: what is wrong with one
// refuses that one, unless nobody can tell where it ends.
func splitBatch(raw jsontext.Value) ([]jsontext.Value, error) {
	body, err := parseMembers(raw)
	if err != nil {
		return nil, err
	}
	var batch struct {
		Timers jsontext.Value `json:"timers"`
	}
	errs := body.fill(&batch)
	timers, more, err := elementsOf(batch.Timers, maxBatch)
	switch {
	case len(errs) > 0:
	case batch.Timers == nil:
		errs.Add("/timers", wire.CodeRequired, "is required")
	case err != nil || timers == nil:
		errs.Add("/timers", wire.CodeInvalidType, "must be an array")
	case len(timers) == 0 || more:
		errs.Add("/timers", wire.CodeOutOfRange, fmt.Sprintf("must have 1 to %d timers", maxBatch))
	}
	return timers, errs.Err()
}

func (h timerHandlers) addItem(ctx context.Context, item jsontext.Value, whole bookings.Request) batchResult {
	view, created, err := h.addOne(ctx, item, &whole)
	if err != nil {
		problem := problemOf(err)
		problem.Errors = exampled(problem.Errors, nil, h.reach.Brokers)
		return batchResult{Status: problem.Status, Problem: &problem, key: whole.Key}
	}
	if created {
		return batchResult{Status: http.StatusCreated, Timer: &view, ExpectedLateness: h.expected(view), key: view.Key}
	}
	return batchResult{Status: http.StatusOK, Timer: &view, key: view.Key}
}

// addOne adds one timer, and notes its key in what the items have in common.
func (h timerHandlers) addOne(ctx context.Context, item jsontext.Value, whole *bookings.Request) (timer.View, bool, error) {
	if len(item) > maxBody {
		return timer.View{}, false, &wire.Error{Code: payloadTooLarge, Message: "The timer is larger than one may be."}
	}
	members, err := parseObject(item)
	if err != nil {
		return timer.View{}, false, err
	}
	request, err := readBooking(members, h.reach)
	if err != nil {
		return timer.View{}, false, err
	}
	whole.Key = request.Key
	if err := permit(ctx, request.Key.BusinessType); err != nil {
		return timer.View{}, false, err
	}
	request.TraceParent, request.IdempotencyKey = whole.TraceParent, whole.IdempotencyKey
	return h.Timers.Add(ctx, request)
}

// itemsOfAudit are what the audit says of each timer of a batch.
func itemsOfAudit(results []batchResult) []audit.Item {
	items := make([]audit.Item, 0, len(results))
	for _, result := range results {
		item := audit.ItemOf(result.key, result.Status, "")
		if result.Problem != nil {
			item.Problem = result.Problem.Code()
		}
		if result.Timer != nil {
			item.Revision = result.Timer.Revision
		}
		items = append(items, item)
	}
	return items
}
