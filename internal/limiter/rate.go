package limiter

import (
	"time"

	"github.com/wakecall/wakecall/internal/tuning"
)

// rate is how many calls a server takes in a second while it has all to do.
type rate struct {
	perSecond float64
	// since is when the measurement began, and done what was taken since. idle is
	// whether the server could have had more to do meanwhile.
	since time.Time
	done  int
	idle  bool
}

// count counts a call that ended. busy is whether others waited for it. A time in which
// nobody had to wait tells how many the server takes at least.
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
