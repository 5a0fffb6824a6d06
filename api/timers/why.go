package timers

import (
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/wakecall/wakecall/api/requests"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
)

// WhyBody says why a timer waits.
type WhyBody struct {
	Facts []timer.Fact `json:"facts"`
	AsOf  wire.Instant `json:"as_of"`
}

// explainTimer says why a timer is where it is. It asks what GET of the timer asks, and which worker
// makes an attempt.
func (h handlers) explainTimer(c echo.Context) error {
	key, err := requests.Key(c)
	if err != nil {
		return err
	}
	if err := requests.ReadQuery(c).Err(); err != nil {
		return err
	}
	view, err := h.Reasons.Explained(c.Request().Context(), key)
	if err != nil {
		return err
	}
	if h.Reconcile > 0 { // at the first look that finds it overdue by as much
		view.Circumstances.WokenBy = view.Memo.RingsAt().Add(2 * h.Reconcile)
	}
	now := wire.At(time.Now())
	return c.JSON(http.StatusOK, WhyBody{Facts: view.Why(now), AsOf: now})
}
