package wire

import "time"

// MaxEstimate is what anything is taken to last at most that is worked out of a number and a
// rate: the slowest rate and a large number are far beyond what a [time.Duration] holds.
const MaxEstimate = 100 * 365 * 24 * time.Hour

// Estimate is how long so many take at a rate, [longest] at most.
func Estimate(many, perSecond float64) time.Duration {
	seconds := many / perSecond
	if seconds >= MaxEstimate.Seconds() {
		return MaxEstimate
	}
	return time.Duration(seconds * float64(time.Second))
}
