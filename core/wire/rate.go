package wire

import "time"

// MaxEstimate caps an estimate. The slowest rate and a large number exceed a [time.Duration].
const MaxEstimate = 100 * 365 * 24 * time.Hour

// Estimate returns how long so many take at a rate, at most [MaxEstimate].
func Estimate(many, perSecond float64) time.Duration {
	seconds := many / perSecond
	if seconds >= MaxEstimate.Seconds() {
		return MaxEstimate
	}
	return time.Duration(seconds * float64(time.Second))
}
