package roles

import (
	"context"
	"log/slog"
	"time"

	"github.com/wakecall/wakecall/core/health"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/canary"
	"github.com/wakecall/wakecall/engine/namespace"
)

// CheckTemporal logs a line for each setting of Temporal that Wakecall needs changed. It never
// prevents the start: a timer service that does not run rings nothing
// (docs/decisions/0020-start-checks.md).
func (a *App) CheckTemporal(ctx context.Context) {
	found := a.Engine.Namespace.CheckStart(ctx)
	logFindings(a.Logger, found)
	a.found.start = checksOf(found, time.Now())
}

// found is what is known of the installation.
type found struct {
	// canary is nil if the settings say off.
	canary *canary.Canary
	// start is what the start found.
	start []health.Check
}

// checks returns what is known of the installation: what the canary found last, and what the
// start found.
func (a *App) checks() []health.Check {
	var all []health.Check
	if a.found.canary != nil {
		all = append(all, a.found.canary.Check())
	}
	return append(all, a.found.start...)
}

// checksOf returns the findings of a start.
func checksOf(found []namespace.Finding, at time.Time) []health.Check {
	checks := make([]health.Check, 0, len(found))
	for _, finding := range found {
		check := health.Check{Name: finding.Check, Status: health.OK, Detail: finding.Wrong, At: wire.At(at)}
		switch {
		case finding.Wrong != "":
			check.Status = health.Failing
		case finding.Unknown != nil:
			check.Status, check.Detail = health.Unknown, finding.Unknown.Error()
		}
		checks = append(checks, check)
	}
	return checks
}

func logFindings(logger *slog.Logger, findings []namespace.Finding) {
	for _, finding := range findings {
		switch {
		case finding.Wrong != "":
			logger.Warn("Temporal is not set up for Wakecall", "check", finding.Check, "change", finding.Wrong)
		case finding.Unknown != nil:
			logger.Info("Temporal could not be checked", "check", finding.Check, "why", finding.Unknown.Error())
		default:
			logger.Debug("Temporal is set up for Wakecall", "check", finding.Check)
		}
	}
}
