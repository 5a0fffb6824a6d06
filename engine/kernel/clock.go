package kernel

import (
	"fmt"
	"time"

	"github.com/wakecall/wakecall/internal/tuning"
)

// DescribeClock judges a time of Temporal's that was taken between two of ours.
func DescribeClock(before, theirs, after time.Time) string {
	var off time.Duration
	way := "behind"
	switch {
	case theirs.Before(before.Add(-tuning.ClockTolerance)):
		off = before.Sub(theirs)
	case theirs.After(after.Add(tuning.ClockTolerance)):
		off, way = theirs.Sub(after), "ahead of"
	default:
		return ""
	}
	return fmt.Sprintf("the clock of Temporal is %s %s this machine's: timers ring early or late by as much; set both by NTP",
		off.Round(time.Millisecond), way)
}
