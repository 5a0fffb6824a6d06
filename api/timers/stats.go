package timers

import (
	"context"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/wakecall/wakecall/api/calls"
	"github.com/wakecall/wakecall/api/requests"
	"github.com/wakecall/wakecall/core/timer"
)

// Stats counts timers.
type Stats interface {
	Count(ctx context.Context, businessType string) (timer.Stats, error)
}

// countTimers shows how many timers there are.
func (h handlers) countTimers(c echo.Context) error {
	q := requests.ReadQuery(c, "business_type")
	businessType := q.BusinessType()
	if err := q.Err(); err != nil {
		return err
	}
	if err := calls.Permit(c.Request().Context(), businessType); err != nil {
		return err
	}
	counted, err := h.Stats.Count(c.Request().Context(), businessType)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, counted)
}
