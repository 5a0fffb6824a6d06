package api

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/dispatches"
)

const dispatchesPath = versionPrefix + "dispatches"

// Dispatches starts dispatches, and shows them.
type Dispatches interface {
	Add(ctx context.Context, order dispatch.Dispatch, items []dispatch.Item) (view dispatch.View, created bool, err error)
	Open(ctx context.Context, order dispatch.Dispatch) (view dispatch.View, created bool, err error)
	UploadAll(ctx context.Context, key wire.Key, from int, items iter.Seq2[dispatch.Item, error]) (dispatch.View, error)
	Get(ctx context.Context, key wire.Key) (dispatch.View, error)
	List(ctx context.Context, r dispatches.Request) (page []dispatch.View, next []byte, err error)
}

// DispatchControls change dispatches that were started.
type DispatchControls interface {
	Change(ctx context.Context, key wire.Key, change dispatch.Change, wait time.Duration) (dispatch.View, bool, error)
	Pause(ctx context.Context, key wire.Key, wait time.Duration) (dispatch.View, bool, error)
	Resume(ctx context.Context, key wire.Key, wait time.Duration) (dispatch.View, bool, error)
	Cancel(ctx context.Context, key wire.Key, wait time.Duration) (dispatch.View, bool, error)
}

// DispatchFailures are the items of dispatches that failed for good.
type DispatchFailures interface {
	Failures(ctx context.Context, key wire.Key, see func(dispatch.Failure) error) error
	RetryFailures(ctx context.Context, key wire.Key) (view dispatch.View, retried int, err error)
}

// DispatchOptions is what the calls on dispatches need.
type DispatchOptions struct {
	Dispatches Dispatches
	Controls   DispatchControls
	Failures   DispatchFailures
	// Left is done once this process leaves: those who follow a dispatch are sent away.
	Left context.Context
}

// dispatchHandlers answer the calls on dispatches.
type dispatchHandlers struct {
	DispatchOptions

	reach    delivery.Reach
	followed *followed
}

// registerDispatches adds the calls on dispatches.
func registerDispatches(contract routes, options DispatchOptions, reach delivery.Reach, room large) {
	h := dispatchHandlers{options, reach, newFollowed(options.Left, options.Dispatches)}
	r := contract.under(dispatchesPath)
	r.post("", operating(named, noPayloads).accepting(aBody), h.start, room.upTo(maxDispatchBody))
	r.get("", viewing(named, noPayloads).showing(map[string]string{"status": string(dispatch.Running)}), h.list)
	one := r.under("/:type/:id")
	one.get("", viewing(inPath, noPayloads), h.get)
	one.patch("", operating(inPath, noPayloads).accepting(aBody), h.change)
	one.delete("", operating(inPath, noPayloads), h.controlling(DispatchControls.Cancel))
	one.put("/items", operating(inPath, noPayloads).accepting(aBody).showing(map[string]string{"from": "0"}), h.upload)
	one.post("/pause", operating(inPath, noPayloads), h.controlling(DispatchControls.Pause))
	one.post("/resume", operating(inPath, noPayloads), h.controlling(DispatchControls.Resume))
	one.get("/failures", viewing(inPath, payloads), h.failures)
	one.post("/retry-failures", operating(inPath, noPayloads), h.retryFailures)
	one.get("/events", viewing(inPath, noPayloads), h.events)
}

// start starts a dispatch, or opens it for an upload.
func (h dispatchHandlers) start(c echo.Context) error {
	if err := readQuery(c).err(); err != nil {
		return err
	}
	raw, err := readBody(c, maxDispatchBody, nil)
	if err != nil {
		return err
	}
	body, err := parseObject(raw)
	if err != nil {
		return err
	}
	noted(c).ordered(body)
	order, err := readOrder(body, h.reach)
	if err != nil {
		return err
	}
	if err := permit(c.Request().Context(), order.BusinessType); err != nil {
		return err
	}
	noted(c).names(order.Key)
	view, created, err := h.order(c.Request().Context(), order)
	if err != nil {
		return err
	}
	showRate(c, view)
	if !created {
		noted(c).unchanged()
		return c.JSON(http.StatusOK, view)
	}
	locateDispatch(c, view.Key)
	return c.JSON(http.StatusCreated, view)
}

func (h dispatchHandlers) order(ctx context.Context, order dispatchOrder) (dispatch.View, bool, error) {
	if order.upload {
		return h.Dispatches.Open(ctx, order.Dispatch)
	}
	return h.Dispatches.Add(ctx, order.Dispatch, order.items)
}

func (h dispatchHandlers) get(c echo.Context) error {
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

type dispatchesBody struct {
	Dispatches    []dispatch.View `json:"dispatches"`
	NextPageToken string          `json:"next_page_token"`
}

func (h dispatchHandlers) list(c echo.Context) error {
	q := readQuery(c, "business_type", "status", "page_token", "page_size")
	request := dispatches.Request{
		BusinessType: q.businessType(), Status: oneOf(q, "status", dispatch.Statuses()),
		Size: q.number("page_size", defaultJobs, maxJobs),
	}
	filter := []string{"dispatches", request.BusinessType, string(request.Status)}
	request.Token = q.pageToken(filter)
	if err := q.err(); err != nil {
		return err
	}
	if err := permit(c.Request().Context(), request.BusinessType); err != nil {
		return err
	}
	page, next, err := h.Dispatches.List(c.Request().Context(), request)
	if err != nil {
		return err
	}
	if page == nil {
		page = []dispatch.View{}
	}
	return c.JSON(http.StatusOK, dispatchesBody{Dispatches: page, NextPageToken: sealToken(next, filter)})
}

// dispatchChange is the body of a change.
type dispatchChange struct {
	PerSecond *float64 `json:"per_second"`
}

func (h dispatchHandlers) change(c echo.Context) error {
	key, wait, err := dispatchTarget(c)
	if err != nil {
		return err
	}
	object, err := readObject(c)
	if err != nil {
		return err
	}
	var body dispatchChange
	errs := object.fill(&body)
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

// showRate tells whoever asks for a rate which one it will probably come to.
func showRate(c echo.Context, view dispatch.View) {
	if view.Expected > 0 {
		c.Response().Header().Set(dispatch.HeaderExpectedRate, strconv.Itoa(int(view.Expected)))
	}
}

// control is one of the changes that need no body.
type control func(DispatchControls, context.Context, wire.Key, time.Duration) (dispatch.View, bool, error)

// controlling handles a change that needs no body.
func (h dispatchHandlers) controlling(do control) echo.HandlerFunc {
	return func(c echo.Context) error {
		key, wait, err := dispatchTarget(c)
		if err != nil {
			return err
		}
		view, applied, err := do(h.Controls, c.Request().Context(), key, wait)
		return answerControl(c, view, applied, err)
	}
}

// answerControl answers a change with what became of it.
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

type retriedBody struct {
	Retried  int           `json:"retried"`
	Dispatch dispatch.View `json:"dispatch"`
}

func (h dispatchHandlers) retryFailures(c echo.Context) error {
	key, err := dispatchOf(c)
	if err != nil {
		return err
	}
	view, retried, err := h.Failures.RetryFailures(c.Request().Context(), key)
	if err != nil {
		return err
	}
	locateDispatch(c, view.Key)
	return c.JSON(http.StatusAccepted, retriedBody{Retried: retried, Dispatch: view})
}

// dispatchOf is the dispatch that the path names, of a call without a query.
func dispatchOf(c echo.Context) (wire.Key, error) {
	key, err := pathKey(c)
	if err != nil {
		return key, err
	}
	return key, readQuery(c).err()
}

// dispatchTarget is the dispatch that a change is for, and how long to wait for it.
func dispatchTarget(c echo.Context) (key wire.Key, wait time.Duration, err error) {
	if key, err = pathKey(c); err != nil {
		return key, 0, err
	}
	q := readQuery(c, "wait")
	return key, q.wait(), q.err()
}

func locateDispatch(c echo.Context, key wire.Key) {
	c.Response().Header().Set(echo.HeaderLocation,
		dispatchesPath+"/"+url.PathEscape(key.BusinessType)+"/"+url.PathEscape(key.BusinessID))
}
