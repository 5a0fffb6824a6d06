package tuning

import (
	"time"

	"github.com/wakecall/wakecall/core/dispatch"
)

// The last moments of a preloaded timer.
const (
	// LastRecheck is the latest before the due time that a worker asks whether the timer
	// is still wanted: time enough for the answer (0008).
	LastRecheck = 30 * time.Millisecond
	// RecheckWindow and RecheckShare say over how long the questions of a herd are
	// spread: at least the window, and one part in so many of a long preload. Without
	// that they would all reach Temporal at the instant at which the herd is called (0008).
	RecheckWindow = 300 * time.Millisecond
	RecheckShare  = 4
	// RecheckPause is the pause after a question that was not answered.
	RecheckPause = 20 * time.Millisecond
	// EarlyRecheck is how often a timer is rechecked that is preloaded for long: Temporal
	// tells its worker nothing of a cancel that did not come through the API. Of many
	// timers, EarlyRechecks are rechecked a second, about 1 % of a core.
	EarlyRecheck  = 5 * time.Second
	EarlyRechecks = 20
	// ShortPreload is a wait for which no place is needed.
	ShortPreload = time.Second
	// Promptly is how late an attempt may begin on what was known when it was due (0008).
	Promptly = 100 * time.Millisecond
	// ClockSkew is by how much the clocks of Temporal and of a worker may differ. A timer
	// that comes earlier than that waits in Temporal.
	ClockSkew = 5 * time.Second
)

// Attempts.
const (
	// AttemptHeartbeat is the time between two signs of life of an attempt that takes
	// long. An attempt of the default timeout ends before the first: each costs Temporal
	// a write (0017).
	AttemptHeartbeat = 10 * time.Second
	// AnswerDrain bounds the wait for the rest of an answer whose status is known:
	// reading it only serves to keep the connection.
	AnswerDrain = 500 * time.Millisecond
	// TLSConfigs bounds the TLS configurations that are kept beside the common one. One
	// that is asked for again after it was dropped is made again (0025).
	TLSConfigs = 128
	// CompletionSlack is for the way of a report into the workflow. One that came after
	// the activity has timed out would be lost, and the receiver called again (0008).
	CompletionSlack = 5 * time.Second
	// ReportSlack is for the way of a report to Temporal.
	ReportSlack = 3 * time.Second
	// StateRetries is for how long Temporal may leave the question unanswered how a
	// delivery stands, and StateRetryPause the time between two of them (0016).
	StateRetries    = 10 * time.Second
	StateRetryPause = 200 * time.Millisecond
)

// Connections to receivers by HTTP.
const (
	// ReceiverConnectTimeout bounds a connection, and ReceiverTLSTimeout its handshake.
	ReceiverConnectTimeout = 5 * time.Second
	ReceiverTLSTimeout     = 5 * time.Second
	// ReceiverKeepAlive is the time between two probes of a connection.
	ReceiverKeepAlive = 30 * time.Second
	// ReceiverIdleTimeout is how long a connection is kept that nobody uses: below what
	// common servers keep theirs, so that the receiver seldom closes it first.
	ReceiverIdleTimeout = 30 * time.Second
	// IdleConnections and IdleConnectionsPerReceiver bound those that are kept.
	IdleConnections            = 1024
	IdleConnectionsPerReceiver = 64
	// ReceiverHeaderBytes bounds the headers of an answer (docs/limits.md).
	ReceiverHeaderBytes = 32 << 10
)

// Connections to message brokers.
const (
	// BrokerChannels are open at most: as many attempts are on their way to one broker.
	BrokerChannels = 256
	// BrokerConnectTimeout bounds the way from the first packet to an open connection.
	BrokerConnectTimeout = 5 * time.Second
	// BrokerDeclareTimeout bounds the wait for a channel to declare on. Attempts wait for
	// the declaration no longer than their own time.
	BrokerDeclareTimeout = 5 * time.Second
	// BrokerWriteTimeout bounds one write: a broker that reads nothing must not hold
	// attempts beyond their time.
	BrokerWriteTimeout = 2 * time.Second
	// BrokerCloseTimeout is for the farewell of a connection.
	BrokerCloseTimeout = time.Second
	// BrokerFirstPause and BrokerLongestPause bound the time after a failed connection in
	// which attempts fail at once: a broker that restarts is not stormed.
	BrokerFirstPause   = 100 * time.Millisecond
	BrokerLongestPause = 5 * time.Second
	// BrokerUnconfirmed is how long after its attempt a message keeps its channel that the
	// broker has neither confirmed nor refused: longer than one that is busy takes, for a
	// new channel costs both sides more than a wait.
	BrokerUnconfirmed = time.Second
	// BlockedPatience is for how long a broker is left alone that accepts no messages: it
	// tells when it does again, and other workers ask no more often than this.
	BlockedPatience = 5 * time.Second
	// BrokerLongestExpiration is the longest that RabbitMQ lets a message live: its
	// rabbit_misc:check_expiry refuses a millisecond more, and closes the channel with 406
	// (seen with 3.10.8).
	BrokerLongestExpiration = 10 * 365 * 24 * time.Hour
)

// The two links of a business type.
const (
	// FirstLinkProbe is the time between the failure of a callback and the first attempt
	// that finds out whether it works again, and how long that may take at most: the timer
	// that it is made for is late by so much. Both double with each that fails, up to
	// LongestLinkProbe, so that a callback that is slow is found to work as well.
	FirstLinkProbe   = time.Second
	LongestLinkProbe = 30 * time.Second
	// LinkTolerance is by how much an attempt may come too soon for its type to go over to
	// the fallback: what wakes it goes by another clock.
	LinkTolerance = 50 * time.Millisecond
	// LinkTypes bounds the types whose links are known. One that was dropped is learned
	// anew from its next attempts.
	LinkTypes = 10_000
	// FirstBusyStream is how long an attempt waits again for receivers that took others in
	// its time, which costs an activity each time: twice as long as the last time, up to
	// LongestBusyStream.
	FirstBusyStream   = time.Second
	LongestBusyStream = time.Minute
	// PollLasts is how long a gateway waits for an attempt before it asks Temporal anew.
	PollLasts = 65 * time.Second
	// PollsKnown is for how long it is taken as known when receivers last asked for more.
	PollsKnown = 500 * time.Millisecond
	// HandedEvents is how many of a run's latest events are looked at for what was handed
	// over: it is among the first of them unless many changes came since.
	HandedEvents = 20
	// DrainedWait is how long an attempt stays away from a queue that a worker empties
	// since the policy was changed, where it shall wait for a receiver all the same.
	DrainedWait = time.Second
)

// Attempts that cannot be made.
const (
	// FirstPostponed is how long the first of the tries waits that cannot begin. Each
	// one after it waits twice as long, up to LongestPostponed: a policy that can be read
	// again is in force soon.
	FirstPostponed   = time.Second
	LongestPostponed = 8 * time.Second
	// LongestUncalled bounds the wait of a timer that nobody can be called for. A type
	// whose policy is gone may have very many of them (0004).
	LongestUncalled = time.Minute
	// BackPressureHeard is when every worker has heard of a receiver's wish.
	BackPressureHeard = 15 * time.Second
)

// Receivers that connect by themselves.
const (
	// StreamLead is how long before its due time a timer goes over from the worker that
	// has preloaded it to the gateway to which its receiver is connected (0045).
	StreamLead = 50 * time.Millisecond
	// StreamHeartbeat is the time between two signs of life of an attempt that waits for
	// such a receiver: see [StreamSilence].
	StreamHeartbeat = 3 * time.Second
	// BrokenAtOnce is how often in a row an attempt is made again at once whose
	// connection broke: a message that brings down whoever gets it must not do so all day.
	BrokenAtOnce = 5
	// StreamLinger is how long a gateway is ready to poll for a type after its last
	// receiver has left: below it, one that comes back finds everything as it was.
	StreamLinger = time.Minute
	// StreamRestart is the pause before Temporal is asked again that did not answer.
	StreamRestart = time.Second
	// StreamReport is how long it may take until what came of a ring, or of an answer to one,
	// has reached Temporal when its gateway stops.
	StreamReport = time.Second
)

// Receipts.
const (
	// Receipts outlast the tasks that can be handed out again: at the few hundred
	// attempts a second of one worker, some minutes' worth (0015).
	Receipts = 1 << 16
	// ReceiptsAtOnce are left in their runs at a time by a worker that stops.
	ReceiptsAtOnce = 16
	// ReceiptHeartbeat is the time between two signs of life while an attempt is waited
	// for (0015).
	ReceiptHeartbeat = time.Second
)

// Jobs, while they run.
const (
	// JobBeat is the time between two signs of life while a job waits for its next item.
	JobBeat = time.Second
	// JobTries is how often one item may hold its job up before it counts as failed:
	// waits of 1, 2, 4 and 8 seconds lie between.
	JobTries = 5
	// JobTogether is how long the rate may take to let the items go that begin side by side:
	// at a low rate each one is told of when it is done.
	JobTogether = 100 * time.Millisecond
	// BulkWidth is how many timers a bulk job changes side by side at most (0066).
	BulkWidth = 16
)

// Turns at the places of a worker.
const (
	// LongTurn is after how long a place is left to work of the same business type that
	// waits for one, or of another one with as many.
	LongTurn = time.Minute
	// TurnPatience is how long work waits for its turn at one worker. Another worker may have
	// a place.
	TurnPatience = 30 * time.Second
	// TurnHandover is how long a shard whose place another one shall have waits for its
	// callbacks under way.
	TurnHandover = time.Second
)

// The executors of dispatches (0040).
const (
	// DispatchRead is the time between two readings of what a dispatch goes by: each is one
	// call of Temporal for a process and a dispatch, and no write.
	DispatchRead = 500 * time.Millisecond
	// DispatchTick is the least time between two looks at what is due.
	DispatchTick = time.Millisecond
	// DispatchLate is how late an item may leave. A second loses no more than that of its
	// rate, and none has more than a tenth too much, after a moment without a processor.
	DispatchLate = 80 * time.Millisecond
	// DispatchGap is what a shard makes up for at least where it went from one executor to the
	// next.
	DispatchGap = 500 * time.Millisecond
	// DispatchFull is the pause where nothing can be sent: for want of a place, or of items.
	DispatchFull = 2 * time.Millisecond
	// HindranceLasts is for how long moments that are missed have the reason for which an item
	// could not leave; without one the worker does not keep up.
	HindranceLasts = time.Second
	// CaughtUp is how long no moment may have been missed for a shard to be up to its rate again;
	// at low rates as long as CaughtUpItems take.
	CaughtUp      = 2 * time.Second
	CaughtUpItems = 3
	// DispatchInFlight is how many callbacks of a type without a policy may be under way at
	// once in one worker: at 4,000 a second, those of a quarter of a second. A policy that
	// names no number has policy.DefaultInFlight, which is less.
	DispatchInFlight = 1000
	// DispatchEvents is how many ends of callbacks may wait for the loop.
	DispatchEvents = 1024
	// DispatchStint is how long a shard stays with a worker. One that has joined has its
	// share within twice that. LongestStint holds where there is one shard, and StintItems
	// makes stints longer at low rates, each of which costs Temporal six writes.
	DispatchStint = 30 * time.Second
	LongestStint  = 10 * time.Minute
	StintItems    = 600
	// DispatchHandover is how long a shard that shall go to another worker waits for its
	// callbacks under way, and DispatchHandoverAgain when it tries again.
	DispatchHandover      = 100 * time.Millisecond
	DispatchHandoverAgain = 5 * time.Second
	// DispatchRenewal is how long a stint whose worker Temporal takes for dead waits for the
	// next attempt to come to the same process.
	DispatchRenewal = 10 * time.Second
	// DispatchPatience is how long nothing is sent after an answer 429 that does not say for
	// how long.
	DispatchPatience = 2 * time.Second
	// A claim on a limit of its type holds for as long as a dispatch takes for ClaimItems
	// items, and from ShortestClaim to LongestClaim. It is renewed after half of that.
	ClaimItems    = 800
	ShortestClaim = time.Minute
	LongestClaim  = time.Hour
	// SilentItems is how many items a shard may send in the time for which it may be silent:
	// four times as many as when its stint began.
	SilentItems = 12 * DispatchBeatItems
	// Progress is the least time between two tellings of how far a dispatch is, and
	// ProgressPart the part of the time that it has run for.
	Progress     = 10 * time.Second
	ProgressPart = 50
	// ReadAhead is how many seconds' worth of items are read ahead.
	ReadAhead = 2 * time.Second
	// OpenPages bounds the pages of which some items are under way: each is named in every
	// sign of life.
	OpenPages = 64
	// LadderFlush is how long items that failed wait to be stored together, and
	// LadderPatience how long an executor waits for the next that is due.
	LadderFlush    = 5 * time.Second
	LadderPatience = 5 * time.Second
	// StorePause is the pause after a page that could not be read or written.
	StorePause = time.Second
	// EmptyPagePause is the pause after a page of a loader that had no items.
	EmptyPagePause = 100 * time.Millisecond
	// RecentSeconds is for how many seconds a shard tells what it sent.
	RecentSeconds = 12
)

// DispatchPage is the room on a stored page: Temporal takes 2 MB for a value.
var DispatchPage = dispatch.Room{Items: 1000, Bytes: 512 << 10, Head: 200}

// Want of our own: files, sockets, ports or memory.
const (
	// WantPause is how long a shard rests that has no room for a call.
	WantPause = 2 * time.Second
	// WantLogged is how often it says so in the log.
	WantLogged = time.Minute
)

// LoaderWaits are the waits between questions that a loader does not answer.
var LoaderWaits = []time.Duration{time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 30 * time.Second, time.Minute}
