package tuning

import (
	"time"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
)

// What workflows go by. Recorded histories were made under these values.
//
// A timeout or an interval that travels within a command takes effect with the next
// command: Temporal compares the kind of a command at a replay, and not its times. A
// number that decides which command comes next is part of a behaviour and changes only
// with a new behaviour number (workflows/behaviour.go); each of those says so.
const (
	// NearlyDue is the wait that an attempt itself may sit out. Below it a second backoff
	// would cost more than it saves: Temporal's timer queue fires what is due within a
	// second late rather than early. It decides which command comes next.
	NearlyDue = time.Second
	// LiveTimeout bounds the longest attempt that any policy may ask for. How long one
	// may really take is the live policy's to say (0017).
	LiveTimeout = delivery.MaxAttemptTimeout + time.Minute
	// Silence is how long a worker may give no sign of life before another one makes its
	// attempt: as long as an attempt of the default length may take without one (0017), and the time
	// in which it learns how the delivery stands and is recorded (0016).
	Silence = delivery.DefaultAttemptTimeout + 15*time.Second
	// StreamSilence is [Silence] for attempts at receivers that connect: a gateway that is
	// killed has cut them off, and the next one shall have the ring soon. An attempt that
	// takes longer than a third of it costs a write for each sign of life (0045).
	StreamSilence = 9 * time.Second
	// AskAgain is the wait after a question that could not be answered (0017). It doubles
	// with each in a row, up to AskAgainLongest: each costs six events, and Temporal ends a
	// workflow that has 51,200. So a timer outlives eight weeks without an answer, and
	// expires no more than that wait after there is one.
	AskAgain        = 10 * time.Second
	AskAgainLongest = 10 * time.Minute
	// RecordSlack is the time between the end of an attempt and Temporal having recorded
	// it (0008).
	RecordSlack = 5 * time.Second
	// FirstAttemptTimeout bounds the longest first attempt, and the wait for its time.
	FirstAttemptTimeout = policy.MaxPreload + delivery.MaxAttemptTimeout + RecordSlack
	// QuestionTimeout is how long a worker may take to answer a short question: what it
	// did of a run (0015), how a delivery stands, why a run was cancelled.
	QuestionTimeout = 5 * time.Second
	// LostTryFirst and LostTryLongest are the waits after tries that left no report, since
	// their worker died. The ladder is the activity's to apply, from the live policy (0016).
	LostTryFirst   = time.Second
	LostTryLongest = time.Minute
)

// The patience of an alert. Whoever watches is told within minutes of being back, and
// not any more after a day.
const (
	AlertTimeout  = 15 * time.Second
	AlertFirst    = 5 * time.Second
	AlertLongest  = 15 * time.Minute
	AlertPatience = 24 * time.Hour
)

// A job may take weeks. A worker that is silent for a while is replaced, and so is, in
// any case, one that has worked for a day: the next one goes on where the last one said
// it was.
const (
	JobSilence = 30 * time.Second
	JobStint   = 24 * time.Hour
	JobFirst   = time.Second
	JobLongest = 30 * time.Second
)

// The entities.
const (
	// RegisteredTypes keeps the memo of the registry far below the 2 MB that Temporal
	// allows. Business types beyond it are found by the list of policies alone (0022).
	RegisteredTypes = 10_000
	// PolicyUpdates keeps an entity's run well below the 2,000 updates that Temporal
	// allows for one run. It decides which command comes next (0004).
	PolicyUpdates = 500
	// PolicyHistory keeps a run's history, in bytes, well below the 50 MB at which
	// Temporal ends it: a change of the largest policy takes 150 KB. It decides which
	// command comes next (0004).
	PolicyHistory = 2 << 20
	// QueueRateTimeout bounds one try to set the rate of a type's queue, and the others
	// are the waits between two of them: a policy is in force within 10 s (0007).
	QueueRateTimeout = 10 * time.Second
	QueueRateFirst   = 200 * time.Millisecond
	QueueRateLongest = 5 * time.Second
)

// Dispatches (0040).
const (
	// DispatchBeat is the least time between two signs of life of a shard, and
	// DispatchSilence after how long without one another worker goes on: what a killed
	// worker would have sent is missing for less than two seconds.
	DispatchBeat    = 250 * time.Millisecond
	DispatchSilence = 1500 * time.Millisecond
	// DispatchBeatItems is how many items a shard sends between two signs of life where that
	// takes longer: each of them costs Temporal a write.
	DispatchBeatItems = 25
	// DispatchLongestBeat bounds the time between two of them.
	DispatchLongestBeat = 20 * time.Second
	// PauseHeard is the longest that a shard goes on to send once its dispatch is paused: it
	// reads that every DispatchRead, and what is read was so MemoTrusted ago at most.
	PauseHeard = time.Second
	// DispatchStintLimit bounds one stint, which ends by itself much earlier.
	DispatchStintLimit = time.Hour
	// DispatchRetryFirst and DispatchRetryLongest are the waits after stints that failed.
	DispatchRetryFirst   = 10 * time.Millisecond
	DispatchRetryLongest = 10 * time.Second
	// DispatchUploadLife is how long an upload may be silent.
	DispatchUploadLife = time.Hour
	// DispatchLead is the time between the start of the shards and their first item: by
	// then each of them is with a worker.
	DispatchLead = 500 * time.Millisecond
	// ShardRate is how many items a second one shard of an upload is made for, and
	// MaxUploadShards how many shards there are at most: those of a killed worker are
	// missing together, and each costs its signs of life.
	ShardRate       = 200
	MaxUploadShards = 8
	// LoaderRate is the same for shards that are loaded at once, of which there are
	// MinLoading to MaxLoading: a slow loader holds up its own shard alone.
	LoaderRate = 100
	MinLoading = 2
	MaxLoading = 16
	// DispatchHistory is how many events the history of a dispatch may have for it to hear of
	// shards that wait for their ladders: each time costs it ten, and Temporal ends a workflow
	// of 51,200. What else it hears of is far less.
	DispatchHistory = 10_000
	// SweepTimeout bounds one try to clear away what a dispatch has stored, and
	// SweepSilence its signs of life.
	SweepTimeout = time.Hour
	SweepSilence = 30 * time.Second
)
