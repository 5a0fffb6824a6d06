package timers

import (
	"net/http"
	"slices"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"

	"github.com/wakecall/wakecall/api/requests"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/timers"
	"github.com/wakecall/wakecall/internal/auth"
)

// The parameters that name one timer by an id other than its own.
const (
	runIDName     = "run_id"
	webhookIDName = "webhook_id"
)

// findTimer answers with the timer that a run id or a webhook id names, as a list of one or none.
// A caller who may not see its business type gets none.
func (h handlers) findTimer(c echo.Context, q *requests.Query) error {
	named := timers.Named{RunID: q.Values.Get(runIDName), WebhookID: q.Values.Get(webhookIDName)}
	if _, err := uuid.Parse(named.RunID); err != nil && q.Values.Has(runIDName) {
		q.Errs.Add(runIDName, wire.CodeInvalidParameter, "must be the id of a run, as run_id of a timer shows it")
	}
	if q.Values.Has(webhookIDName) && !timer.IsMessageID(named.WebhookID) {
		q.Errs.Add(webhookIDName, wire.CodeInvalidParameter, "must be a webhook id, as webhook_id of a timer shows it")
	}
	alone := runIDName
	if !q.Values.Has(alone) {
		alone = webhookIDName
	}
	for name := range q.Values {
		if name != alone {
			q.Errs.Add(name, wire.CodeConflict, "is not allowed with "+alone)
		}
	}
	if err := q.Err(); err != nil {
		return err
	}
	ctx := c.Request().Context()
	page, err := h.Timers.List(ctx, timers.PageRequest{Named: named})
	if err != nil {
		return err
	}
	seen := slices.DeleteFunc(page.Timers, func(view timer.View) bool { return !auth.From(ctx).May(auth.Viewer, view.BusinessType) })
	return c.JSON(http.StatusOK, ListBody{Timers: seen})
}
