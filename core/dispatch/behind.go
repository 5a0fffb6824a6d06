package dispatch

import (
	"time"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/wire"
)

// Shortage is what keeps a dispatch below its rate.
type Shortage string

// The closed list of shortages.
const (
	// ShortOfLimit: the policy lets fewer callbacks a second through, for all of its type.
	ShortOfLimit = Shortage(delivery.WaitsForLimit)
	// ShortOfPatience: the receiver asked for patience, and the rate rises again.
	ShortOfPatience = Shortage(delivery.WaitsForBackPressure)
	// ShortOfSlots: as many callbacks are under way as the policy lets, since the receiver
	// Estimate long to answer.
	ShortOfSlots = Shortage(delivery.WaitsForInFlight)
	// ShortOfItems: they are not loaded, or read, as fast as they could be sent.
	ShortOfItems Shortage = "items"
	// ShortOfTurn: a part of it waits for a place at a worker.
	ShortOfTurn = Shortage(delivery.WaitsForTurn)
	// ShortOfWorker: the workers do not keep up, or none has taken a part of it.
	ShortOfWorker = Shortage(delivery.WaitsForWorker)
)

// Shortages lists everything that a dispatch may be short of.
func Shortages() []Shortage {
	return []Shortage{ShortOfLimit, ShortOfPatience, ShortOfSlots, ShortOfItems, ShortOfTurn, ShortOfWorker}
}

// Behind is the time in which moments have passed again and again at which a shard
// sent nothing.
type Behind struct {
	Since wire.Instant `json:"since"`
	Last  wire.Instant `json:"last"`
	Why   Shortage     `json:"why"`
}

// behindAfter is how long moments have to pass for a shard to be behind: a hiccup is none.
const behindAfter = 3 * time.Second

// behindHolds is for how long a shard is taken to be behind since the last moment that it
// missed: it tells of them every 20 s at least.
const behindHolds = 30 * time.Second

// Lasting reports whether it was more than a hiccup.
func (b Behind) Lasting() bool { return b.Last.Time().Sub(b.Since.Time()) >= behindAfter }

// longer is the one that lasted longer.
func (b Behind) longer(o Behind) Behind {
	if o.Last-o.Since > b.Last-b.Since {
		return o
	}
	return b
}

// waits is since when a shard waits for a worker, and for what; zero where it sends.
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

// behind is what a shard is short of; zero for nothing.
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

// fallBehind shows since when a dispatch that sends is below its rate, and why. What holds
// it as a whole is shown as what it waits for.
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

// slowed is since when a policy keeps a dispatch below its rate, and why.
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

// recent is the rate of the last seconds, of which there are enough for the rate that was
// asked for.
func (r Rates) recent(perSecond float64) float64 {
	if perSecond < 1 {
		return r.Whole
	}
	return r.Last10Seconds
}

// LongestBehind is what the dispatch was short of for longest when its shards ended.
func LongestBehind(states []State) (behind Behind) {
	for _, state := range states {
		if state.Behind.Lasting() {
			behind = behind.longer(state.Behind)
		}
	}
	return behind
}
