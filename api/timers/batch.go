package timers

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/labstack/echo/v4"

	"github.com/wakecall/wakecall/api/answers"
	"github.com/wakecall/wakecall/api/audits"
	"github.com/wakecall/wakecall/api/calls"
	"github.com/wakecall/wakecall/api/decode"
	"github.com/wakecall/wakecall/api/limits"
	"github.com/wakecall/wakecall/api/problems"
	"github.com/wakecall/wakecall/api/requests"
	"github.com/wakecall/wakecall/core/problem"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/trail"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/bookings"
	"github.com/wakecall/wakecall/internal/audit"
	"github.com/wakecall/wakecall/internal/tuning"
)

// BatchResult is the outcome of one timer of a batch.
type BatchResult struct {
	Status int         `json:"status"`
	Timer  *timer.View `json:"timer,omitempty"`
	// ExpectedLateness is what [forecast.HeaderExpectedLateness] says of a timer alone.
	ExpectedLateness wire.Duration     `json:"expected_lateness,omitzero"`
	Problem          *problem.Document `json:"problem,omitempty"`
	// key names the timer; zero if it could not be read.
	key wire.Key
}

// BatchBody is the answer to a batch.
type BatchBody struct {
	Results []BatchResult `json:"results"`
}

// addBatch adds up to 1,000 timers. Each item is admitted or refused for
// itself; the results stand in the order of the items.
func (h handlers) addBatch(c echo.Context) error {
	key, err := requests.IdempotencyKey(c)
	if err != nil {
		return err
	}
	items, err := readBatch(c)
	if err != nil {
		return err
	}
	whole := bookings.Request{TraceParent: requests.TraceParent(c), IdempotencyKey: key}
	results, err := h.addItems(c.Request().Context(), items, whole)
	if err != nil {
		return err
	}
	limitFieldErrors(results)
	if e := audits.EntryOf(c); e.Begun() {
		e.SetItems(itemsOfAudit(results))
	}
	return c.JSON(http.StatusOK, BatchBody{Results: results})
}

func limitFieldErrors(results []BatchResult) {
	left := limits.MaxBatchFieldErrors
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

// addItems books by [tuning.BatchWidth] goroutines, and not by one for each item: each of those
// would grow its stack anew, a sixth of the gateway's processor time.
//
// whole is what the items have in common. The error tells the panics.
func (h handlers) addItems(ctx context.Context, items []jsontext.Value, whole bookings.Request) ([]BatchResult, error) {
	results, panics := make([]BatchResult, len(items)), make([]error, len(items))
	next := make(chan int)
	var group sync.WaitGroup
	for range min(tuning.BatchWidth, len(items)) {
		group.Go(func() {
			for i := range next {
				results[i], panics[i] = h.addSafely(ctx, items[i], whole)
			}
		})
	}
	for i := range items {
		next <- i
	}
	close(next)
	group.Wait()
	return results, errors.Join(panics...)
}

// addSafely adds an item outside of the handler's goroutine, where a panic would end the process.
func (h handlers) addSafely(ctx context.Context, item jsontext.Value, whole bookings.Request) (result BatchResult, err error) {
	defer answers.Recover(&err)
	return h.addItem(ctx, item, whole), nil
}

func readBatch(c echo.Context) ([]jsontext.Value, error) {
	if err := requests.ReadQuery(c).Err(); err != nil {
		return nil, err
	}
	raw, err := requests.ReadBody(c, limits.MaxBatchBody, nil)
	if err != nil {
		return nil, err
	}
	return splitBatch(raw)
}

// splitBatch takes a batch apart. The timers are checked one by one: what is wrong with one
// refuses that one, unless its end cannot be found. A batch that is refused as a whole may be no
// text at all; that is said first, as of every body.
func splitBatch(raw jsontext.Value) ([]jsontext.Value, error) {
	timers, err := timersOf(raw)
	if err == nil || wire.CodeOf(err) == problems.Malformed {
		return timers, err
	}
	if _, malformed := decode.Parse(raw); malformed != nil {
		return nil, malformed
	}
	return nil, err
}

func timersOf(raw jsontext.Value) ([]jsontext.Value, error) {
	body, err := decode.ParseMembers(raw)
	if err != nil {
		return nil, err
	}
	var batch struct {
		Timers jsontext.Value `json:"timers"`
	}
	errs := body.Fill(&batch)
	timers, more, err := decode.Elements(batch.Timers, limits.MaxBatch)
	switch {
	case len(errs) > 0:
	case batch.Timers == nil:
		errs.Add("/timers", wire.CodeRequired, "is required")
	case err != nil || timers == nil:
		errs.Add("/timers", wire.CodeInvalidType, "must be an array")
	case len(timers) == 0 || more:
		errs.Add("/timers", wire.CodeOutOfRange, fmt.Sprintf("must have 1 to %d timers", limits.MaxBatch))
	}
	return timers, errs.Err()
}

func (h handlers) addItem(ctx context.Context, item jsontext.Value, whole bookings.Request) BatchResult {
	view, created, err := h.addOne(ctx, item, &whole)
	if err != nil {
		problem := problems.DocumentOf(err)
		problem.Errors = answers.WithExamples(problem.Errors, calls.Scope{}, h.reach.Brokers)
		return BatchResult{Status: problem.Status, Problem: &problem, key: whole.Key}
	}
	if created {
		return BatchResult{Status: http.StatusCreated, Timer: &view, ExpectedLateness: h.expected(view), key: view.Key}
	}
	return BatchResult{Status: http.StatusOK, Timer: &view, key: view.Key}
}

// addOne adds one timer, and notes its key in what the items have in common.
func (h handlers) addOne(ctx context.Context, item jsontext.Value, whole *bookings.Request) (timer.View, bool, error) {
	if len(item) > limits.MaxBody {
		return timer.View{}, false, &wire.Error{Code: problems.PayloadTooLarge, Message: "The timer is larger than the limit for one timer."}
	}
	members, err := decode.Parse(item)
	if err != nil {
		return timer.View{}, false, err
	}
	request, err := ReadBooking(members, h.reach)
	if err != nil {
		return timer.View{}, false, err
	}
	whole.Key = request.Key
	if err := calls.Permit(ctx, request.Key.BusinessType); err != nil {
		return timer.View{}, false, err
	}
	request.TraceParent, request.IdempotencyKey = whole.TraceParent, whole.IdempotencyKey
	return h.Timers.Add(ctx, request)
}

// itemsOfAudit returns the audit's entry for each timer of a batch.
func itemsOfAudit(results []BatchResult) []trail.Item {
	items := make([]trail.Item, 0, len(results))
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
