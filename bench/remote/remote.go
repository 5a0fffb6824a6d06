// Package remote runs a subject, and the load on it, in a separate process: its usage can be
// measured, and its garbage does not disturb others. The two sides talk over the child's
// standard input and output.
package remote

import (
	"time"

	"github.com/wakecall/wakecall/bench/scenario"
	"github.com/wakecall/wakecall/bench/subject"
	"github.com/wakecall/wakecall/bench/usage"
)

// service is the name of the child's methods.
const service = "Child"

// StartArgs are the arguments of Start.
type StartArgs struct {
	Subject, Receiver string
	// Disk asks for a disk of its own for all files of the subject, where that is allowed.
	Disk bool
}

// Started describes a started subject.
type Started struct {
	// Queue is set if the receiver must take the rings from a queue.
	Queue subject.Queue
}

// Booked is the result of a plan in the child.
type Booked struct {
	Booking scenario.Booking
	// Pending is the subject's usage once all is booked, and Counters are the counts until then.
	Pending  usage.Usage
	Counters subject.Counters
}

// Spent is the usage of a scenario, from its first booking to its last ring.
type Spent struct {
	CPU map[string]time.Duration
	// Memory is the subject's present memory.
	Memory   map[string]int64
	Counters subject.Counters
	// Trails are those of some of its timers.
	Trails []subject.Trail
	// Recurred is set if timers recurred.
	Recurred subject.Recurred
}
