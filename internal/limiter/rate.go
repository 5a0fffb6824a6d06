package limiter

import (
	"time"

	"github.com/wakecall/wakecall/internal/tuning"
)

// rate measures how many calls a second a server takes under full load.
type rate struct {
	perSecond float64
	// since is the start of the measurement, and done its calls. idle reports whether the server
	// could have had more to do.
	since time.Time
	done  int
	idle  bool
}

// count counts a call that ended. busy reports whether others waited for it. A time without
// waiting calls gives a lower bound of the rate.
func (r *rate) count(now time.Time, busy bool) {
	if r.since.IsZero() {
		r.since = now
	}
	r.done++
	r.idle = r.idle || !busy
	took := now.Sub(r.since)
	if took < tuning.RateWindow {
		return
	}
	measured := float64(r.done) / took.Seconds()
	if !r.idle || measured > r.perSecond {
		r.perSecond += tuning.RateWeight * (measured - r.perSecond)
	}
	r.since, r.done, r.idle = now, 0, false
}
