package api

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/bookings"
	"github.com/wakecall/wakecall/engine/timers"
)

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

// TimerOptions is what the calls on timers need. All but Timers may be nil in tests that ask
// for none of it.
type TimerOptions struct {
	Timers    Timers
	Payloads  Payloads
	Series    Series
	Pauser    Pauser
	Failures  Failures
	Attempts  Attempts
	Histories Histories
	Stats     Stats
	Lateness  Lateness
}

// timerHandlers answer the calls on timers.
type timerHandlers struct {
	TimerOptions

	reach delivery.Reach
}

// registerTimers adds the calls on timers. The reach judges the destinations beside what cannot
// be read of a body.
func registerTimers(contract routes, options TimerOptions, reach delivery.Reach, room large) {
	h := timerHandlers{options, reach}
	h.registerAll(contract.under(timersPath), room)
	h.registerOne(contract.under(timersPath + "/:type/:id"))
	contract.get(versionPrefix+"stats", viewing(named, noPayloads), h.countTimers)
	contract.post(versionPrefix+"recurrences/preview", viewing(untyped, noPayloads).accepting(aBody), previewRecurrence)
}

func (h timerHandlers) registerAll(r routes, room large) {
	r.post("", operating(named, payloads).accepting(aBody|anIdempotencyKey), h.addTimer)
	r.get("", viewing(named, payloads).showing(listExamples), h.listTimers)
	r.post("/batch", operating(named, payloads).accepting(aBody|anIdempotencyKey), h.addBatch, room.upTo(maxBatchBody))
}

func (h timerHandlers) registerOne(r routes) {
	changes := operating(inPath, payloads).accepting(ifMatch)
	r.put("", changes.accepting(aBody), h.putTimer)
	r.patch("", changes.accepting(aBody), h.patchTimer)
	r.delete("", changes, h.changing(Timers.Cancel))
	r.get("", viewing(inPath, payloads), h.getTimer)
	r.post("/fire", changes, h.changing(Timers.Fire))
	r.post("/redeliver", operating(inPath, payloads), h.redeliverTimer)
	r.post("/pause", changes.accepting(aBody), h.pausing(true))
	r.post("/resume", changes.accepting(aBody), h.pausing(false))
	r.get("/attempts", viewing(inPath, payloads), h.listAttempts)
	r.get("/history", viewing(inPath, payloads), h.listHistory)
	r.get("/why", viewing(inPath, noPayloads), h.explainTimer)
	r.get("/upcoming", viewing(inPath, noPayloads), h.listUpcoming)
	r.get("/occurrences", viewing(inPath, payloads), h.listOccurrences)
}

func (h timerHandlers) addTimer(c echo.Context) error {
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
	request, err := readBooking(body, h.reach)
	if err != nil {
		return err
	}
	if err := permit(c.Request().Context(), request.Key.BusinessType); err != nil {
		return err
	}
	noted(c).names(request.Key)
	noted(c).says(request.Terms)
	request.TraceParent, request.IdempotencyKey = traceParent(c), key
	view, created, err := h.Timers.Add(c.Request().Context(), request)
	if err != nil {
		return err
	}
	view.Unchanged = !created
	noted(c).left(view)
	showTag(c, view)
	if !created {
		return c.JSON(http.StatusOK, view)
	}
	h.showLateness(c, view)
	locate(c, view.Key)
	return c.JSON(http.StatusCreated, view)
}

func (h timerHandlers) putTimer(c echo.Context) error {
	request, wait, err := h.change(c)
	if err != nil {
		return err
	}
	view, effect, err := h.Timers.Upsert(c.Request().Context(), request, wait)
	if err == nil {
		h.showLateness(c, view)
	}
	return answerEffect(c, view, effect, err)
}

func (h timerHandlers) patchTimer(c echo.Context) error {
	request, wait, err := h.change(c)
	if err != nil {
		return err
	}
	if request.Terms.IsZero() {
		return wire.FieldErrors{{Pointer: "", Code: wire.CodeRequired, Detail: "name at least one field to change"}}.Err()
	}
	view, effect, err := h.Timers.Amend(c.Request().Context(), request, wait)
	if err == nil {
		h.showLateness(c, view)
	}
	return answerEffect(c, view, effect, err)
}

// change reads the request of a PUT or PATCH.
func (h timerHandlers) change(c echo.Context) (request bookings.Request, wait time.Duration, err error) {
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
		removed = extractOutcomes(body)
	}
	request, err = readAmendment(body, target.Key, h.reach)
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
func (h timerHandlers) changing(do func(Timers, context.Context, bookings.Target) (timer.View, bookings.Effect, error)) echo.HandlerFunc {
	return func(c echo.Context) error {
		target, err := targetOf(c)
		if err != nil {
			return err
		}
		view, effect, err := do(h.Timers, c.Request().Context(), target)
		return answerEffect(c, view, effect, err)
	}
}

// redeliverTimer tries a timer again that failed for good.
func (h timerHandlers) redeliverTimer(c echo.Context) error {
	key, err := pathKey(c)
	if err != nil {
		return err
	}
	if err := readQuery(c).err(); err != nil {
		return err
	}
	view, err := h.Failures.Redeliver(c.Request().Context(), key)
	if err != nil {
		return err
	}
	noted(c).left(view)
	showTag(c, view)
	return c.JSON(http.StatusOK, view)
}
