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

// DispatchControls change dispatches, and deal with their failures.
type DispatchControls interface {
	Change(ctx context.Context, key wire.Key, change dispatch.Change, wait time.Duration) (dispatch.View, bool, error)
	Pause(ctx context.Context, key wire.Key, wait time.Duration) (dispatch.View, bool, error)
	Resume(ctx context.Context, key wire.Key, wait time.Duration) (dispatch.View, bool, error)
	Cancel(ctx context.Context, key wire.Key, wait time.Duration) (dispatch.View, bool, error)
	Failures(ctx context.Context, key wire.Key, see func(dispatch.Failure) error) error
	RetryFailures(ctx context.Context, key wire.Key) (view dispatch.View, retried int, err error)
}

// dispatchRoutes are the calls on dispatches.
type dispatchRoutes struct {
	large      large
	dispatches Dispatches
	controls   DispatchControls
	reach      delivery.Reach
	followed   *followed
}

func (r dispatchRoutes) add(to routes) {
	to.post("", operating(named, noPayloads).accepting(aBody), r.start, r.large.upTo(maxDispatchBody))
	to.get("", viewing(named, noPayloads).showing(map[string]string{"status": string(dispatch.Running)}), r.list)
	one := to.under("/:type/:id")
	one.get("", viewing(inPath, noPayloads), r.get)
	one.patch("", operating(inPath, noPayloads).accepting(aBody), r.change)
	one.delete("", operating(inPath, noPayloads), r.controlling(DispatchControls.Cancel))
	one.put("/items", operating(inPath, noPayloads).accepting(aBody).showing(map[string]string{"from": "0"}), r.upload)
	one.post("/pause", operating(inPath, noPayloads), r.controlling(DispatchControls.Pause))
	one.post("/resume", operating(inPath, noPayloads), r.controlling(DispatchControls.Resume))
	one.get("/failures", viewing(inPath, payloads), r.failures)
	one.post("/retry-failures", operating(inPath, noPayloads), r.retryFailures)
	one.get("/events", viewing(inPath, noPayloads), r.events)
}

// start starts a dispatch, or opens it for an upload.
func (r dispatchRoutes) start(c echo.Context) error {
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
	order, err := body.dispatch(r.reach)
	if err != nil {
		return err
	}
	if err := permit(c.Request().Context(), order.BusinessType); err != nil {
		return err
	}
	noted(c).names(order.Key)
	view, created, err := r.order(c.Request().Context(), order)
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

func (r dispatchRoutes) order(ctx context.Context, order dispatchOrder) (dispatch.View, bool, error) {
	if order.upload {
		return r.dispatches.Open(ctx, order.Dispatch)
	}
	return r.dispatches.Add(ctx, order.Dispatch, order.items)
}

func (r dispatchRoutes) get(c echo.Context) error {
	key, err := dispatchOf(c)
	if err != nil {
		return err
	}
	view, err := r.dispatches.Get(c.Request().Context(), key)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, view)
}

type dispatchesBody struct {
	Dispatches    []dispatch.View `json:"dispatches"`
	NextPageToken string          `json:"next_page_token"`
}

func (r dispatchRoutes) list(c echo.Context) error {
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
	page, next, err := r.dispatches.List(c.Request().Context(), request)
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

func (r dispatchRoutes) change(c echo.Context) error {
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
	view, applied, err := r.controls.Change(c.Request().Context(), key, change, wait)
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
func (r dispatchRoutes) controlling(do control) echo.HandlerFunc {
	return func(c echo.Context) error {
		key, wait, err := dispatchTarget(c)
		if err != nil {
			return err
		}
		view, applied, err := do(r.controls, c.Request().Context(), key, wait)
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

func (r dispatchRoutes) retryFailures(c echo.Context) error {
	key, err := dispatchOf(c)
	if err != nil {
		return err
	}
	view, retried, err := r.controls.RetryFailures(c.Request().Context(), key)
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
