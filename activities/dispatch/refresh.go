package dispatch

import (
	"context"
	"errors"
	"time"

	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/tuning"
)

// refresher keeps the settings of the shard up to date. The first shard also claims the
// dispatch's rate and shows its progress.
type refresher struct {
	*base
	// reading reports whether the settings are being read. They are read next at nextRead.
	reading  bool
	nextRead time.Time
	// claiming reports whether the rate is being claimed.
	claiming bool
}

// now has the settings read at once.
func (r *refresher) now() { r.nextRead = time.Time{} }

// due reports whether the settings are due to be read.
func (r *refresher) due(now time.Time) bool { return !r.reading && !now.Before(r.nextRead) }

// read reads the shard's settings. Settings that cannot be read stay as they were.
func (r *refresher) read(ctx context.Context, now time.Time) {
	r.reading, r.nextRead = true, now.Add(tuning.DispatchRead)
	var next *settings
	r.startWork(ctx, func() (err error) {
		next, err = r.readSettings(ctx, r.shard.Key, r.began)
		return err
	}, func(err error) {
		r.reading = false
		switch {
		case err == nil, errors.Is(err, errUncalled): // its receiver may be named again
			r.settings = next
			r.claim(ctx)
			r.showProgress(ctx, now)
		case wire.CodeOf(err) == wire.NotFound:
			r.endWith(dispatch.RunCancelled)
		}
	})
}

// showProgress sends the dispatch its progress: at first every few seconds, then at growing
// intervals. Each time costs Temporal some writes, and the history is finite.
func (r *refresher) showProgress(ctx context.Context, now time.Time) {
	started := r.settings.memo.StartedAt
	pause := max(now.Sub(started.Time())/tuning.ProgressPart, tuning.Progress)
	if !r.first() || r.ending() || now.Sub(max(r.state.Told, started).Time()) < pause {
		return
	}
	r.state.Told = wire.At(now)
	r.startWork(ctx, func() error { return r.Store.ReportProgress(ctx, r.shard.Key) }, func(error) {}) // the next report says more
}

// claim claims the dispatch's rate if its type has a limit. The claim lasts as long as some
// hundred items take: each claim costs Temporal some writes.
func (r *refresher) claim(ctx context.Context) {
	if r.claiming || !r.first() || r.plan().Paused || r.ending() {
		return
	}
	now := wire.At(time.Now())
	claim := policy.Claim{Dispatch: r.settings.memo.Run, PerSecond: r.plan().PerSecond, Until: now.Add(claimLife(r.plan().PerSecond))}
	if !policy.Renews(r.settings.policy, claim, now) {
		return
	}
	r.claiming, r.state.Claimed = true, true
	// The next reading shows whether it is there.
	r.startWork(ctx, func() error { return r.Policies.Claim(ctx, r.shard.BusinessType, claim) }, func(error) { r.claiming = false })
}

// claimLife is how long a claim holds without renewal.
func claimLife(perSecond float64) time.Duration {
	life := time.Duration(min(tuning.ClaimItems/perSecond, tuning.LongestClaim.Seconds()) * float64(time.Second))
	return max(life, tuning.ShortestClaim)
}

// releaseClaim releases the claim of a dispatch that is paused or has ended.
func (e *Executor) releaseClaim(ctx context.Context, businessType, run string) {
	ctx, cancel := context.WithTimeout(ctx, tuning.CallTimeout)
	defer cancel()
	_ = e.Policies.Claim(ctx, businessType, policy.Claim{Dispatch: run}) // else it expires
}
