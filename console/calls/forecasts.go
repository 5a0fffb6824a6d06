package calls

import (
	"time"

	"github.com/wakecall/wakecall/internal/tuning"
)

// Forecast is what falls due in the time ahead.
type Forecast struct {
	CountedAt          time.Time `json:"counted_at"`
	CallbacksPerSecond *float64  `json:"callbacks_per_second"`
	Overdue            int       `json:"overdue"`
	// UncountedFrom is since when rings of recurring timers are left out; the zero time if none are.
	UncountedFrom time.Time `json:"uncounted_from"`
	Steps         []Step    `json:"steps"`
}

// Step is one step of a forecast.
type Step struct {
	At            time.Time `json:"at"`
	Due           int       `json:"due"`
	DispatchItems int       `json:"dispatch_items"`
	Overflows     bool      `json:"overflows"`
	Lateness      string    `json:"lateness"`
}

// Takes is how long so many take at a rate, at most [tuning.LongestEstimate].
func Takes(many, perSecond float64) time.Duration {
	seconds := many / perSecond
	if seconds >= tuning.LongestEstimate.Seconds() {
		return tuning.LongestEstimate
	}
	return time.Duration(seconds * float64(time.Second))
}
