package tuning

import "time"

// The adaptive concurrency limiter (0012).
const (
	// MaxConcurrency is how many calls may go at once at most.
	MaxConcurrency = 64
	// LimitBackOff is what remains of the limit after each call that was too slow.
	LimitBackOff = 0.95
	// QuickestGrowth is the factor by which the duration of the quickest call grows with
	// each call: a server that has become slower is not measured by its past for ever.
	QuickestGrowth = 1.0001
	// FirstRate is what a Temporal on two cores records in a second: the rate until one
	// was measured.
	FirstRate = 200
	// RateWindow is the least time over which a rate is measured, and RateWeight what
	// the newest one counts.
	RateWindow = time.Second
	RateWeight = 0.3
)

// The pacing of completions (0008).
const (
	// MinCompletions go at once, however long each takes.
	MinCompletions = 2
	// CompletionSlowdown is how many times as long as the quickest a completion may
	// take: the attempts that begin meanwhile share Temporal with it.
	CompletionSlowdown = 4
	// ReservedFor is how long a place is reserved. Whoever comes later waits again.
	ReservedFor = 2 * time.Second
	// CompletionWait is how long a completion may wait if it is not known when its task
	// times out.
	CompletionWait = 10 * time.Second
	// LastTry is how long before its task times out a completion stops waiting.
	LastTry = 250 * time.Millisecond
	// KnownTasks is more than a worker has at once. The completion of a task that was
	// forgotten is sent as if the task were about to time out.
	KnownTasks = 1 << 16
)
