package workflows

import (
	"maps"
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/wakecall/wakecall/internal/tuning"
)

// Registered are the business types whose queues may hold deliveries, with the second of
// their last registration. A type registered twice within one second counts as registered in
// the next second, so no two registrations of it are equal.
type Registered map[string]int64

// Registration changes the registry.
type Registration struct {
	Add []string `json:"add,omitempty"`
	// Remove names types that no longer have a policy, as they were registered. A type that
	// was registered again since stays.
	Remove []Registrant `json:"remove,omitempty"`
}

// Registrant is a type, and the second of its last registration.
type Registrant struct {
	BusinessType string `json:"business_type"`
	At           int64  `json:"at"`
}

// PolicyRegistry is the entity that names the business types with a policy, now or lately.
// Its memo is readable without a worker and without Temporal's visibility. Workers learn
// from it which queues to poll.
func PolicyRegistry(ctx workflow.Context, known Registered) error {
	known = maps.Clone(known)
	if known == nil {
		known = Registered{}
	}
	signals := workflow.GetSignalChannel(ctx, SignalRegister)
	for applied := 0; applied < tuning.PolicyUpdates && !workflow.GetInfo(ctx).GetContinueAsNewSuggested(); {
		if err := workflow.Await(ctx, func() bool { return signals.Len() > 0 }); err != nil {
			return err
		}
		applied += known.drainSignals(ctx, signals)
		if err := workflow.UpsertMemo(ctx, map[string]any{MemoRegistry: known}); err != nil {
			return err
		}
	}
	return workflow.NewContinueAsNewError(ctx, TypeRegistry, known)
}

// drainSignals applies the changes that have arrived, and returns how many there were.
func (r Registered) drainSignals(ctx workflow.Context, signals workflow.ReceiveChannel) (applied int) {
	var change Registration
	for signals.ReceiveAsync(&change) {
		r.apply(change, workflow.Now(ctx))
		change = Registration{}
		applied++
	}
	return applied
}

func (r Registered) apply(change Registration, now time.Time) {
	for _, gone := range change.Remove {
		if r[gone.BusinessType] == gone.At {
			delete(r, gone.BusinessType)
		}
	}
	for _, businessType := range change.Add {
		if _, known := r[businessType]; known || len(r) < tuning.RegisteredTypes {
			r[businessType] = max(now.Unix(), r[businessType]+1)
		}
	}
}
