package policy

import (
	"slices"
	"time"

	"github.com/wakecall/wakecall/core/wire"
)

// Claim is what a dispatch claims of its type's callbacks_per_second. It is kept
// with the policy, so that the timers of the type and all of its dispatches stay within
// the limit together.
type Claim struct {
	// Dispatch names the dispatch.
	Dispatch string `json:"dispatch"`
	// PerSecond is the rate of the dispatch; 0 gives the claim up.
	PerSecond float64 `json:"per_second"`
	// Since is when it was claimed first, and Until when the claim lapses: a dispatch that
	// somebody terminates cannot give it up.
	Since wire.Instant `json:"since,omitzero"`
	Until wire.Instant `json:"until"`
}

// Claims are those of the dispatches of one business type.
type Claims []Claim

// timersPart is the part of callbacks_per_second that dispatches leave to the timers of
// their type.
const timersPart = 0.1

// With are the claims with one more, or one less, and without those that have lapsed.
func (c Claims) With(claim Claim, now wire.Instant) (claims Claims) {
	claim.Since = now
	for _, other := range c {
		switch {
		case other.Dispatch == claim.Dispatch:
			claim.Since = other.Since
		case other.Until > now:
			claims = append(claims, other)
		}
	}
	if claim.PerSecond > 0 && claim.Until > now {
		claims = append(claims, claim)
	}
	return claims
}

// InForce are the claims that have not lapsed, and when the next one does; zero for never.
func (c Claims) InForce(now wire.Instant) (claims Claims, next wire.Instant) {
	for _, claim := range c {
		if claim.Until <= now {
			continue
		}
		claims = append(claims, claim)
		if next == 0 || claim.Until < next {
			next = claim.Until
		}
	}
	return claims, next
}

// DispatchShare is how much of a limit dispatches have together at most.
func DispatchShare(allowed float64) float64 {
	return max(allowed-max(allowed*timersPart, fieldRate.Lowest.(float64)), 0)
}

// granted is the part of their rates that claims come to, and what is left for timers.
func (c Claims) granted(allowed float64) (part, left float64) {
	wanted := 0.0
	for _, claim := range c {
		wanted += claim.PerSecond
	}
	most := DispatchShare(allowed)
	if wanted <= most {
		return 1, allowed - wanted
	}
	return most / wanted, allowed - most
}

// QueueRate is how many timers a second may ring now, nil for no limit: what dispatches
// leave of the policy's rate, which is a tenth of it at least.
func (p Policy) QueueRate(claims Claims, now time.Time) *float64 {
	rate := p.Rate(now)
	if rate == nil || *rate == 0 || len(claims) == 0 {
		return rate
	}
	_, left := claims.granted(*rate)
	return &left
}

// Find returns the claim of a dispatch; ok is false where it has none.
func (c Claims) Find(dispatch string) (claim Claim, ok bool) {
	at := slices.IndexFunc(c, func(one Claim) bool { return one.Dispatch == dispatch })
	if at < 0 {
		return claim, false
	}
	return c[at], true
}

// allowed is what a dispatch may send in a second under callbacks_per_second: its part of
// it, once whoever shares it has heard of that.
func (c Claims) allowed(dispatch string, limit float64, now time.Time) float64 {
	claim, ok := c.Find(dispatch)
	alone := len(c) == 1
	if !ok || (!alone && now.Before(claim.Since.Time().Add(claimHeard))) {
		return 0
	}
	part, _ := c.granted(limit)
	return claim.PerSecond * part
}

// claimHeard is after how long everybody has heard of a claim.
const claimHeard = 4 * time.Second

// Renews reports whether a dispatch has to claim its rate under this policy, again or for
// the first time.
func Renews(p Policy, claim Claim, now wire.Instant) bool {
	if p.Limits.CallbacksPerSecond == nil {
		return false
	}
	known, ok := p.Claims.Find(claim.Dispatch)
	return !ok || known.PerSecond != claim.PerSecond || known.Until-now < (claim.Until-now)/2
}
