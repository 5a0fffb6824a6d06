package outcomes

import (
	"context"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/wakecall/wakecall/api/calls"
	"github.com/wakecall/wakecall/api/paths"
	"github.com/wakecall/wakecall/api/requests"
	"github.com/wakecall/wakecall/core/outcomes"
	"github.com/wakecall/wakecall/core/wire"
	engine "github.com/wakecall/wakecall/engine/outcomes"
)

// Outcomes have the counts of timers that ended.
type Outcomes interface {
	Between(ctx context.Context, r engine.Request, sees func(businessType string) bool) (outcomes.Outcomes, []string, error)
}

// Lateness knows how late timers rang. types is nil for all. The answer is nil where nothing is known.
type Lateness interface {
	Lateness(ctx context.Context, types []string, span outcomes.Span) ([]outcomes.Lateness, outcomes.Source)
}

// Options are what the call needs.
type Options struct {
	Outcomes Outcomes
	Lateness Lateness
}

// Register adds the call for outcomes.
func Register(contract calls.Routes, options Options) {
	h := handlers{options}
	contract.Get(paths.Prefix+"outcomes", calls.Viewing(calls.Filtered, calls.NoPayloads).ShowingMoments(moments), h.outcomes)
}

// moments has the parameters whose values lie in the past in this call.
var moments = map[string]time.Duration{"from": -outcomes.DefaultPast, "to": 0}

type handlers struct{ Options }

func (h handlers) outcomes(c echo.Context) error {
	request, err := readRequest(requests.ReadQuery(c, "business_type", "from", "to", "step"), time.Now())
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	if request.BusinessType != "" {
		if err := calls.Permit(ctx, request.BusinessType); err != nil {
			return err
		}
	}
	sees := func(businessType string) bool { return calls.Sees(ctx, businessType) }
	answer, types, err := h.Outcomes.Between(ctx, request, sees)
	if err != nil {
		return err
	}
	if sees("") && request.BusinessType == "" {
		types = nil // those without a policy too
	}
	known, source := h.Lateness.Lateness(ctx, types, request.Span)
	answer.Attach(source, known)
	return c.JSON(http.StatusOK, answer)
}

// readRequest reads what is asked for. It begins and ends with a whole minute.
func readRequest(q *requests.Query, now time.Time) (r engine.Request, err error) {
	r.BusinessType, r.Step = q.BusinessType(), q.Step(outcomes.MinStep, outcomes.MinStep, outcomes.Kept)
	from, to := q.Instant("from"), q.Instant("to")
	if err := q.Err(); err != nil {
		return r, err
	}
	if to == 0 {
		to = wire.At(now)
	}
	if from == 0 {
		from = to.Add(-outcomes.DefaultPast)
	}
	r.From = wire.At(from.Time().Truncate(outcomes.MinStep))
	tooOld, oldest := "must not be more than "+wire.Duration(outcomes.Kept).String()+" ago", -outcomes.Longest
	switch {
	case to > wire.At(now):
		q.Errs.Add("to", wire.CodeOutOfRange, "must not lie ahead")
	case to.Until(now) < oldest:
		q.Errs.Add("to", wire.CodeOutOfRange, tooOld)
	case from > wire.At(now):
		q.Errs.Add("from", wire.CodeOutOfRange, "must not lie ahead")
	case from.Until(now) < oldest:
		q.Errs.Add("from", wire.CodeOutOfRange, tooOld)
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
