package dispatch

import (
	"context"
	"time"

	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/tuning"
)

// claim claims the rate of the dispatch where its type has a limit, for as long as some
// hundred items take: each claim costs Temporal some writes. One shard does so for all.
func (s *stint) claim(ctx context.Context) {
	place, active := s.plan().PlaceOf(s.shard.Number)
	if s.claiming || !active || place > 0 || s.plan().Paused || s.why != "" {
		return
	}
	now := wire.At(time.Now())
	claim := policy.Claim{Dispatch: s.settings.memo.Run, PerSecond: s.plan().PerSecond, Until: now.Add(claimLife(s.plan().PerSecond))}
	if !policy.Renews(s.settings.policy, claim, now) {
		return
	}
	s.claiming, s.state.Claimed = true, true
	s.beside(func() func() {
		_ = s.Policies.Claim(ctx, s.shard.BusinessType, claim) // the next reading shows whether it is there
		return func() { s.claiming = false }
	})
}

// claimLife is how long a claim holds that is not renewed.
func claimLife(perSecond float64) time.Duration {
	life := time.Duration(min(tuning.ClaimItems/perSecond, tuning.LongestClaim.Seconds()) * float64(time.Second))
	return max(life, tuning.ShortestClaim)
}

// yield gives the claim of a dispatch up that is paused or has ended.
func (e *Executor) yield(ctx context.Context, businessType, run string) {
	ctx, cancel := context.WithTimeout(ctx, tuning.CallTimeout)
	defer cancel()
	_ = e.Policies.Claim(ctx, businessType, policy.Claim{Dispatch: run}) // else it lapses
}
