package tuning

import "time"

// The adaptive concurrency limiter (0012).
const (
	// MaxConcurrency bounds the concurrent calls.
	MaxConcurrency = 64
	// LimitBackOff is the factor on the limit after each call that was too slow.
	LimitBackOff = 0.95
	// QuickestGrowth is the factor by which the duration of the quickest call grows with each
	// call. It lets the measure follow a server that became slower.
	QuickestGrowth = 1.0001
	// FirstRate is what a Temporal on two cores records in a second: the rate until the first
	// measurement.
	FirstRate = 200
	// RateWindow is the shortest time of a measurement of a rate, and RateWeight the weight of
	// the newest one.
	RateWindow = time.Second
	RateWeight = 0.3
)

// The pacing of completions (0008).
const (
	// MinCompletions go at once, however long each takes.
	MinCompletions = 2
	// CompletionSlowdown is the longest duration of a completion as a multiple of the quickest.
	// Attempts that begin at the same time share Temporal with it.
	CompletionSlowdown = 4
	// ReservedFor is how long a place is reserved. A later completion waits again.
	ReservedFor = 2 * time.Second
	// LateHandOut is how late Temporal hands out a run's first task where it cannot keep up, and
	// HandOutsFirst how long completions are deferred then.
	LateHandOut   = time.Second
	HandOutsFirst = time.Second
	// DeferrableFrom is how long before the timeout of its task a completion is no longer deferred.
	// It is more than a fifth of the longest timeout, 24 s: the SDK asks for more time then, which
	// costs as much as the completion.
	DeferrableFrom = 30 * time.Second
	// CompletionWait bounds the wait of a completion whose task has an unknown timeout. A completion that
	// others wait for takes its turn as if its task timed out then.
	CompletionWait = 10 * time.Second
	// LastTry is how long before the timeout of its task a completion stops waiting.
	LastTry = 250 * time.Millisecond
	// KnownTasks is more than a worker has at once. The completion of a forgotten task is sent
	// at once, as if the task were about to time out.
	KnownTasks = 1 << 16
)
