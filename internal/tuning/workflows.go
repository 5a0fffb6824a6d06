package tuning

import (
	"time"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
)

// Parameters of workflows. Recorded histories were made under these values.
//
// A timeout or an interval within a command takes effect with the next command: a replay
// compares the kind of a command, not its times. A number that decides which command comes next
// is part of a behaviour. It changes only with a new behaviour number (workflows/behaviour.go),
// and its comment says so.
const (
	// NearlyDue is the longest wait within an attempt. For a shorter one, a second backoff would
	// cost more than it saves: within a second, Temporal's timer queue fires late rather than
	// early. It decides which command comes next.
	NearlyDue = time.Second
	// LiveTimeout bounds the longest attempt of any policy. The live policy bounds each attempt
	// (0016).
	LiveTimeout = delivery.MaxAttemptTimeout + time.Minute
	// Silence is how long a worker may send no heartbeat before another one makes its attempt.
	// It covers an attempt of the default length without one, and the time to learn and
	// record the state of the delivery (0016).
	Silence = delivery.DefaultAttemptTimeout + 15*time.Second
	// StreamSilence is [Silence] for attempts at receivers that connect. A killed gateway has
	// cut them off, and the next one must get the ring soon. An attempt of more than a third of
	// it costs a write for each heartbeat (0045).
	StreamSilence = 9 * time.Second
	// AskAgain is the wait after an unanswered query (0016). It doubles with each in a row, up
	// to AskAgainLongest: each costs six events, and Temporal ends a workflow with 51,200. So a
	// timer survives eight weeks without an answer, and expires at most that wait after there is
	// one.
	AskAgain        = 10 * time.Second
	AskAgainLongest = 10 * time.Minute
	// RecordSlack is the time for Temporal to record the end of an attempt (0008).
	RecordSlack = 5 * time.Second
	// FirstAttemptTimeout bounds the longest first attempt, with the wait for its time.
	FirstAttemptTimeout = policy.MaxPreload + delivery.MaxAttemptTimeout + RecordSlack
	// QuestionTimeout bounds a worker's answer to a short query: its receipt of a run (0015),
	// the state of a delivery, the reason for a cancel.
	QuestionTimeout = 5 * time.Second
	// ReceiptQuestions is how often a worker is asked for its receipt of a run while it lives and does
	// not answer. All of them take as long as a timer of a dead worker may be late. A worker
	// decides it, and no workflow: it may change.
	ReceiptQuestions = 3
	// LostTryFirst and LostTryLongest are the waits after tries without a report, whose worker
	// died. The activity applies the ladder, from the live policy (0016).
	LostTryFirst   = time.Second
	LostTryLongest = time.Minute
)

// The retries of an alert. Its recipient gets it within minutes of being back, and no longer
// after a day.
const (
	AlertTimeout  = 15 * time.Second
	AlertFirst    = 5 * time.Second
	AlertLongest  = 15 * time.Minute
	AlertPatience = 24 * time.Hour
)

// A test ring has a caller who waits for it, within the time of the longest answer.
const (
	// TestRingWindow is in what a business type has one: the id of a test ring names it in seconds.
	TestRingWindow = time.Second
	// TestRingWait is how long it waits for its turn on the queue of its type.
	TestRingWait = 5 * time.Second
	// TestRingTimeout bounds its attempt, also where the policy waits longer for an answer.
	TestRingTimeout = 15 * time.Second
	// TestRingLife bounds the whole of it: the wait, an attempt, and what records it.
	TestRingLife = 25 * time.Second
)

// A job may take weeks. A silent worker is replaced, and so is any worker after a day. The next
// one resumes from the last heartbeat.
const (
	JobSilence    = 30 * time.Second
	LongestJobRun = 24 * time.Hour
	JobFirst      = time.Second
	JobLongest    = 30 * time.Second
)

// The entities.
const (
	// RegisteredTypes keeps the memo of the registry far below the 2 MB that Temporal allows.
	// Further business types are found by the list of policies alone (0009).
	RegisteredTypes = 10_000
	// PolicyUpdates keeps an entity's run well below the 2,000 updates that Temporal
	// allows for one run. It decides which command comes next (0004).
	PolicyUpdates = 500
	// PolicyHistory keeps a run's history, in bytes, well below the 50 MB at which
	// Temporal ends it: a change of the largest policy takes 150 KB. It decides which
	// command comes next (0004).
	PolicyHistory = 2 << 20
	// QueueRateTimeout bounds one try to set the rate of a type's queue. The others are the
	// waits between two tries: a policy is in force within 10 s (0007).
	QueueRateTimeout = 10 * time.Second
	QueueRateFirst   = 200 * time.Millisecond
	QueueRateLongest = 5 * time.Second
)

// The ledgers.
const (
	// Ledgers is how many ledgers share the business types: an entry of a process costs three
	// state transitions for each of them. It decides where the counts of a type are found.
	Ledgers = 16
	// LedgerBytes is how large the state of a ledger may be when it continues, by an estimate that
	// may be too small by half. That is the state of 30 busy types hour by hour. Temporal refuses 2 MB.
	LedgerBytes = 5 << 18
	// LedgerEvery is how often a process hands over its counts: a crash loses those of a
	// minute at most.
	LedgerEvery = time.Minute
	// LedgerTimeout bounds one try to hand them over. Half of it is for the ends in doubt.
	LedgerTimeout = 10 * time.Second
	// LedgerAsks is how many ends in doubt are asked for at once, and LedgerEvents how many of
	// the latest events of such a run are read: the last task has fewer commands.
	LedgerAsks   = 8
	LedgerEvents = 20
	// LedgerUnjudged is how many ends wait until their policy can be read. One takes 200 bytes.
	LedgerUnjudged = 1 << 16
	// LedgerDoubts is how long an end stays in doubt: longer than a task can be completed.
	LedgerDoubts = 5 * time.Minute
	// LedgerEntries keeps a ledger's run below 4,000 events. It decides which command comes
	// next.
	LedgerEntries = 500
	// LedgerSenderLife is how long a ledger remembers the last entry of a process: longer than
	// a process repeats one.
	LedgerSenderLife = 24 * time.Hour
)

// Dispatches (0040).
const (
	// DispatchBeat is the shortest heartbeat interval of a shard. After DispatchSilence without
	// one another worker takes over. The items of a killed worker are missing for less than two
	// seconds.
	DispatchBeat    = 250 * time.Millisecond
	DispatchSilence = 1500 * time.Millisecond
	// DispatchBeatItems is how many items a shard sends between two heartbeats, if that takes
	// longer, because each costs Temporal a write.
	DispatchBeatItems = 25
	// DispatchLongestBeat bounds the heartbeat interval.
	DispatchLongestBeat = 20 * time.Second
	// PauseHeard bounds how long a shard goes on after a pause of its dispatch. It reads the
	// plan every DispatchRead, at most MemoTrusted old.
	PauseHeard = time.Second
	// ShardRunLimit bounds one shard run, which normally ends much earlier.
	ShardRunLimit = time.Hour
	// DispatchRetryFirst and DispatchRetryLongest are the waits after failed shard runs.
	DispatchRetryFirst   = 10 * time.Millisecond
	DispatchRetryLongest = 10 * time.Second
	// DispatchUploadLife is how long an upload may be silent.
	DispatchUploadLife = time.Hour
	// DispatchLead is the time between the start of the shards and their first item. It gets
	// each shard to a worker.
	DispatchLead = 500 * time.Millisecond
	// ShardRate is the planned rate of one shard of an upload, in items a second.
	// MaxUploadShards bounds the shards: those of a killed worker are missing together, and each
	// costs its heartbeats.
	ShardRate       = 200
	MaxUploadShards = 8
	// LoaderRate is the same for shards that load concurrently, from MinLoading to MaxLoading of
	// them. A slow loader delays only its own shard.
	LoaderRate = 100
	MinLoading = 2
	MaxLoading = 16
	// DispatchHistory bounds the history of a dispatch that gets reports of shards waiting for
	// their ladders. Each report costs ten events, and Temporal ends a workflow of 51,200. Other
	// reports are far fewer.
	DispatchHistory = 10_000
	// SweepTimeout bounds one try to clear away the stored objects of a dispatch, and
	// SweepSilence the time between its heartbeats.
	SweepTimeout = time.Hour
	SweepSilence = 30 * time.Second
)
