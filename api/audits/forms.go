package audits

import (
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/wakecall/wakecall/api/paths"
	"github.com/wakecall/wakecall/api/problems"
	"github.com/wakecall/wakecall/core/timer"
	"github.com/wakecall/wakecall/core/trail"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/audit"
	"github.com/wakecall/wakecall/internal/tuning"
)

// RecordForms has every form of the console recorded that is refused before a call of the API was made
// for it. All others are recorded by their calls.
func RecordForms(log *audit.Log) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		if !log.On() {
			return next
		}
		return func(c echo.Context) error {
			request := c.Request()
			if request.Method != http.MethodPost || !strings.HasPrefix(c.Path(), paths.Console) {
				return next(c)
			}
			ctx, form := audit.WithForm(request.Context())
			c.SetRequest(request.WithContext(ctx))
			err := next(c)
			if err != nil { // it did not reach the console, which answers in every case
				form.Describe(audit.Asked{Route: c.Path()})
			}
			for _, refused := range form.Refusals(statusOf(c, err)) {
				recordRefusal(c, log, refused)
			}
			return err
		}
	}
}

// statusOf is the status by which a request is answered.
func statusOf(c echo.Context, err error) int {
	if err != nil {
		return problems.DocumentOf(err).Status
	}
	return c.Response().Status
}

// recordRefusal writes the record. It has no call that could be prevented, so an error is left.
func recordRefusal(c echo.Context, log *audit.Log, refused audit.Refusal) {
	e := NewEntry(c, http.MethodPost, refused.Route)
	e.Caller = refused.Who
	e.Target = trail.Target{
		BusinessType: clipped(refused.BusinessType), BusinessID: clipped(refused.BusinessID), ID: clipped(refused.ID),
		Everything: refused.Everything,
	}
	if refused.Action != "" {
		e.Changes = []timer.FieldChange{{Field: "action", To: clipped(refused.Action)}}
	}
	e.identify()
	audit.Answer(&e.Record, refused.Status, problems.CodeOf(refused.Status))
	e.Outcome = trail.Refused // whatever the status: no call was made
	e.write(log)
}

func clipped(text string) string { return wire.Clip(text, tuning.LoggedBytes) }
