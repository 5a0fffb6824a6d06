package tuning

import "time"

// Workers that died (0079).
const (
	// SignEvery is the time between two signs of life of a worker process, and between two
	// looks at those of the others. A sign costs a call, and no write.
	SignEvery = time.Second
	// SignTimeout bounds one of these calls.
	SignTimeout = 2 * time.Second
	// DeadSigns is how many signs of its own a worker sees listed while the last sign of
	// another one stays, and DeadAfter how long, until it takes the other one for dead. A
	// Temporal that is slow is slow for both.
	DeadSigns = 4
	DeadAfter = 4 * time.Second
	// EndedSigns and EndedAfter are the same where the machine itself knows of no such process.
	// They are for a machine that only seems to be the same, such as a clone: there the worker
	// gives another sign.
	EndedSigns = 2
	EndedAfter = 2 * time.Second
	// LostSigns and LostAfter are the same for its attempts on the queues. An attempt that
	// may be under way is repeated only by worse evidence than a timer that waits.
	LostSigns = 9
	LostAfter = 9 * time.Second
	// SignTrusted is how long a worker may ring without a question after its last sign that
	// Temporal took: shorter than DeadAfter, so that no other worker has its timers yet.
	SignTrusted = 3 * time.Second
	// HeardWithin bounds how long a worker waits for the others to hear of it before it rings what
	// it had before it stood still, and HeardPoll is the time between two looks. Where none can
	// hear of it, none takes its timers for certain either.
	HeardWithin = 5 * time.Second
	HeardPoll   = SignEvery / 4
	// JudgementTrusted is how long it is trusted which workers live.
	JudgementTrusted = 3 * time.Second
	// DeadRemembered is how long a dead worker is known by its last sign. Temporal
	// remembers it for five minutes.
	DeadRemembered = 10 * time.Minute
	// SignDoubted is by how much the time of a sign may differ from the clock of a gateway that lists
	// processes. Beyond it, clocks alone do not explain the difference, and the gateway looks again
	// after SignAgain: a process that lives has given another sign by then.
	SignDoubted = DeadAfter + ClockSkew
	SignAgain   = SignEvery + SignEvery/2
	// PollersTold is the time between two tellings of which pollers a process has: what
	// ends the polls of one that is frozen.
	PollersTold = 10 * time.Second
)

// What dead workers had is freed in the order of its due times.
const (
	// FreesAtOnce is how many timers a worker looks at side by side.
	FreesAtOnce = 16
	// FreedSoon is how long before its due time a timer is freed as fast as Temporal can.
	// What is due later goes at [DispatchPerSecond].
	FreedSoon = 10 * time.Second
	// OldestHeld is how long a timer may be overdue and still be held by a worker that got it in
	// time: the longest task timeout and a minute. Of those that are overdue for longer a search
	// looks at OlderLooked.
	OldestHeld  = 3 * time.Minute
	OlderLooked = 100
	// TaskArrives is how long a task may be on its way to its worker.
	TaskArrives = 2 * time.Second
	// AttemptsLooked is at how many timers past their first attempt a search looks at most, and
	// AttemptLooks at how many a second.
	AttemptsLooked = 1000
	AttemptLooks   = 100
	// SweepPause is the time between two searches for what the dead had, and QuietSweeps
	// after how many in a row that freed nothing they end: visibility lags by seconds where the
	// database has too much to do, and a frozen worker may be handed a few more.
	SweepPause  = 2 * time.Second
	QuietSweeps = 8
	// SweepRest is how many times as long as a search took the next one waits, where no worker has
	// died: a list of ten thousand timers costs Temporal seconds.
	SweepRest = 4
)

// Changes that a dead worker was to apply.
const (
	// UnappliedLook is the time between two looks at the changes of this process that should have been
	// applied: by UnappliedAfter. A worker needs milliseconds. With [SignDoubted] and [SignAgain] a
	// death is known in time.
	UnappliedLook  = 2 * time.Second
	UnappliedAfter = 5 * time.Second
	// UnappliedFor is for how long a change is looked at: Temporal may itself have stood still in the
	// meantime. UnappliedKnown bounds how many are, the last ones: each costs a read once a process has died.
	UnappliedFor   = time.Minute
	UnappliedKnown = 3000
)
