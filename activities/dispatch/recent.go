package dispatch

import (
	"time"

	"github.com/wakecall/wakecall/core/dispatch"
	"github.com/wakecall/wakecall/internal/tuning"
)

// count counts items in the second of now.
func count(recent *dispatch.Recent, items int, now time.Time) {
	second := now.Unix()
	if len(recent.Seconds) == 0 || second-recent.At >= tuning.RecentSeconds {
		recent.Seconds, recent.At = append(recent.Seconds[:0], 0), second
	}
	for recent.At < second {
		recent.At++
		recent.Seconds = append(recent.Seconds, 0)
	}
	if more := len(recent.Seconds) - tuning.RecentSeconds; more > 0 {
		recent.Seconds = append(recent.Seconds[:0], recent.Seconds[more:]...)
	}
	recent.Seconds[len(recent.Seconds)-1] += items
}
