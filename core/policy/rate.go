package policy

import "time"

// comeback lists the part of its rate at which a dispatch goes on after back-pressure, and the
// end of each part.
var comeback = []struct {
	until time.Duration
	part  float64
}{{2 * time.Second, 0.1}, {4 * time.Second, 0.2}, {6 * time.Second, 0.4}, {8 * time.Second, 0.7}}

// DispatchRate returns how many items a second a dispatch may send now. It exceeds neither its
// own rate nor its part of the policy's. It is 0 during back-pressure, and then rises from a
// tenth to the whole within 8 s.
func (p Policy) DispatchRate(dispatch string, perSecond float64, now time.Time) float64 {
	if limit := p.Rate(now); limit != nil {
		perSecond = min(perSecond, p.Claims.allowed(dispatch, *limit, now))
	}
	return perSecond * p.BackPressure.RecoveredPart(now)
}

// RecoveredPart returns the part of its rate at which a dispatch may send after back-pressure; 1
// if b is nil.
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
