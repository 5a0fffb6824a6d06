package workflows

import (
	"errors"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"

	"github.com/wakecall/wakecall/internal/tuning"
)

// patience is how long the tries wait for a receiver to connect, where another link is left;
// zero for as long as it takes. Tries that were called off, because somebody woke the timer,
// have waited for a part of it.
func (d *delivery) patience(now time.Time) time.Duration {
	handed := d.last.Handed
	if handed == nil || !d.last.Stream || handed.Wait == 0 {
		return 0
	}
	if d.handedAt != handed.At {
		d.handedAt, d.waitsUntil = handed.At, now.Add(handed.Wait.D())
	}
	return max(d.waitsUntil.Sub(now), tuning.FirstLinkProbe)
}

// silence is how long who makes an attempt may give no sign of life.
func (d *delivery) silence() time.Duration {
	if d.last.Stream {
		return tuning.StreamSilence
	}
	return tuning.Silence
}

// untaken is whether nobody took the tries in the time that they had for it.
func untaken(err error) bool {
	late, ok := errors.AsType[*temporal.TimeoutError](err)
	return ok && late.TimeoutType() == enumspb.TIMEOUT_TYPE_SCHEDULE_TO_START
}
