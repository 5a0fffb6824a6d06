package roles

import (
	"context"
	"log/slog"

	"github.com/wakecall/wakecall/engine/namespace"
)

// CheckTemporal logs a line for each setting of Temporal that Wakecall needs changed. It never
// prevents the start: a timer service that does not run rings nothing
// (docs/decisions/0020-start-checks.md).
func (a *App) CheckTemporal(ctx context.Context) {
	logFindings(a.Logger, a.Engine.Namespace.CheckStart(ctx))
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
