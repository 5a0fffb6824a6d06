package operations

import (
	"time"

	"github.com/labstack/echo/v4"

	"github.com/wakecall/wakecall/api/calls"
	"github.com/wakecall/wakecall/core/health"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/auth"
)

// verboseName is the parameter of readiness that asks for all checks. Its value is ignored.
const verboseName = "verbose"

// probeName is the name of the check that readiness itself makes.
const probeName = "probe"

// checks returns what was found of the installation. The details are for callers who are let in:
// they name addresses and settings. Wrong credentials are refused.
func (r *readiness) checks(c echo.Context, failed error) ([]health.Check, error) {
	who, ctx := calls.CredentialsOf(c.Request()), c.Request().Context()
	_, stranger := r.auth.Authenticate(ctx, who)
	if auth.Caller(ctx) != nil { // the console has seen who is signed in
		stranger = nil
	}
	if stranger != nil && len(who.Authorization) > 0 {
		return nil, calls.Unauthenticated(r.auth, stranger)
	}
	probe := health.Check{Name: probeName, Status: health.OK, At: wire.At(time.Now())}
	if failed != nil {
		probe.Status, probe.Detail = health.Failing, "Temporal does not store a request, or no worker handles it"
	}
	checks := []health.Check{probe}
	if r.findings != nil {
		checks = append(checks, r.findings()...)
	}
	if stranger != nil {
		for i := range checks {
			checks[i].Detail = ""
		}
	}
	return checks, nil
}
