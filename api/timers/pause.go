package timers

import (
	"context"

	"github.com/labstack/echo/v4"

	"github.com/wakecall/wakecall/api/answers"
	"github.com/wakecall/wakecall/api/calls"
	"github.com/wakecall/wakecall/api/decode"
	"github.com/wakecall/wakecall/api/requests"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/bookings"
)

// Pauser pauses timers, and lets them go on.
type Pauser interface {
	Pause(ctx context.Context, target bookings.Target, pause timer.Pause) (timer.View, bookings.Effect, error)
}

// PauseBody is what a pause or a resumption may say. It may be left out.
type PauseBody struct {
	Note *string `json:"note"`
}

// pausing stops a timer, or lets it go on.
func (h handlers) pausing(stop bool) echo.HandlerFunc {
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
		return answers.Effect(c, view, effect, err)
	}
}

func readNote(c echo.Context) (string, error) {
	if calls.IsEmpty(c.Request()) {
		return "", nil
	}
	object, err := requests.ReadObject(c)
	if err != nil {
		return "", err
	}
	var body PauseBody
	errs := object.Fill(&body)
	if len(decode.Value(body.Note)) > wire.MaxNote {
		errs.AddMost("/note", wire.MaxNote, "bytes")
	}
	return decode.Value(body.Note), errs.Err()
}
