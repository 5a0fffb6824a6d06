package dispatch

import (
	"time"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/wire"
)

// Shortage is the reason why a dispatch is below its rate.
type Shortage string

// The closed list of shortages.
const (
	// ShortOfLimit: the policy allows fewer callbacks a second for the whole type.
	ShortOfLimit = Shortage(delivery.WaitsForLimit)
	// ShortOfPatience: the receiver asked for a pause, and the rate rises again.
	ShortOfPatience = Shortage(delivery.WaitsForBackPressure)
	// ShortOfSlots: the policy allows no more callbacks at once, and the receiver takes long to
	// answer.
	ShortOfSlots = Shortage(delivery.WaitsForInFlight)
	// ShortOfItems: items are not loaded or read fast enough.
	ShortOfItems Shortage = "items"
	// ShortOfTurn: a shard waits for a place at a worker.
	ShortOfTurn = Shortage(delivery.WaitsForTurn)
	// ShortOfWorker: the workers do not keep up, or no worker has taken a shard.
	ShortOfWorker = Shortage(delivery.WaitsForWorker)
)

// Shortages lists every reason.
func Shortages() []Shortage {
	return []Shortage{ShortOfLimit, ShortOfPatience, ShortOfSlots, ShortOfItems, ShortOfTurn, ShortOfWorker}
}

// Behind is a time in which a shard sent nothing at some of its moments.
type Behind struct {
	Since wire.Instant `json:"since"`
	Last  wire.Instant `json:"last"`
	Why   Shortage     `json:"why"`
}

// behindAfter is how long a shard must miss moments to be behind. Less is a hiccup.
const behindAfter = 3 * time.Second

// behindHolds is how long a shard counts as behind after its last missed moment. A shard reports
// them every 20 s at least.
const behindHolds = 30 * time.Second

// Lasting reports whether it was more than a hiccup.
func (b Behind) Lasting() bool { return b.Last.Time().Sub(b.Since.Time()) >= behindAfter }

// longer returns the one that lasted longer.
func (b Behind) longer(o Behind) Behind {
	if o.Last-o.Since > b.Last-b.Since {
		return o
	}
	return b
}

// waits returns the start and the reason of a shard's wait; zero if it sends.
func (s ShardState) waits() (since wire.Instant, what delivery.Waiting) {
	switch {
	case s.Ended || !s.Begun:
	case s.Unclaimed != 0:
		return s.Unclaimed, delivery.WaitsForWorker
	case s.State.Waits != 0:
		return s.State.Waits, delivery.WaitsForTurn
	}
	return 0, ""
}

// behind returns the shortage of a shard; zero for none.
func (s ShardState) behind(now wire.Instant) (behind Behind) {
	since, what := s.waits()
	switch {
	case s.Ended || !s.Begun:
	case since != 0:
		behind = Behind{Since: since, Last: now, Why: Shortage(what)}
	case now-s.State.Behind.Last < wire.Instant(behindHolds.Milliseconds()):
		behind = s.State.Behind
	}
	if !behind.Lasting() {
		return Behind{}
	}
	return behind
}

// fallBehind shows why a sending dispatch is below its rate, and since when. A reason for the
// whole dispatch is shown as its wait instead.
func (v *View) fallBehind(m Memo, shards []ShardState, holds policy.Holds, now time.Time) {
	if v.Status != Running || v.WaitsFor != "" {
		return
	}
	var behind Behind
	for _, shard := range shards {
		behind = behind.longer(shard.behind(wire.At(now)))
	}
	if behind.Why != "" {
		v.Effective = min(v.Effective, v.Achieved.recent(v.PerSecond))
	} else if v.Effective < v.PerSecond {
		behind = slowed(holds.Policy, m, now)
	}
	v.BehindSince, v.BehindWhy = behind.Since, behind.Why
}

// slowed returns since when a policy keeps a dispatch below its rate, and why.
func slowed(p policy.Policy, m Memo, now time.Time) Behind {
	if p.BackPressure.RecoveredPart(now) < 1 {
		return Behind{Since: p.BackPressure.Since, Why: ShortOfPatience}
	}
	since := m.Plan.Began
	if claim, ok := p.Claims.Find(m.Run); ok {
		since = max(since, claim.Since)
	}
	return Behind{Since: since, Why: ShortOfLimit}
}

// recent returns the rate of the last seconds, or the overall rate if the ordered rate is too
// low for those.
func (r Rates) recent(perSecond float64) float64 {
	if perSecond < 1 {
		return r.Whole
	}
	return r.Last10Seconds
}

// LongestBehind returns the shortage that had lasted longest when the shards ended.
func LongestBehind(states []State) (behind Behind) {
	for _, state := range states {
		if state.Behind.Lasting() {
			behind = behind.longer(state.Behind)
		}
	}
	return behind
}
