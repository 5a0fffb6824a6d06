package policy

import (
	"slices"
	"time"

	"github.com/wakecall/wakecall/core/wire"
)

// Claim is a dispatch's claim on its type's callbacks_per_second. It is stored with the policy,
// so that the timers and dispatches of the type share the limit.
type Claim struct {
	// Dispatch names the dispatch.
	Dispatch string `json:"dispatch"`
	// PerSecond is the rate of the dispatch; 0 releases the claim.
	PerSecond float64 `json:"per_second"`
	// Since is when it was first claimed, and Until when it lapses. A terminated dispatch cannot
	// release its claim. A release leaves both out: a time of zero could not be read.
	Since wire.Instant `json:"since,omitzero"`
	Until wire.Instant `json:"until,omitzero"`
}

// Claims are the claims of one business type's dispatches.
type Claims []Claim

// timersPart is the share of callbacks_per_second reserved for timers.
const timersPart = 0.1

// WithClaim returns the claims with claim added, replaced or released, and without lapsed ones.
func (c Claims) WithClaim(claim Claim, now wire.Instant) (claims Claims) {
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

// InForce returns the claims that have not lapsed, and when the next one lapses; zero for never.
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

// DispatchShare returns the largest share of a limit for all dispatches together.
func DispatchShare(allowed float64) float64 {
	return max(allowed-max(allowed*timersPart, fieldRate.Lowest.(float64)), 0)
}

// granted returns the part of their rates that claims get, and the rate left for timers.
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

// QueueRate returns how many timers a second may ring now, nil for no limit. It is the policy's
// rate without the share of dispatches, at least a tenth of it.
func (p Policy) QueueRate(claims Claims, now time.Time) *float64 {
	rate := p.Rate(now)
	if rate == nil || *rate == 0 || len(claims) == 0 {
		return rate
	}
	_, left := claims.granted(*rate)
	return &left
}

// Find returns the claim of a dispatch; ok is false if it has none.
func (c Claims) Find(dispatch string) (claim Claim, ok bool) {
	at := slices.IndexFunc(c, func(one Claim) bool { return one.Dispatch == dispatch })
	if at < 0 {
		return claim, false
	}
	return c[at], true
}

// allowed returns how many callbacks a second a dispatch may send under callbacks_per_second. A
// new claim counts after claimHeard, unless it is the only one.
func (c Claims) allowed(dispatch string, limit float64, now time.Time) float64 {
	claim, ok := c.Find(dispatch)
	alone := len(c) == 1
	if !ok || (!alone && now.Before(claim.Since.Time().Add(claimHeard))) {
		return 0
	}
	part, _ := c.granted(limit)
	return claim.PerSecond * part
}

// claimHeard is the time in which every worker learns of a claim.
const claimHeard = 4 * time.Second

// Renews reports whether a dispatch must make or renew its claim under this policy.
func Renews(p Policy, claim Claim, now wire.Instant) bool {
	if p.Limits.CallbacksPerSecond == nil {
		return false
	}
	known, ok := p.Claims.Find(claim.Dispatch)
	return !ok || known.PerSecond != claim.PerSecond || known.Until-now < (claim.Until-now)/2
}
