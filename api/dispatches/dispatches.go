package dispatches

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/wakecall/wakecall/api/audits"
	"github.com/wakecall/wakecall/api/calls"
	"github.com/wakecall/wakecall/api/decode"
	"github.com/wakecall/wakecall/api/limits"
	"github.com/wakecall/wakecall/api/paths"
	"github.com/wakecall/wakecall/api/requests"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/dispatches"
)

const dispatchesPath = paths.Prefix + "dispatches"

// Dispatches starts dispatches, and shows them.
type Dispatches interface {
	Add(ctx context.Context, order dispatch.Dispatch, items []dispatch.Item) (view dispatch.View, created bool, err error)
	Open(ctx context.Context, order dispatch.Dispatch) (view dispatch.View, created bool, err error)
	UploadAll(ctx context.Context, key wire.Key, from int, items iter.Seq2[dispatch.Item, error]) (dispatch.View, error)
	Get(ctx context.Context, key wire.Key) (dispatch.View, error)
	List(ctx context.Context, r dispatches.Request) (page []dispatch.View, next []byte, err error)
}

// Controls change dispatches that were started.
type Controls interface {
	Change(ctx context.Context, key wire.Key, change dispatch.Change, wait time.Duration) (dispatch.View, bool, error)
	Pause(ctx context.Context, key wire.Key, wait time.Duration) (dispatch.View, bool, error)
	Resume(ctx context.Context, key wire.Key, wait time.Duration) (dispatch.View, bool, error)
	Cancel(ctx context.Context, key wire.Key, wait time.Duration) (dispatch.View, bool, error)
}

// Failures are the items of dispatches that failed for good.
type Failures interface {
	Failures(ctx context.Context, key wire.Key, see func(dispatch.Failure) error) error
	RetryFailures(ctx context.Context, key wire.Key) (view dispatch.View, retried int, err error)
}

// Options is what the calls on dispatches need.
type Options struct {
	Dispatches Dispatches
	Controls   Controls
	Failures   Failures
	// Stopping is done once this process stops. It ends the streams of events.
	Stopping context.Context
}

// handlers answer the calls on dispatches.
type handlers struct {
	Options

	reach    delivery.Reach
	followed *followed
}

// Register adds the calls on dispatches.
func Register(contract calls.Routes, options Options, reach delivery.Reach, large requests.LargeBodies) {
	h := handlers{options, reach, newFollowed(options.Stopping, options.Dispatches)}
	r := contract.Under(dispatchesPath)
	r.Post("", calls.Operating(calls.Named, calls.NoPayloads).Accepting(calls.Body), h.start, large.Limit(limits.MaxDispatchBody))
	r.Get("", calls.Viewing(calls.Named, calls.NoPayloads).Showing(map[string]string{"status": string(dispatch.Running)}), h.list)
	one := r.Under("/:type/:id")
	one.Get("", calls.Viewing(calls.InPath, calls.NoPayloads), h.get)
	one.Patch("", calls.Operating(calls.InPath, calls.NoPayloads).Accepting(calls.Body), h.change)
	one.Delete("", calls.Operating(calls.InPath, calls.NoPayloads), h.controlling(Controls.Cancel))
	one.Put("/items", calls.Operating(calls.InPath, calls.NoPayloads).Accepting(calls.Body).Showing(map[string]string{"from": "0"}), h.upload)
	one.Post("/pause", calls.Operating(calls.InPath, calls.NoPayloads), h.controlling(Controls.Pause))
	one.Post("/resume", calls.Operating(calls.InPath, calls.NoPayloads), h.controlling(Controls.Resume))
	one.Get("/failures", calls.Viewing(calls.InPath, calls.Payloads), h.failures)
	one.Post("/retry-failures", calls.Operating(calls.InPath, calls.NoPayloads), h.retryFailures)
	one.Get("/events", calls.Viewing(calls.InPath, calls.NoPayloads), h.events)
}

// start starts a dispatch, or opens it for an upload.
func (h handlers) start(c echo.Context) error {
	if err := requests.ReadQuery(c).Err(); err != nil {
		return err
	}
	raw, err := requests.ReadBody(c, limits.MaxDispatchBody, nil)
	if err != nil {
		return err
	}
	body, err := decode.Parse(raw)
	if err != nil {
		return err
	}
	audits.EntryOf(c).SetBody(body)
	order, err := ReadOrder(body, h.reach)
	if err != nil {
		return err
	}
	if err := calls.Permit(c.Request().Context(), order.BusinessType); err != nil {
		return err
	}
	audits.EntryOf(c).SetKey(order.Key)
	view, created, err := h.order(c.Request().Context(), order)
	if err != nil {
		return err
	}
	showRate(c, view)
	if !created {
		audits.EntryOf(c).SetUnchanged()
		return c.JSON(http.StatusOK, view)
	}
	locateDispatch(c, view.Key)
	return c.JSON(http.StatusCreated, view)
}

func (h handlers) order(ctx context.Context, order dispatchOrder) (dispatch.View, bool, error) {
	if order.upload {
		return h.Dispatches.Open(ctx, order.Dispatch)
	}
	return h.Dispatches.Add(ctx, order.Dispatch, order.items)
}

func (h handlers) get(c echo.Context) error {
	key, err := dispatchOf(c)
	if err != nil {
		return err
	}
	view, err := h.Dispatches.Get(c.Request().Context(), key)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, view)
}

// ListBody is a page of dispatches.
type ListBody struct {
	Dispatches    []dispatch.View `json:"dispatches"`
	NextPageToken string          `json:"next_page_token"`
}

func (h handlers) list(c echo.Context) error {
	q := requests.ReadQuery(c, "business_type", "status", requests.PageTokenName, "page_size")
	request := dispatches.Request{
		BusinessType: q.BusinessType(), Status: requests.OneOf(q, "status", dispatch.Statuses()),
		Size: q.Number("page_size", limits.DefaultJobs, limits.MaxJobs),
	}
	filter := []string{"dispatches", request.BusinessType, string(request.Status)}
	request.Token = q.PageToken(filter)
	if err := q.Err(); err != nil {
		return err
	}
	if err := calls.Permit(c.Request().Context(), request.BusinessType); err != nil {
		return err
	}
	page, next, err := h.Dispatches.List(c.Request().Context(), request)
	if err != nil {
		return err
	}
	if page == nil {
		page = []dispatch.View{}
	}
	return c.JSON(http.StatusOK, ListBody{Dispatches: page, NextPageToken: requests.SealToken(next, filter)})
}

// ChangeBody is the body of a change.
type ChangeBody struct {
	PerSecond *float64 `json:"per_second"`
}

func (h handlers) change(c echo.Context) error {
	key, wait, err := dispatchTarget(c)
	if err != nil {
		return err
	}
	object, err := requests.ReadObject(c)
	if err != nil {
		return err
	}
	var body ChangeBody
	errs := object.Fill(&body)
	change := dispatch.Change{PerSecond: body.PerSecond}
	if body.PerSecond == nil {
		errs.Complete(wire.FieldErrors{{Pointer: "/per_second", Code: wire.CodeRequired, Detail: "is required"}})
	}
	errs.Complete(change.Check())
	if err := errs.Err(); err != nil {
		return err
	}
	view, applied, err := h.Controls.Change(c.Request().Context(), key, change, wait)
	showRate(c, view)
	return answerControl(c, view, applied, err)
}

// showRate sends the rate that a dispatch will probably reach.
func showRate(c echo.Context, view dispatch.View) {
	if view.Expected > 0 {
		c.Response().Header().Set(dispatch.HeaderExpectedRate, strconv.Itoa(int(view.Expected)))
	}
}

// control is one of the changes that need no body.
type control func(Controls, context.Context, wire.Key, time.Duration) (dispatch.View, bool, error)

// controlling handles a change that needs no body.
func (h handlers) controlling(do control) echo.HandlerFunc {
	return func(c echo.Context) error {
		key, wait, err := dispatchTarget(c)
		if err != nil {
			return err
		}
		view, applied, err := do(h.Controls, c.Request().Context(), key, wait)
		return answerControl(c, view, applied, err)
	}
}

// answerControl answers a change with its effect.
func answerControl(c echo.Context, view dispatch.View, applied bool, err error) error {
	switch {
	case err != nil:
		return err
	case applied:
		return c.JSON(http.StatusOK, view)
	default:
		locateDispatch(c, view.Key)
		return c.JSON(http.StatusAccepted, view)
	}
}

// RetriedBody is a dispatch and how many of its items are tried again.
type RetriedBody struct {
	Retried  int           `json:"retried"`
	Dispatch dispatch.View `json:"dispatch"`
}

func (h handlers) retryFailures(c echo.Context) error {
	key, err := dispatchOf(c)
	if err != nil {
		return err
	}
	view, retried, err := h.Failures.RetryFailures(c.Request().Context(), key)
	if err != nil {
		return err
	}
	locateDispatch(c, view.Key)
	return c.JSON(http.StatusAccepted, RetriedBody{Retried: retried, Dispatch: view})
}

// dispatchOf is the dispatch that the path names, of a call without a query.
func dispatchOf(c echo.Context) (wire.Key, error) {
	key, err := requests.Key(c)
	if err != nil {
		return key, err
	}
	return key, requests.ReadQuery(c).Err()
}

// dispatchTarget is the dispatch that a change is for, and how long to wait for it.
func dispatchTarget(c echo.Context) (key wire.Key, wait time.Duration, err error) {
	if key, err = requests.Key(c); err != nil {
		return key, 0, err
	}
	q := requests.ReadQuery(c, "wait")
	return key, q.Wait(), q.Err()
}

func locateDispatch(c echo.Context, key wire.Key) {
	c.Response().Header().Set(echo.HeaderLocation,
		dispatchesPath+"/"+url.PathEscape(key.BusinessType)+"/"+url.PathEscape(key.BusinessID))
}
