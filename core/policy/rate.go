package policy

import "time"

// comeback is the part of its rate at which a dispatch goes on once its receiver had asked
// for patience, and for how long each part holds.
var comeback = []struct {
	until time.Duration
	part  float64
}{{2 * time.Second, 0.1}, {4 * time.Second, 0.2}, {6 * time.Second, 0.4}, {8 * time.Second, 0.7}}

// DispatchRate is how many items a second a dispatch may send now: no more than its own
// rate, nor than its part of what the policy allows. It is 0 while the receiver has asked
// for patience, and rises from a tenth to the whole within 8 s after that.
func (p Policy) DispatchRate(dispatch string, perSecond float64, now time.Time) float64 {
	if limit := p.Rate(now); limit != nil {
		perSecond = min(perSecond, p.Claims.allowed(dispatch, *limit, now))
	}
	return perSecond * p.BackPressure.RecoveredPart(now)
}

// RecoveredPart is the part of its rate at which a dispatch may send after its receiver had
// asked for patience: 1 where it has not, and b is nil.
func (b *BackPressure) RecoveredPart(now time.Time) float64 {
	if b == nil {
		return 1
	}
	since := -b.Until.Until(now)
	for _, step := range comeback {
		if since < step.until {
			return step.part
		}
	}
	return 1
}
