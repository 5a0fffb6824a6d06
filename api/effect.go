package api

import (
	"net/http"
	"net/url"

	"github.com/labstack/echo/v4"

	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/bookings"
)

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
