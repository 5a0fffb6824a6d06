package api

import (
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/wakecall/wakecall/core/recurrence"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
)

// previewBody asks what a rule would do if it were booked.
type previewBody struct {
	Recurrence *recurrence.Rule `json:"recurrence"`
	From       *wire.Instant    `json:"from"`
	Count      *int             `json:"count"`
}

func previewRecurrence(c echo.Context) error {
	if err := readQuery(c).err(); err != nil {
		return err
	}
	object, err := readObject(c)
	if err != nil {
		return err
	}
	var body previewBody
	errs := append(object.fill(&body), object.zeros(previewZeros)...)
	from, count := wire.At(time.Now()), recurrence.DefaultUpcoming
	if body.From != nil && *body.From != 0 {
		from = *body.From
	}
	if body.Count != nil {
		count = *body.Count
	}
	errs.Complete(body.check(from, count))
	if err := errs.Err(); err != nil {
		return err
	}
	return c.JSON(http.StatusOK, timer.UpcomingOf(*body.Recurrence, from, count))
}

func (b previewBody) check(from wire.Instant, count int) (errs wire.FieldErrors) {
	if b.Recurrence == nil {
		errs.Add("/recurrence", wire.CodeRequired, "give the rule")
	} else {
		errs.Under("/recurrence", b.Recurrence.Check(from.Time()))
	}
	if count < 1 || count > recurrence.MaxUpcoming {
		errs.AddRange("/count", 1, recurrence.MaxUpcoming)
	}
	return errs
}
