package dispatch

import (
	"time"

	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/tuning"
)

// pacer sets the moments at which items leave.
type pacer struct {
	*base
	lease *lease
	pace  dispatch.Pace
	// next is the number of the next moment of the pace.
	next int64
	// paced reports whether the pace matches the plan, and fresh whether no item has left yet.
	paced, fresh bool
	// overdue is the end of the moments that another executor left unused.
	overdue time.Time
	// heldUntil is until when nothing leaves, at a receiver's request.
	heldUntil time.Time
	// hindrance is why the last blocked item could not leave, at hinderedAt.
	hindrance  hindrance
	hinderedAt time.Time
}

// hindrance is why nothing left at a moment.
type hindrance int

const (
	// idle: nothing is left to send now.
	idle hindrance = iota
	// dry: the next items are not read yet.
	dry
	// full: the callbacks under way have reached their limit.
	full
)

// adjust matches the pace to the plan, and reports whether anything may be sent.
func (p *pacer) adjust(now time.Time) bool {
	plan := p.plan()
	place, active := plan.PlaceOf(p.shard.Number)
	rate := p.settings.policy.DispatchRate(p.settings.memo.Run, plan.PerSecond, now)
	if now.Before(p.heldUntil) || plan.Paused || p.settings.paused {
		rate = 0
	}
	latest := p.settings.memo.Order.LatestAt
	if !active || rate <= 0 || !p.lease.held(now) || (latest != nil && latest.Until(now) <= 0) {
		p.paced = false
		return false
	}
	pace := dispatch.Pace{
		Began: plan.Began.Time(), WarmUp: plan.WarmUp.D(), PerSecond: rate, Shard: place, Shards: len(plan.Active),
	}
	if p.paced && pace == p.pace {
		return true
	}
	from := now
	if p.fresh {
		from = p.resumeAt(pace, now)
	}
	p.pace, p.next, p.paced, p.fresh, p.overdue = pace, pace.From(from), true, false, now
	return true
}

// resumeAt is the first moment that a new executor uses. Another one had the shard until a
// moment ago, or the shard waited for its turn.
func (p *pacer) resumeAt(pace dispatch.Pace, now time.Time) time.Time {
	each := between(pace)
	last := p.state.Last.Time()
	switch {
	case p.state.Last == 0 && now.Sub(pace.Began) < each/4:
		return pace.Began
	case now.Sub(last) < max(tuning.DispatchGap, each+each/4):
		return last.Add(time.Millisecond)
	}
	return now
}

// moment is the next moment at which items leave, and how long ago it was. It skips moments
// too old to make up for.
func (p *pacer) moment(now time.Time) (at time.Time, behind time.Duration) {
	for {
		at = p.pace.Moment(p.next)
		behind = now.Sub(at)
		if behind <= p.tolerance() || at.Before(p.overdue) {
			return at, behind
		}
		p.next = p.pace.From(now.Add(-p.tolerance()))
		p.missed(now)
	}
}

// tolerance is how late an item may leave.
func (p *pacer) tolerance() time.Duration { return max(tuning.DispatchLate, between(p.pace)/4) }

// between is the time between two moments of a shard.
func between(pace dispatch.Pace) time.Duration {
	return time.Duration(float64(pace.Shards) / pace.PerSecond * float64(time.Second))
}

// hold stops sending until a time.
func (p *pacer) hold(until time.Time) {
	if until.After(p.heldUntil) {
		p.heldUntil = until
	}
}

// recordHindrance records why no item left. item reports whether there was one.
func (p *pacer) recordHindrance(item bool, now time.Time) {
	p.hinderedAt, p.hindrance = now, idle
	switch {
	case item:
		p.hindrance = full
	case !p.state.End:
		p.hindrance = dry
	}
}

// missed records that nothing left at a moment.
func (p *pacer) missed(now time.Time) {
	reason := dispatch.ShortOfWorker
	if now.Sub(p.hinderedAt) < tuning.HindranceLasts {
		switch p.hindrance {
		case idle:
			return
		case dry:
			reason = dispatch.ShortOfItems
		case full:
			reason = dispatch.ShortOfSlots
		}
	}
	if p.state.Behind.Since == 0 {
		p.state.Behind.Since = wire.At(now)
	}
	p.state.Behind.Last, p.state.Behind.Why = wire.At(now), reason
}

// catchUp forgets missed moments once items have left for a while.
func (p *pacer) catchUp() {
	if p.state.Last.Time().Sub(p.state.Behind.Last.Time()) > max(p.timeFor(tuning.CaughtUpItems), tuning.CaughtUp) {
		p.state.Behind = dispatch.Behind{}
	}
}

// observe reports the shard's rate to the observer, and its lateness since the last report.
func (p *pacer) observe() {
	if p.paced {
		rate, lag := p.pace.PerSecond/float64(p.pace.Shards), time.Duration(p.state.LagMS)*time.Millisecond
		p.Observer.Dispatching(p.shard.Key, p.shard.Number, rate, lag)
	}
	p.state.LagMS = 0
}
