package timers

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/wakecall/wakecall/api/answers"
	"github.com/wakecall/wakecall/api/audits"
	"github.com/wakecall/wakecall/api/calls"
	"github.com/wakecall/wakecall/api/limits"
	"github.com/wakecall/wakecall/api/paths"
	"github.com/wakecall/wakecall/api/requests"
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
	Redeliver(ctx context.Context, key wire.Key, ifMatch string) (timer.View, error)
}

// Reasons shows timers with what is known of their attempts.
type Reasons interface {
	Explained(ctx context.Context, key wire.Key) (timer.View, error)
}

// Options is what the calls on timers need. All but Timers may be nil in tests that ask
// for none of it.
type Options struct {
	Timers    Timers
	Series    Series
	Pauser    Pauser
	Failures  Failures
	Attempts  Attempts
	Histories Histories
	Stats     Stats
	Lateness  Lateness
	Reasons   Reasons
	// Reconcile is how often the workers look for overdue timers; 0 for never.
	Reconcile time.Duration
}

// handlers answer the calls on timers.
type handlers struct {
	Options

	reach delivery.Reach
}

// Register adds the calls on timers. The reach checks the destinations in a body that has other
// errors, so that one answer names all.
func Register(contract calls.Routes, options Options, reach delivery.Reach, large requests.LargeBodies) {
	h := handlers{options, reach}
	h.registerAll(contract.Under(paths.Timers), large)
	h.registerOne(contract.Under(paths.Timers + "/:type/:id"))
	contract.Get(paths.Prefix+"stats", calls.Viewing(calls.Named, calls.NoPayloads), h.countTimers)
	contract.Post(paths.Prefix+"recurrences/preview", calls.Viewing(calls.Untyped, calls.NoPayloads).Accepting(calls.Body), previewRecurrence)
}

func (h handlers) registerAll(r calls.Routes, large requests.LargeBodies) {
	r.Post("", calls.Operating(calls.Named, calls.Payloads).Accepting(calls.Body|calls.IdempotencyKey), h.addTimer)
	r.Get("", calls.Viewing(calls.Named, calls.Payloads).Showing(listExamples), h.listTimers)
	r.Post("/batch", calls.Operating(calls.Named, calls.Payloads).Accepting(calls.Body|calls.IdempotencyKey), h.addBatch,
		large.Limit(limits.MaxBatchBody))
}

func (h handlers) registerOne(r calls.Routes) {
	changes := calls.Operating(calls.InPath, calls.Payloads).Accepting(calls.IfMatch)
	r.Put("", changes.Accepting(calls.Body), h.putTimer)
	r.Patch("", changes.Accepting(calls.Body), h.patchTimer)
	r.Delete("", changes, h.changing(Timers.Cancel))
	r.Get("", calls.Viewing(calls.InPath, calls.Payloads), h.getTimer)
	r.Post("/fire", changes, h.changing(Timers.Fire))
	r.Post("/redeliver", changes, h.redeliverTimer)
	r.Post("/pause", changes.Accepting(calls.Body), h.pausing(true))
	r.Post("/resume", changes.Accepting(calls.Body), h.pausing(false))
	r.Get("/attempts", calls.Viewing(calls.InPath, calls.Payloads), h.listAttempts)
	r.Get("/history", calls.Viewing(calls.InPath, calls.Payloads), h.listHistory)
	r.Get("/why", calls.Viewing(calls.InPath, calls.NoPayloads), h.explainTimer)
	r.Get("/upcoming", calls.Viewing(calls.InPath, calls.NoPayloads), h.listUpcoming)
	r.Get("/occurrences", calls.Viewing(calls.InPath, calls.Payloads), h.listOccurrences)
}

func (h handlers) addTimer(c echo.Context) error {
	if err := requests.ReadQuery(c).Err(); err != nil {
		return err
	}
	key, err := requests.IdempotencyKey(c)
	if err != nil {
		return err
	}
	body, err := requests.ReadObject(c)
	if err != nil {
		return err
	}
	request, err := ReadBooking(body, h.reach)
	if err != nil {
		return err
	}
	if err := calls.Permit(c.Request().Context(), request.Key.BusinessType); err != nil {
		return err
	}
	audits.EntryOf(c).SetKey(request.Key)
	audits.EntryOf(c).SetTerms(request.Terms)
	request.TraceParent, request.IdempotencyKey = requests.TraceParent(c), key
	view, created, err := h.Timers.Add(c.Request().Context(), request)
	if err != nil {
		return err
	}
	view.Unchanged = !created
	audits.EntryOf(c).SetTimer(view)
	answers.SetETag(c, view)
	if !created {
		return c.JSON(http.StatusOK, view)
	}
	h.showLateness(c, view)
	answers.SetLocation(c, view.Key)
	return c.JSON(http.StatusCreated, view)
}

func (h handlers) putTimer(c echo.Context) error {
	request, wait, err := h.change(c)
	if err != nil {
		return err
	}
	view, effect, err := h.Timers.Upsert(c.Request().Context(), request, wait)
	if err == nil {
		h.showLateness(c, view)
	}
	return answers.Effect(c, view, effect, err)
}

func (h handlers) patchTimer(c echo.Context) error {
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
	return answers.Effect(c, view, effect, err)
}

// change reads the request of a PUT or PATCH.
func (h handlers) change(c echo.Context) (request bookings.Request, wait time.Duration, err error) {
	target, err := targetOf(c)
	if err != nil {
		return request, 0, err
	}
	body, err := requests.ReadObject(c)
	if err != nil {
		return request, 0, err
	}
	var removed timer.Terms
	if c.Request().Method == http.MethodPatch {
		removed = ExtractOutcomes(body)
	}
	request, err = ReadAmendment(body, target.Key, h.reach)
	request.Terms.OnDelivered = cmp.Or(request.Terms.OnDelivered, removed.OnDelivered)
	request.Terms.OnFailed = cmp.Or(request.Terms.OnFailed, removed.OnFailed)
	request.TraceParent, request.IfMatch = requests.TraceParent(c), target.IfMatch
	if err == nil {
		audits.EntryOf(c).SetTerms(request.Terms)
	}
	return request, target.Wait, err
}

// targetOf reads what every change of one timer has in its path, query and headers.
func targetOf(c echo.Context) (target bookings.Target, err error) {
	if target.Key, err = requests.Key(c); err != nil {
		return target, err
	}
	if target.IfMatch, err = requests.IfMatchTimer(c); err != nil {
		return target, err
	}
	q := requests.ReadQuery(c, "wait")
	target.Wait = q.Wait()
	return target, q.Err()
}

// changing handles a change that needs no body.
func (h handlers) changing(do func(Timers, context.Context, bookings.Target) (timer.View, bookings.Effect, error)) echo.HandlerFunc {
	return func(c echo.Context) error {
		target, err := targetOf(c)
		if err != nil {
			return err
		}
		view, effect, err := do(h.Timers, c.Request().Context(), target)
		return answers.Effect(c, view, effect, err)
	}
}

// redeliverTimer tries a timer again that failed for good.
func (h handlers) redeliverTimer(c echo.Context) error {
	key, err := requests.Key(c)
	if err != nil {
		return err
	}
	ifMatch, err := requests.IfMatchTimer(c)
	if err != nil {
		return err
	}
	if err := requests.ReadQuery(c).Err(); err != nil {
		return err
	}
	view, err := h.Failures.Redeliver(c.Request().Context(), key, ifMatch)
	if err != nil {
		return err
	}
	audits.EntryOf(c).SetTimer(view)
	answers.SetETag(c, view)
	return c.JSON(http.StatusOK, view)
}
