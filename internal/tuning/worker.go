package tuning

import "time"

// Pollers wait at Temporal for tasks; each task that is handed out occupies one for a
// round trip. Two, the SDK's default, would hold a burst to a few hundred a second.
const (
	WorkflowPollers = 16
	DeliveryPollers = 8
	// MinTypePollers and MaxTypePollers are those of one business type's queue. The
	// server asks for more while there is a backlog, and an idle queue costs one (0007).
	MinTypePollers = 1
	MaxTypePollers = 8
	// ReceiptPollers take the rare questions of what this process did (0015).
	ReceiptPollers = 2
	// ControlPollers take control work, which is rare and short.
	ControlPollers = 2
	// DispatchPollers take the shards of dispatches, each of which then runs for long. Few of
	// them: where several workers poll, each shall get its part.
	DispatchPollers = 2
	// JobPollers take jobs, each of which then runs for long.
	JobPollers = 2
)

// Slots bound what one worker process does at once. Attempts spend their time waiting
// for receivers, so slots cost memory and not processor time.
const (
	// FastPathSlots is what the bulkhead of the fast path shares out.
	FastPathSlots = 1000
	// WorkflowSlots leave room for preloaded timers, and for tasks that go over to their
	// queue while every slot of the fast path is taken.
	WorkflowSlots = MaxPreloaded + 2*FastPathSlots
	// DeliverySlots are those of the default delivery queue.
	DeliverySlots = 1000
	// ControlSlots are many: an alert URL that hangs must not hold control work up.
	ControlSlots = 100
	// JobSlots are many: a job takes one for as long as it runs, which may be weeks, and
	// waits for most of that time (0066).
	JobSlots = 100
	// JobTasks are those and the jobs that wait for their turn.
	JobTasks = 2000
	// DispatchSlots are the shards that one worker sends at once. DispatchTasks are those and
	// the ones that wait for their turn: whoever waits in Temporal's queue holds up others.
	DispatchSlots = 64
	DispatchTasks = 2000
	// JobHeartbeat is how old the progress of a job may be that is shown, and how
	// long it may take to hear that it shall stop.
	JobHeartbeat = time.Second
)

// Preloading.
const (
	// MaxPreloaded bounds the memory of a worker, in timers: about 80 KB for each (0008).
	MaxPreloaded = 10_000
	// MinPreloaded timers are taken however slowly Temporal records (0008).
	MinPreloaded = 100
	// EagerPart is by what the places of preloaded timers are divided for bookings that are
	// preloaded at once: the rest is for what Temporal hands out (0039).
	EagerPart = 2
)

// The bulkhead.
const (
	// IdleSlotWait is how long an attempt waits while no slot of its type becomes free:
	// the receiver hangs.
	IdleSlotWait = time.Second
	// BusySlotWait is how long it waits while slots do become free: a herd is due.
	BusySlotWait = 10 * time.Second
	// QueueSlotWait is how long an attempt on the queue waits for the fast path.
	QueueSlotWait = 5 * time.Second
)

// Queues that nothing needs any more.
const (
	// RetireRounds is after how many readings of the policies it is looked for them.
	RetireRounds = 3
	// RetireLooks is at how many looks in a row nothing must need a queue.
	RetireLooks = 2
	// RetireChecked is how many types are asked about at one look. Each may cost two counts
	// of Temporal's visibility, which takes few of them.
	RetireChecked = 20
	// RetiredRest is the time between two looks at a type whose queues nobody polls. A queue
	// that is looked at more often stays in Temporal's memory.
	RetiredRest = 10 * time.Minute
)

// Receivers that connect by themselves (0045).
const (
	// StreamWatch is the time between two looks at what waits for them.
	StreamWatch = 15 * time.Second
	// PolicyHeard is when every worker goes by a policy that was changed.
	PolicyHeard = 15 * time.Second
	// AnswerPollers take the answers to rings that came to another gateway, which are rare
	// where a client keeps to one.
	AnswerPollers = 2
	// StreamPatience is for how long attempts wait before somebody is told: a receiver
	// that is deployed anew is back by then.
	StreamPatience = time.Minute
)

// Life of a worker.
const (
	// DeadlockTimeout is how long a workflow may run without a pause. With the SDK's
	// default of a second a busy moment counts as a deadlock, and the search for it,
	// which stops every goroutine to write down its stack, makes the next: it was seen to
	// stop a worker with 5,000 timers for 12 s. Wakecall's workflows wait for nothing on
	// their own (0008).
	DeadlockTimeout = 10 * time.Second
	// PollsEnd is how long the polls of a stopping worker may take to end. No preloaded
	// timer is released before: Temporal would give its next task to a poll that ends,
	// where the task is lost until it times out.
	PollsEnd = time.Second
	// LastQuestions is how long a stopped worker still answers for its receipts: a task
	// whose end collided with a change is with another worker by now (0015).
	LastQuestions = time.Second
	// LeaveReceipts is how long it may take to leave in their runs those that nobody asked
	// for: they were refused a moment ago, and are few.
	LeaveReceipts = 3 * time.Second
)
