// Package remote runs a subject, and the load on it, in a process of its own:
// what it takes can be measured, and its garbage disturbs nobody else. The two
// sides talk over the child's standard input and output.
package remote

import (
	"time"

	"github.com/wakecall/wakecall/bench/scenario"
	"github.com/wakecall/wakecall/bench/subject"
	"github.com/wakecall/wakecall/bench/usage"
)

// service is the name of the child's methods.
const service = "Child"

// StartArgs begin a visit.
type StartArgs struct{ Subject, Receiver string }

// Started is what a subject is that has begun.
type Started struct {
	// Queue is set where the receiver has to take the rings from there.
	Queue subject.Queue
}

// Booked is what came of a plan in the child.
type Booked struct {
	Booking scenario.Booking
	// Pending is what the subject takes now that all is booked, and Counters
	// what was counted until now.
	Pending  usage.Usage
	Counters subject.Counters
}

// Spent is what a scenario took, from its first booking to its last ring.
type Spent struct {
	CPU map[string]time.Duration
	// Memory is what the subject takes now.
	Memory   map[string]int64
	Counters subject.Counters
	// Trails are those of some of its timers.
	Trails []subject.Trail
	// Recurred is set where timers recurred.
	Recurred subject.Recurred
}
