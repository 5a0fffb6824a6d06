package api

import (
	"context"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/wakecall/wakecall/core/timer"
)

const statsPath = versionPrefix + "stats"

// Stats counts timers.
type Stats interface {
	Count(ctx context.Context, businessType string) (timer.Stats, error)
}

// statsRoute shows how many timers there are.
func statsRoute(stats Stats) echo.HandlerFunc {
	return func(c echo.Context) error {
		q := readQuery(c, "business_type")
		businessType := q.businessType()
		if err := q.err(); err != nil {
			return err
		}
		if err := permit(c.Request().Context(), businessType); err != nil {
			return err
		}
		counted, err := stats.Count(c.Request().Context(), businessType)
		if err != nil {
			return err
		}
		return c.JSON(http.StatusOK, counted)
	}
}
