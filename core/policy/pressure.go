package policy

import (
	"time"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/wire"
)

// BackPressure is a receiver's request for a pause of its whole business type.
type BackPressure struct {
	Until  wire.Instant `json:"until"`
	Since  wire.Instant `json:"since"`
	Status int          `json:"status"` // the answer that asked for it, 429 or 503
}

// LongestBackPressure returns the longest wait that the policy grants a receiver; 0 grants none.
func (p Policy) LongestBackPressure() time.Duration {
	if p.MaxBackPressure == nil {
		return delivery.MaxRetryAfter
	}
	return p.MaxBackPressure.D()
}

// HeldBack returns the end of back-pressure on the type's callbacks; held is false if there is
// none.
func (p Policy) HeldBack(now time.Time) (until wire.Instant, held bool) {
	if p.BackPressure == nil || p.BackPressure.Until.Until(now) <= 0 {
		return 0, false
	}
	return p.BackPressure.Until, true
}

// Grants reports whether a request counts under this policy. A request from before the last lift
// does not.
func (p Policy) Grants(wish BackPressure) bool {
	return p.PressureLiftedAt == 0 || wish.Since > p.PressureLiftedAt
}

// LiftBackPressure returns the policy without the requests made until now.
func (p Policy) LiftBackPressure(now wire.Instant) Policy {
	p.BackPressure, p.PressureLiftedAt = nil, now
	return p
}

// Inherit returns the policy with the claims and the back-pressure of the version before it, cut
// to the longest wait of this version. A cut request replaces all requests made until now,
// because a longer one that arrives late must not undo the cut.
func (p Policy) Inherit(before Policy, now wire.Instant) Policy {
	p.BackPressure, p.PressureLiftedAt, p.Claims = before.BackPressure, before.PressureLiftedAt, before.Claims
	until, held := before.HeldBack(now.Time())
	if most := now.Add(p.LongestBackPressure()); held && until > most {
		cut := *before.BackPressure
		cut.Until = most
		p.BackPressure, p.PressureLiftedAt = &cut, now
	}
	return p
}
