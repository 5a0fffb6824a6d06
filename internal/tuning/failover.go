package tuning

import "time"

// Workers that died (0079).
const (
	// SignEvery is the time between two signs of life of a worker process, and between two
	// readings of the signs of the others. A sign costs a call, and no write.
	SignEvery = time.Second
	// SignTimeout bounds one of these calls.
	SignTimeout = 2 * time.Second
	// A worker takes another one for dead once the sign of the other one has not changed for
	// DeadAfter, while it has seen DeadSigns changes of its own. A slow Temporal is slow for both.
	DeadSigns = 4
	DeadAfter = 4 * time.Second
	// EndedSigns and EndedAfter are the same if the machine itself has no such process. They are
	// not zero, because another machine may look like this one, such as a clone: there the worker
	// gives another sign.
	EndedSigns = 2
	EndedAfter = 2 * time.Second
	// LostSigns and LostAfter are the same for its attempts on the queues. Such an attempt may be
	// under way, so repeating it takes more evidence than taking over a timer that waits.
	LostSigns = 9
	LostAfter = 9 * time.Second
	// SignTrusted is how long after its last accepted sign a worker may ring without a recheck. It
	// is shorter than DeadAfter, so that no other worker has its timers yet.
	SignTrusted = 3 * time.Second
	// A worker that stood still waits until the others have seen a sign of it, before it rings the
	// timers that it had. HeardWithin bounds that wait, and HeardPoll is the time between two
	// checks.
	HeardWithin = 5 * time.Second
	HeardPoll   = SignEvery / 4
	// JudgementTrusted is how long the judgement of which workers live is trusted.
	JudgementTrusted = 3 * time.Second
	// DeadRemembered is how long a dead worker is known by its last sign. Temporal
	// remembers it for five minutes.
	DeadRemembered = 10 * time.Minute
	// SignDoubted is by how much the time of a sign may differ from the clock of a gateway that lists
	// processes. Beyond it, clocks alone do not explain the difference, and the gateway looks again
	// after SignAgain: a process that lives has given another sign by then.
	SignDoubted = DeadAfter + ClockSkew
	SignAgain   = SignEvery + SignEvery/2
	// PollersTold is the time between two heartbeats of the SDK's workers. They name the pollers of
	// a process, which are ended if it freezes.
	PollersTold = 10 * time.Second
)

// The timers of dead workers are freed in the order of their due times.
const (
	// FreesAtOnce is how many timers a worker checks at once.
	FreesAtOnce = 16
	// FreedSoon is how long before its due time a timer is freed as fast as Temporal can.
	// What is due later goes at [DispatchPerSecond].
	FreedSoon = 10 * time.Second
	// OldestHeld is how long a timer may be overdue and still be held by a worker that got it in
	// time: the longest task timeout and a minute. A search checks OlderLooked of the timers that
	// are overdue for longer.
	OldestHeld  = 3 * time.Minute
	OlderLooked = 100
	// TaskArrives is how long a task may be on its way to its worker.
	TaskArrives = 2 * time.Second
	// AttemptsLooked is the most timers past their first attempt that a search checks, and
	// AttemptLooks is how many it checks a second.
	AttemptsLooked = 1000
	AttemptLooks   = 100
	// SweepPause is the time between two passes of a search. The search ends after QuietSweeps
	// passes in a row that freed nothing: visibility lags by seconds if the database is
	// overloaded, and a frozen worker may be handed a few more timers.
	SweepPause  = 2 * time.Second
	QuietSweeps = 8
	// If no worker has died, the pause after a pass is SweepRest times as long as the pass: a list
	// of ten thousand timers costs Temporal seconds.
	SweepRest = 4
)

// The changes that a dead worker should have applied.
const (
	// UnappliedLook is the time between two checks of the changes of this process that are not
	// applied after UnappliedAfter. A worker needs milliseconds. With [SignDoubted] and [SignAgain]
	// a death is known in time.
	UnappliedLook  = 2 * time.Second
	UnappliedAfter = 5 * time.Second
	// UnappliedFor is how long a change is checked: Temporal may itself have stood still meanwhile.
	// UnappliedKnown bounds the changes that are checked, to the latest ones: each costs a read once
	// a process has died.
	UnappliedFor   = time.Minute
	UnappliedKnown = 3000
)
