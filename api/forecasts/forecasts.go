package forecasts

import (
	"context"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/wakecall/wakecall/api/calls"
	"github.com/wakecall/wakecall/api/paths"
	"github.com/wakecall/wakecall/api/requests"
	"github.com/wakecall/wakecall/core/forecast"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/forecasts"
)

// Forecasts tell how many timers fall due in the time ahead.
type Forecasts interface {
	Forecast(ctx context.Context, r forecasts.Request) (forecast.Forecast, error)
}

// Register adds the call for a forecast.
func Register(contract calls.Routes, told Forecasts) {
	h := handlers{told}
	contract.Get(paths.Prefix+"forecast", calls.Viewing(calls.Named, calls.NoPayloads).Showing(examples).ShowingMoments(moments), h.forecast)
}

// examples and moments have the values of parameters that this call takes. The longest step is
// one of any time ahead.
var (
	examples = map[string]string{"step": wire.Duration(forecast.MaxStep).String()}
	moments  = map[string]time.Duration{"from": forecast.DefaultStep, "to": forecast.DefaultRange}
)

type handlers struct{ forecasts Forecasts }

func (h handlers) forecast(c echo.Context) error {
	request, err := readRequest(requests.ReadQuery(c, "business_type", "from", "to", "step"), time.Now())
	if err != nil {
		return err
	}
	if err := calls.Permit(c.Request().Context(), request.BusinessType); err != nil {
		return err
	}
	forecast, err := h.forecasts.Forecast(c.Request().Context(), request)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, forecast)
}

// readRequest reads what is asked for. It begins with a whole minute, or second where
// the steps are shorter, and ends with a whole step.
func readRequest(q *requests.Query, now time.Time) (r forecasts.Request, err error) {
	r.BusinessType = q.BusinessType()
	if !q.Values.Has("business_type") {
		q.Errs.Add("business_type", wire.CodeRequired, "is required")
	}
	r.Step = q.Step(forecast.MinStep, forecast.DefaultStep, forecast.MaxStep)
	from, to := q.Instant("from"), q.Instant("to")
	if err := q.Err(); err != nil {
		return r, err
	}
	if from == 0 {
		from = wire.At(now)
	}
	unit := forecast.DefaultStep
	if r.Step < unit {
		unit = forecast.MinStep
	}
	r.From = wire.At(from.Time().Truncate(unit))
	if to == 0 {
		to = r.From.Add(forecast.DefaultRange)
	}
	switch {
	case from.Until(now) < -forecast.DefaultStep || from.Until(now) > wire.MaxAhead:
		q.Errs.Add("from", wire.CodeOutOfRange, "must be from now to "+wire.Duration(wire.MaxAhead).String()+" ahead")
	case to > r.From.Add(forecast.MaxSteps*r.Step):
		q.Errs.AddMost("step", forecast.MaxSteps, "steps between from and to")
	default:
		q.Errs = requests.Span(from, to).Check()
	}
	if err := q.Err(); err != nil { // what follows is reckoned with bounded times
		return r, err
	}
	steps := (to.Time().Sub(r.From.Time()) + r.Step - 1) / r.Step
	r.To = r.From.Add(steps * r.Step)
	return r, nil
}
