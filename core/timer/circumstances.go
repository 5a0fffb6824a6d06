package timer

import (
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/wire"
)

// Circumstances are facts about an open timer that its view does not show. [View.Why] explains
// them.
type Circumstances struct {
	// AllPaused reports whether an emergency that holds it back is one of all business types, and not
	// of its own alone.
	AllPaused bool
	// Others are the further reasons for its wait, apart from the one in its view and Stopped.
	Others []delivery.Wait
	// Stopped is the gravest of what stops the callbacks of its type while an attempt is under way: an
	// emergency, a pause or back-pressure.
	Stopped delivery.Wait
	// AttemptSince is when the attempt under way began, and Worker makes it. Both are zero if that
	// is unknown.
	AttemptSince wire.Instant
	Worker       string
	// Queued is how many attempts wait on the queue of the business type, this one among them, and
	// PerSecond is the rate at which they leave it. Both are zero if the queue has no rate.
	Queued    int
	PerSecond float64
	// LastPoll is when a worker last asked for the attempts on the queue; zero if unknown.
	LastPoll wire.Instant
	// WokenBy is when the workers will have woken the timer, if nothing is under way for it; zero if
	// they do not look for such timers.
	WokenBy wire.Instant
	// Unread are the sources that could not be read.
	Unread []ReasonSource
}
