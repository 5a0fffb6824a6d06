package api

import (
	"context"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/wakecall/wakecall/core/timer"
)

// Stats counts timers.
type Stats interface {
	Count(ctx context.Context, businessType string) (timer.Stats, error)
}

// countTimers shows how many timers there are.
func (h timerHandlers) countTimers(c echo.Context) error {
	q := readQuery(c, "business_type")
	businessType := q.businessType()
	if err := q.err(); err != nil {
		return err
	}
	if err := permit(c.Request().Context(), businessType); err != nil {
		return err
	}
	counted, err := h.Stats.Count(c.Request().Context(), businessType)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, counted)
}
