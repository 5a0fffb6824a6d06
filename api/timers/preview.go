package timers

import (
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/wakecall/wakecall/api/decode"
	"github.com/wakecall/wakecall/api/requests"
	"github.com/wakecall/wakecall/core/recurrence"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/wire"
)

// previewZeros are the fields of a preview that refuse a zero.
var previewZeros = decode.ZeroFields{"recurrence": TermsZeros["recurrence"]}

// PreviewBody asks what a rule would do if it were booked.
type PreviewBody struct {
	Recurrence *recurrence.Rule `json:"recurrence"`
	From       *wire.Instant    `json:"from"`
	Count      *int             `json:"count"`
}

func previewRecurrence(c echo.Context) error {
	if err := requests.ReadQuery(c).Err(); err != nil {
		return err
	}
	object, err := requests.ReadObject(c)
	if err != nil {
		return err
	}
	var body PreviewBody
	errs := append(object.Fill(&body), object.Zeros(previewZeros)...)
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

func (b PreviewBody) check(from wire.Instant, count int) (errs wire.FieldErrors) {
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
