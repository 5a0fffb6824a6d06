package api

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/bookings"
	"github.com/wakecall/wakecall/engine/timers"
)

const timersPath = versionPrefix + "timers"

// Timers books timers, changes and cancels them, and shows them.
type Timers interface {
	Add(ctx context.Context, r bookings.Request) (view timer.View, created bool, err error)
	Upsert(ctx context.Context, r bookings.Request, wait time.Duration) (timer.View, bookings.Effect, error)
	Amend(ctx context.Context, r bookings.Request, wait time.Duration) (timer.View, bookings.Effect, error)
	Fire(ctx context.Context, target bookings.Target) (timer.View, bookings.Effect, error)
	Cancel(ctx context.Context, target bookings.Target) (timer.View, bookings.Effect, error)
	Get(ctx context.Context, key wire.Key) (timer.View, error)
	List(ctx context.Context, r timers.PageRequest) (timers.Page, error)
}

// Failures tries timers again that failed for good.
type Failures interface {
	Redeliver(ctx context.Context, key wire.Key) (timer.View, error)
}

func (s *Server) timerRoutes(r routes) {
	r.post("", operating(named, payloads).accepting(aBody|anIdempotencyKey), s.addTimer)
	r.get("", viewing(named, payloads).showing(listExamples), s.listTimers)
	r.post("/batch", operating(named, payloads).accepting(aBody|anIdempotencyKey), s.addBatch, s.large.upTo(maxBatchBody))
	one := r.under("/:type/:id")
	one.put("", operating(inPath, payloads).accepting(aBody|ifMatch), s.putTimer)
	one.patch("", operating(inPath, payloads).accepting(aBody|ifMatch), s.patchTimer)
	one.delete("", operating(inPath, payloads).accepting(ifMatch), changing(s.timers.Cancel))
	one.get("", viewing(inPath, payloads), s.getTimer)
	one.post("/fire", operating(inPath, payloads).accepting(ifMatch), changing(s.timers.Fire))
	one.post("/redeliver", operating(inPath, payloads), showing(s.failures.Redeliver))
	one.post("/pause", operating(inPath, payloads).accepting(aBody|ifMatch), s.pausing(true))
	one.post("/resume", operating(inPath, payloads).accepting(aBody|ifMatch), s.pausing(false))
	one.get("/attempts", viewing(inPath, payloads), s.listAttempts)
	one.get("/history", viewing(inPath, payloads), s.listHistory)
	one.get("/why", viewing(inPath, noPayloads), s.explainTimer)
	one.get("/upcoming", viewing(inPath, noPayloads), s.listUpcoming)
	one.get("/occurrences", viewing(inPath, payloads), s.listOccurrences)
}

func (s *Server) addTimer(c echo.Context) error {
	if err := readQuery(c).err(); err != nil {
		return err
	}
	key, err := idempotencyKey(c)
	if err != nil {
		return err
	}
	body, err := readObject(c)
	if err != nil {
		return err
	}
	request, err := body.booking(s.reach)
	if err != nil {
		return err
	}
	if err := permit(c.Request().Context(), request.Key.BusinessType); err != nil {
		return err
	}
	noted(c).names(request.Key)
	noted(c).says(request.Terms)
	request.TraceParent, request.IdempotencyKey = traceParent(c), key
	view, created, err := s.timers.Add(c.Request().Context(), request)
	if err != nil {
		return err
	}
	view.Unchanged = !created
	noted(c).left(view)
	showTag(c, view)
	if !created {
		return c.JSON(http.StatusOK, view)
	}
	s.showLateness(c, view)
	locate(c, view.Key)
	return c.JSON(http.StatusCreated, view)
}

func (s *Server) putTimer(c echo.Context) error {
	request, wait, err := s.change(c)
	if err != nil {
		return err
	}
	view, effect, err := s.timers.Upsert(c.Request().Context(), request, wait)
	if err == nil {
		s.showLateness(c, view)
	}
	return answerEffect(c, view, effect, err)
}

func (s *Server) patchTimer(c echo.Context) error {
	request, wait, err := s.change(c)
	if err != nil {
		return err
	}
	if request.Terms.IsZero() {
		return wire.FieldErrors{{Pointer: "", Code: wire.CodeRequired, Detail: "name at least one field to change"}}.Err()
	}
	view, effect, err := s.timers.Amend(c.Request().Context(), request, wait)
	if err == nil {
		s.showLateness(c, view)
	}
	return answerEffect(c, view, effect, err)
}

// change reads the request of a PUT or PATCH.
func (s *Server) change(c echo.Context) (request bookings.Request, wait time.Duration, err error) {
	target, err := targetOf(c)
	if err != nil {
		return request, 0, err
	}
	body, err := readObject(c)
	if err != nil {
		return request, 0, err
	}
	var removed timer.Terms
	if c.Request().Method == http.MethodPatch {
		removed = body.takeOutcomes()
	}
	request, err = body.amendment(target.Key, s.reach)
	request.Terms.OnDelivered = cmp.Or(request.Terms.OnDelivered, removed.OnDelivered)
	request.Terms.OnFailed = cmp.Or(request.Terms.OnFailed, removed.OnFailed)
	request.TraceParent, request.IfMatch = traceParent(c), target.IfMatch
	if err == nil {
		noted(c).says(request.Terms)
	}
	return request, target.Wait, err
}

// targetOf reads what every change of one timer has in its path, query and headers.
func targetOf(c echo.Context) (target bookings.Target, err error) {
	if target.Key, err = pathKey(c); err != nil {
		return target, err
	}
	if target.IfMatch, err = ifTimer(c); err != nil {
		return target, err
	}
	q := readQuery(c, "wait")
	target.Wait = q.wait()
	return target, q.err()
}

// changing handles a change that needs no body.
func changing(do func(context.Context, bookings.Target) (timer.View, bookings.Effect, error)) echo.HandlerFunc {
	return func(c echo.Context) error {
		target, err := targetOf(c)
		if err != nil {
			return err
		}
		view, effect, err := do(c.Request().Context(), target)
		return answerEffect(c, view, effect, err)
	}
}

// showing handles a call on one timer that needs no body and is done when it is
// answered.
func showing(do func(context.Context, wire.Key) (timer.View, error)) echo.HandlerFunc {
	return func(c echo.Context) error {
		key, err := pathKey(c)
		if err != nil {
			return err
		}
		if err := readQuery(c).err(); err != nil {
			return err
		}
		view, err := do(c.Request().Context(), key)
		if err != nil {
			return err
		}
		noted(c).left(view)
		showTag(c, view)
		return c.JSON(http.StatusOK, view)
	}
}

// answerEffect answers a change with what really became of it.
func answerEffect(c echo.Context, view timer.View, effect bookings.Effect, err error) error {
	if err != nil {
		return err
	}
	noted(c).left(view)
	showTag(c, view)
	switch effect {
	case bookings.Created:
		locate(c, view.Key)
		return c.JSON(http.StatusCreated, view)
	case bookings.Pending:
		locate(c, view.Key)
		return c.JSON(http.StatusAccepted, view)
	default:
		return c.JSON(http.StatusOK, view)
	}
}

func locate(c echo.Context, key wire.Key) {
	c.Response().Header().Set(echo.HeaderLocation,
		timersPath+"/"+url.PathEscape(key.BusinessType)+"/"+url.PathEscape(key.BusinessID))
}

// traceParent is the caller's W3C trace context, if it has the length of one. It is
// parsed when it is used.
func traceParent(c echo.Context) string {
	header := c.Request().Header.Get("traceparent")
	if len(header) != len("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01") {
		return ""
	}
	return header
}
