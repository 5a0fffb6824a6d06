package answers

import (
	"net/http"
	"net/url"
	"strconv"

	"github.com/labstack/echo/v4"

	"github.com/wakecall/wakecall/api/audits"
	"github.com/wakecall/wakecall/api/paths"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/bookings"
)

// Effect answers a change with what really became of it.
func Effect(c echo.Context, view timer.View, effect bookings.Effect, err error) error {
	if err != nil {
		return err
	}
	audits.EntryOf(c).SetTimer(view)
	SetETag(c, view)
	switch effect {
	case bookings.Created:
		SetLocation(c, view.Key)
		return c.JSON(http.StatusCreated, view)
	case bookings.Pending:
		SetLocation(c, view.Key)
		return c.JSON(http.StatusAccepted, view)
	default:
		return c.JSON(http.StatusOK, view)
	}
}

// SetLocation sends the path of a timer.
func SetLocation(c echo.Context, key wire.Key) {
	c.Response().Header().Set(echo.HeaderLocation,
		paths.Timers+"/"+url.PathEscape(key.BusinessType)+"/"+url.PathEscape(key.BusinessID))
}

// HeaderETag names the state of a resource (RFC 9110, section 8.8.3).
const HeaderETag = "ETag"

// SetETag sends the ETag of the timer, which a change can name in If-Match.
func SetETag(c echo.Context, view timer.View) {
	c.Response().Header().Set(HeaderETag, strconv.Quote(view.Memo.Tag()))
}
