package timers

import (
	"time"

	"github.com/labstack/echo/v4"

	"github.com/wakecall/wakecall/core/forecast"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
)

// Lateness tells how late timers will be.
type Lateness interface {
	// Expect returns how late a booked timer will probably be. It is 0 for not at all, and if
	// nothing is known.
	Expect(booked timer.View) time.Duration
}

// expected is how late a timer will probably be that was booked or moved; 0 for less than a
// second.
func (h handlers) expected(view timer.View) wire.Duration {
	if h.Lateness == nil || view.Status != timer.Scheduled {
		return 0
	}
	return wire.Duration(h.Lateness.Expect(view).Truncate(time.Second))
}

// showLateness sends how late a timer will probably be.
func (h handlers) showLateness(c echo.Context, view timer.View) {
	if late := h.expected(view); late > 0 {
		c.Response().Header().Set(forecast.HeaderExpectedLateness, late.String())
	}
}
