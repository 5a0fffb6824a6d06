package roles

import (
	"context"
	"sync/atomic"

	"github.com/wakecall/wakecall/core/outcomes"
	"github.com/wakecall/wakecall/internal/observe"
)

// attempts knows how late timers rang: from Prometheus if there is one, and else from the attempts
// that this process made itself.
type attempts struct {
	ring       *observe.Lateness
	prometheus *observe.Prometheus // nil for none
	// working reports whether this process has a worker.
	working atomic.Bool
}

// Lateness returns the attempts of some business types, or of all for nil, and who knows them. They
// are nil where nothing is known.
func (a *attempts) Lateness(ctx context.Context, types []string, span outcomes.Span) ([]outcomes.Lateness, outcomes.Source) {
	source := outcomes.Node
	if a.prometheus != nil {
		known, err := a.prometheus.Lateness(ctx, types, span)
		if err == nil {
			return known, outcomes.Prometheus
		}
		source = outcomes.Unanswered
	}
	switch {
	case a.working.Load():
		return a.ring.Between(types, span), source
	case source == outcomes.Unanswered:
		return nil, source
	default:
		return nil, outcomes.Unknown
	}
}

// askPrometheus has the attempts of all processes read from the server at an address; "" for none.
func (a *attempts) askPrometheus(address string) (err error) {
	if address != "" {
		a.prometheus, err = observe.NewPrometheus(address)
	}
	return err
}
