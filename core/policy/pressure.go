package policy

import (
	"time"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/wire"
)

// BackPressure is a receiver's wish not to be called for a while. It holds for
// its whole business type.
type BackPressure struct {
	Until  wire.Instant `json:"until"`
	Since  wire.Instant `json:"since"`
	Status int          `json:"status"` // the answer that asked for it, 429 or 503
}

// Patience is the longest wait that the policy grants a receiver; 0 grants none.
func (p Policy) Patience() time.Duration {
	if p.MaxBackPressure == nil {
		return delivery.MaxRetryAfter
	}
	return p.MaxBackPressure.D()
}

// HeldBack is until when back-pressure holds the type's callbacks back, if it does.
func (p Policy) HeldBack(now time.Time) (until wire.Instant, held bool) {
	if p.BackPressure == nil || p.BackPressure.Until.Until(now) <= 0 {
		return 0, false
	}
	return p.BackPressure.Until, true
}

// Grants reports whether a wish counts under this policy: one that was made before
// back-pressure was lifted does not.
func (p Policy) Grants(wish BackPressure) bool {
	return p.PressureLiftedAt == 0 || wish.Since > p.PressureLiftedAt
}

// Lift is the policy without the wishes that were made until now.
func (p Policy) Lift(now wire.Instant) Policy {
	p.BackPressure, p.PressureLiftedAt = nil, now
	return p
}

// Inherit is the policy with the claims and the back-pressure of the version before it, cut
// to the longest wait that this version grants. A wish that is cut replaces all that were made
// until now: a longer one that arrives late must not undo the cut.
func (p Policy) Inherit(before Policy, now wire.Instant) Policy {
	p.BackPressure, p.PressureLiftedAt, p.Claims = before.BackPressure, before.PressureLiftedAt, before.Claims
	until, held := before.HeldBack(now.Time())
	if most := now.Add(p.Patience()); held && until > most {
		cut := *before.BackPressure
		cut.Until = most
		p.BackPressure, p.PressureLiftedAt = &cut, now
	}
	return p
}
