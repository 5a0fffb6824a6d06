package roles

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/wakecall/wakecall/core/health"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/canary"
	"github.com/wakecall/wakecall/engine/namespace"
	"github.com/wakecall/wakecall/engine/queues"
	"github.com/wakecall/wakecall/internal/tuning"
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
	// asked are made when a caller asks for them.
	asked askedChecks
}

// askedChecks are checks that are made when a caller asks for them, and trusted for a moment: a caller
// without a key may ask as well.
type askedChecks struct {
	mu    sync.Mutex
	all   []func(context.Context) health.Check
	found []health.Check
	at    time.Time
}

// results returns what the checks found, at most [tuning.ChecksTrusted] ago.
func (c *askedChecks) results() []health.Check {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.at) < tuning.ChecksTrusted {
		return c.found
	}
	ctx, cancel := context.WithTimeout(context.Background(), tuning.ReadyTimeout)
	defer cancel()
	c.found, c.at = nil, time.Now()
	for _, check := range c.all {
		one := check(ctx)
		one.At = wire.At(c.at)
		c.found = append(c.found, one)
	}
	return c.found
}

// AddCheck adds a check that is made when a caller asks for all. It must precede the first one.
func (a *App) AddCheck(check func(context.Context) health.Check) {
	a.found.asked.all = append(a.found.asked.all, check)
}

// checks returns the checks of the installation: that of the last canary, those that are made now, and those of
// the start.
func (a *App) checks() []health.Check {
	var all []health.Check
	if a.found.canary != nil {
		all = append(all, a.found.canary.Check())
	}
	return slices.Concat(all, a.found.asked.results(), a.found.start)
}

// checkWorkers finds the workers that take attempts.
func (a *App) checkWorkers(ctx context.Context) health.Check {
	check := health.Check{Name: "workers", Status: health.OK}
	pollers, err := a.Engine.Queues.Workers(ctx)
	if err != nil {
		check.Status, check.Detail = health.Unknown, "Temporal does not say which workers there are: "+err.Error()
		return check
	}
	check.Detail = describeWorkers(pollers, a.Identity, time.Now())
	if !slices.ContainsFunc(pollers, func(p queues.Poller) bool { return time.Since(p.At) < tuning.PollerGone }) {
		check.Status, check.Detail = health.Failing, "No worker takes attempts: start wakecall worker or wakecall serve. "+check.Detail
	}
	return check
}

// describeWorkers names workers, and when each asked for work last.
func describeWorkers(pollers []queues.Poller, own string, now time.Time) string {
	lines := make([]string, 0, len(pollers))
	for _, p := range pollers {
		line := p.Identity + " asked for work " + now.Sub(p.At).Round(time.Second).String() + " ago"
		if p.Identity == own {
			line += " (this process)"
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, ", ")
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
