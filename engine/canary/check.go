package canary

import (
	"fmt"
	"time"

	"github.com/wakecall/wakecall/core/health"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/internal/tuning"
)

// Check returns what the last beat found.
func (c *Canary) Check() health.Check {
	beat := c.Last()
	check := health.Check{Name: "canary", Status: health.OK}
	if !beat.At.IsZero() {
		check.At = wire.At(beat.At)
	}
	switch silent := time.Since(later(beat.At, c.begun)) > tuning.CanarySilence; {
	case silent:
		check.Status, check.Detail = health.Failing, "no timer was measured since: this gateway hangs, or has no processor time"
	case beat.At.IsZero():
		check.Status, check.Detail = health.Unknown, "no timer has been measured yet"
	case beat.Failed != "":
		check.Status, check.Detail = health.Failing, fmt.Sprintf("step %s: %s", beat.Failed, beat.Why)
	case beat.Held:
		check.Detail = "all callbacks are paused, so nothing is measured"
	default:
		check.Detail = fmt.Sprintf("booked in %s, rang %s late, recorded in %s, listed in %s",
			rounded(beat.Took[StepBook]), rounded(beat.Took[StepRing]), rounded(beat.Took[StepRecord]), rounded(beat.Took[StepList]))
	}
	return check
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func rounded(d time.Duration) time.Duration { return d.Round(time.Millisecond) }
