package forecasts

import (
	"context"
	"time"

	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/internal/tuning"
)

// Run counts the types that have a policy, one after the other in endless rounds, until ctx
// is done. So the first request for a type is answered from memory too. Failed reads are
// repeated in the next round.
func (f *Forecasts) Run(ctx context.Context) {
	for {
		policies, _ := f.policies.List(ctx) // none in a round without Temporal
		for _, policy := range policies[:min(len(policies), tuning.ForecastTypes)] {
			if !pause(ctx, f.countOne(ctx, policy)) {
				return
			}
		}
		if !pause(ctx, tuning.ForecastRound) {
			return
		}
	}
}

// countOne has one type counted, unless that was just done, and returns how long to rest.
func (f *Forecasts) countOne(ctx context.Context, policy policy.Policy) (rest time.Duration) {
	began := time.Now()
	entry := f.entryFor(policy.BusinessType)
	first := entry.questions() == 0
	filling := f.refresh(entry, limitOf(policy))
	if filling == nil {
		return 0
	}
	select {
	case <-filling:
	case <-ctx.Done():
	}
	took := time.Since(began)
	if first {
		return tuning.ForecastRest * took
	}
	return max(tuning.ForecastKeepRest*took, time.Duration(entry.questions())*tuning.ForecastQuestion)
}

// pause waits, and returns false if ctx is done first.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}
