package tuning

import "time"

// Pollers wait at Temporal for tasks. Each task occupies one for a round trip. Two, the SDK's
// default, would limit a burst to a few hundred a second.
const (
	WorkflowPollers = 16
	DeliveryPollers = 8
	// MinTypePollers and MaxTypePollers bound the pollers of one business type's queue. The
	// server asks for more during a backlog, and an idle queue costs one (0007).
	MinTypePollers = 1
	MaxTypePollers = 8
	// ReceiptPollers take the rare queries for this process's receipts (0015).
	ReceiptPollers = 2
	// ControlPollers take control work, which is rare and short.
	ControlPollers = 2
	// DispatchPollers take the shards of dispatches, which run for long. They are few, so that
	// each of several workers gets its part.
	DispatchPollers = 2
	// JobPollers take jobs, which run for long.
	JobPollers = 2
)

// Slots bound the concurrent work of one worker process. Attempts mostly wait for receivers, so
// slots cost memory and not processor time.
const (
	// FastPathSlots is the number of slots in the bulkhead of the fast path.
	FastPathSlots = 1000
	// WorkflowSlots has room for preloaded timers, and for tasks that change to their queue
	// while every slot of the fast path is taken.
	WorkflowSlots = MaxPreloaded + 2*FastPathSlots
	// DeliverySlots is the number of slots of the default delivery queue.
	DeliverySlots = 1000
	// ControlSlots is large, because an alert URL that hangs must not delay control work.
	ControlSlots = 100
	// JobSlots is large, because a job keeps one while it runs. It may run for weeks, and mostly
	// waits (0066).
	JobSlots = 100
	// JobTasks bounds those and the jobs that wait for their turn.
	JobTasks = 2000
	// DispatchSlots bounds the shards that one worker sends at once. DispatchTasks bounds those
	// and the ones that wait for their turn: a task that waits in Temporal's queue delays
	// others.
	DispatchSlots = 64
	DispatchTasks = 2000
	// JobHeartbeat is the largest age of a job's shown progress, and of its notice of a stop.
	JobHeartbeat = time.Second
)

// Preloading.
const (
	// MaxPreloaded bounds the memory of a worker, in timers (0008).
	MaxPreloaded = 10_000
	// HeldMemory is what a workflow task takes while its timer is held, in bytes, mostly stacks; and
	// WorkerMemory what a process takes beside. A worker uses HeldPart of its GOMEMLIMIT: the collector
	// needs the rest (0008).
	HeldMemory   = 80_000
	WorkerMemory = 150_000_000
	HeldPart     = 0.7
	// MinPreloaded timers are taken even if Temporal records slowly (0008).
	MinPreloaded = 100
	// EagerPart is the divisor of the places of preloaded timers for bookings preloaded at once.
	// The rest is for timers that Temporal hands out (0001).
	EagerPart = 2
)

// The bulkhead.
const (
	// IdleSlotWait bounds the wait of an attempt while no slot of its type becomes free: the
	// receiver hangs.
	IdleSlotWait = time.Second
	// BusySlotWait bounds its wait while slots do become free: a herd is due.
	BusySlotWait = 10 * time.Second
	// QueueSlotWait bounds the wait of an attempt on the queue for the fast path.
	QueueSlotWait = 5 * time.Second
)

// Queues that nothing needs.
const (
	// RetireRounds is the interval of searches for them, in readings of the policies.
	RetireRounds = 3
	// RetireLooks is how many checks in a row must find a queue unneeded.
	RetireLooks = 2
	// RetireChecked bounds the types of one check. Each may cost two counts of Temporal's
	// visibility, which serves few of them.
	RetireChecked = 20
	// RetiredRest is the interval of checks of a type with unpolled queues. More frequent checks
	// would keep a queue in Temporal's memory.
	RetiredRest = 10 * time.Minute
)

// Receivers that connect to Wakecall (0045).
const (
	// StreamWatch is the interval of checks for waiting attempts.
	StreamWatch = 15 * time.Second
	// PolicyHeard is the time in which a changed policy reaches every worker.
	PolicyHeard = 15 * time.Second
	// AnswerPollers take the answers to rings that reached another gateway. They are rare if a
	// client stays with one.
	AnswerPollers = 2
	// StreamPatience is how long attempts wait before an alert. A redeployed receiver is back by
	// that time.
	StreamPatience = time.Minute
)

// Life of a worker.
const (
	// DeadlockTimeout bounds how long a workflow may run without a pause. With the SDK's default
	// of a second, a busy moment counts as a deadlock. The report stops every goroutine to write
	// its stack, and so causes the next one. It once stopped a worker with 5,000 timers for 12
	// s. Wakecall's workflows never block by themselves (0008).
	DeadlockTimeout = 10 * time.Second
	// PollsEnd bounds the end of the polls of a stopping worker. It releases preloaded timers
	// only after that. Temporal would give their next task to an ending poll, and lose it until
	// it times out.
	PollsEnd = time.Second
	// LastQuestions is how long a stopped worker still answers queries for its receipts. Another
	// worker may have a task whose end collided with a change (0015).
	LastQuestions = time.Second
	// StoreReceipts bounds the storage of unclaimed receipts in their runs. They were refused a
	// moment ago, and are few.
	StoreReceipts = 3 * time.Second
)
