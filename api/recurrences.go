package api

import (
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/wakecall/wakecall/timer"
)

func recurrenceRoutes(r routes) {
	r.post("/preview", viewing(untyped, noPayloads), previewRecurrence)
}

// previewBody asks what a rule would do if it were booked.
type previewBody struct {
	Recurrence *timer.Recurrence `json:"recurrence"`
	From       *timer.Instant    `json:"from"`
	Count      *int              `json:"count"`
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
	from, count := timer.At(time.Now()), timer.DefaultUpcoming
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

func (b previewBody) check(from timer.Instant, count int) (errs timer.FieldErrors) {
	if b.Recurrence == nil {
		errs.Add("/recurrence", timer.CodeRequired, "give the rule")
	} else {
		errs.Under("/recurrence", b.Recurrence.Check(from.Time()))
	}
	if count < 1 || count > timer.MaxUpcoming {
		errs.AddRange("/count", 1, timer.MaxUpcoming)
	}
	return errs
}
