package api

import (
	"context"

	"github.com/labstack/echo/v4"

	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/bookings"
)

// Pauser pauses timers, and lets them go on.
type Pauser interface {
	Pause(ctx context.Context, target bookings.Target, pause timer.Pause) (timer.View, bookings.Effect, error)
}

// pauseBody is what a pause or a resumption may say. It may be left out.
type pauseBody struct {
	Note *string `json:"note"`
}

// pausing stops a timer, or lets it go on.
func (h timerHandlers) pausing(stop bool) echo.HandlerFunc {
	return func(c echo.Context) error {
		target, err := targetOf(c)
		if err != nil {
			return err
		}
		note, err := readNote(c)
		if err != nil {
			return err
		}
		view, effect, err := h.Pauser.Pause(c.Request().Context(), target, timer.Pause{Stop: stop, Note: note})
		if err == nil {
			h.showLateness(c, view)
		}
		return answerEffect(c, view, effect, err)
	}
}

func readNote(c echo.Context) (string, error) {
	if c.Request().ContentLength == 0 {
		return "", nil
	}
	object, err := readObject(c)
	if err != nil {
		return "", err
	}
	var body pauseBody
	errs := object.fill(&body)
	if len(value(body.Note)) > wire.MaxNote {
		errs.AddMost("/note", wire.MaxNote, "bytes")
	}
	return value(body.Note), errs.Err()
}
