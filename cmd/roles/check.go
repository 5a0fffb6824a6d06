package roles

import (
	"context"
	"log/slog"

	"github.com/wakecall/wakecall/engine/namespace"
)

// CheckTemporal says in one line for each thing of Temporal's that is not as Wakecall
// leans on it what to change. It refuses no start: a timer service that does not run
// rings nothing (docs/decisions/0020-start-checks.md).
func (a *App) CheckTemporal(ctx context.Context) {
	tell(a.Logger, a.Engine.Namespace.CheckStart(ctx))
}

func tell(logger *slog.Logger, findings []namespace.Finding) {
	for _, finding := range findings {
		switch {
		case finding.Wrong != "":
			logger.Warn("Temporal is not set up for Wakecall", "check", finding.Check, "change", finding.Wrong)
		case finding.Unknown != nil:
			logger.Info("a check of Temporal could not be made", "check", finding.Check, "why", finding.Unknown.Error())
		default:
			logger.Debug("Temporal is set up for Wakecall", "check", finding.Check)
		}
	}
}
