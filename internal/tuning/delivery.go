package tuning

import (
	"time"

	"github.com/wakecall/wakecall/core/dispatch"
)

// The last moments of a preloaded timer.
const (
	// LastRecheck is the latest time before the due time at which a worker checks whether the
	// timer is still wanted. It leaves time for the answer (0008).
	LastRecheck = 30 * time.Millisecond
	// RecheckWindow and RecheckShare spread the checks of a herd: over at least the window, and
	// over one part in so many of a long preload. Otherwise all would reach Temporal at the due
	// time of the herd (0008).
	RecheckWindow = 300 * time.Millisecond
	RecheckShare  = 4
	// RecheckPause is the pause after an unanswered check.
	RecheckPause = 20 * time.Millisecond
	// EarlyRecheck is the interval of checks of a timer with a long preload, because Temporal
	// does not notify its worker of a cancel outside the API. EarlyRechecks bounds the checks a
	// second over many timers, about 1 % of a core.
	EarlyRecheck  = 5 * time.Second
	EarlyRechecks = 20
	// ShortPreload is a wait that needs no place.
	ShortPreload = time.Second
	// Promptly is how late an attempt may begin with information from its due time (0008).
	Promptly = 100 * time.Millisecond
	// ConfirmedFor is for how long an attempt that waits for its settings or a slot may trust what
	// Temporal told of its timer. It is less than the time for which a change waits for its effect by
	// default: no callback without the change follows the answer that it is accepted.
	ConfirmedFor = time.Second
	// ClockSkew is the largest expected difference between the clocks of Temporal and of a
	// worker. A timer that comes earlier waits in Temporal.
	ClockSkew = 5 * time.Second
)

// Attempts.
const (
	// AttemptHeartbeat is the heartbeat interval of a long attempt. An attempt of the default
	// timeout ends before the first heartbeat, since each costs Temporal a write (0016).
	AttemptHeartbeat = 10 * time.Second
	// AnswerDrain bounds the wait for the rest of an answer after its status. Reading it only
	// serves to reuse the connection.
	AnswerDrain = 500 * time.Millisecond
	// TLSConfigs bounds the cached TLS configurations beside the common one. A dropped one is
	// rebuilt at its next use (0019).
	TLSConfigs = 128
	// CompletionSlack is the time for a report to reach the workflow. A report after the timeout
	// of the activity would be lost, and the receiver called again (0008).
	CompletionSlack = 5 * time.Second
	// ReportSlack is the time for a report to reach Temporal.
	ReportSlack = 3 * time.Second
	// StateRetries bounds the retries of the query for a delivery's state. StateRetryPause is
	// the pause between two of them (0016).
	StateRetries    = 10 * time.Second
	StateRetryPause = 200 * time.Millisecond
)

// Connections to receivers by HTTP.
const (
	// ReceiverConnectTimeout bounds the dial of a connection, and ReceiverTLSTimeout its
	// handshake.
	ReceiverConnectTimeout = 5 * time.Second
	ReceiverTLSTimeout     = 5 * time.Second
	// ReceiverKeepAlive is the time between two probes of a connection.
	ReceiverKeepAlive = 30 * time.Second
	// ReceiverIdleTimeout is how long an idle connection is kept. It is below that of common
	// servers: the receiver seldom closes first.
	ReceiverIdleTimeout = 30 * time.Second
	// ReceiverSilence is how long an HTTP/2 connection may bring nothing before it is tested with a
	// ping, and ReceiverPing bounds the wait for the answer. Together they are below the default
	// timeout of an attempt and the first step of the default ladder, so that the second attempt
	// does not use a dead connection.
	ReceiverSilence = 5 * time.Second
	ReceiverPing    = 10 * time.Second
	// IdleConnections and IdleConnectionsPerReceiver bound the idle connections.
	IdleConnections            = 1024
	IdleConnectionsPerReceiver = 64
	// AttemptSends is how often net/http may send a request before it opens no further connection for
	// it. Each time that an HTTP/2 receiver turns the request away (GOAWAY), net/http opens another
	// one, as fast as it can and until the timeout: 3,000 in 10 s were seen. A receiver that serves one
	// stream at a time refuses some in good order (REFUSED_STREAM): more than 6 times for one of 50
	// attempts at once.
	AttemptSends = 100
	// ReceiverHeaderBytes bounds the headers of an answer (docs/limits.md).
	ReceiverHeaderBytes = 32 << 10
)

// Connections to message brokers.
const (
	// BrokerChannels bounds the open channels, and so the concurrent attempts to one broker.
	BrokerChannels = 256
	// BrokerConnectTimeout bounds the time from the first packet to an open connection.
	BrokerConnectTimeout = 5 * time.Second
	// BrokerDeclareTimeout bounds the wait for a channel for declarations. An attempt waits for
	// the declaration at most its own time.
	BrokerDeclareTimeout = 5 * time.Second
	// BrokerWriteTimeout bounds one write. A broker that does not read must not delay attempts
	// beyond their time.
	BrokerWriteTimeout = 2 * time.Second
	// BrokerCloseTimeout bounds the closing handshake of a connection.
	BrokerCloseTimeout = time.Second
	// BrokerFirstPause and BrokerLongestPause bound the time after a failed connection in which
	// attempts fail at once. They protect a restarting broker.
	BrokerFirstPause   = 100 * time.Millisecond
	BrokerLongestPause = 5 * time.Second
	// BrokerUnconfirmed is how long an unconfirmed message keeps its channel after its attempt.
	// It is longer than a busy broker takes, because a new channel costs both sides more than a
	// wait.
	BrokerUnconfirmed = time.Second
	// BlockedPatience is the pause for a broker that accepts no messages. The broker reports
	// when it accepts them again, and other workers try no more often than this.
	BlockedPatience = 5 * time.Second
	// BrokerLongestExpiration is the longest expiration of a message in RabbitMQ. Its
	// rabbit_misc:check_expiry refuses a millisecond more, and closes the channel with 406 (seen
	// with 3.10.8).
	BrokerLongestExpiration = 10 * 365 * 24 * time.Hour
)

// The two links of a business type.
const (
	// FirstLinkProbe is the wait after the failure of a callback before an attempt tests it
	// again. It also bounds the attempt, and so the lateness of its timer. Both double after
	// each failed test, up to LongestLinkProbe, so that a slow callback can pass too.
	FirstLinkProbe   = time.Second
	LongestLinkProbe = 30 * time.Second
	// LinkTolerance is how far before its time an attempt may change its type to the fallback.
	// It is woken by another clock.
	LinkTolerance = 50 * time.Millisecond
	// LinkTypes bounds the types with a known link. A dropped one is learned again from its next
	// attempts.
	LinkTypes = 10_000
	// FirstBusyStream is the first extra wait of an attempt whose receivers took others. Each
	// wait costs an activity, and is twice as long as the last, up to LongestBusyStream.
	FirstBusyStream   = time.Second
	LongestBusyStream = time.Minute
	// PollLasts is how long a gateway waits for an attempt in one poll of Temporal.
	PollLasts = 65 * time.Second
	// PollsKnown is how long the time of the receivers' last poll is cached.
	PollsKnown = 500 * time.Millisecond
	// PriorEvents is how many of a run's latest events are searched for the start of its attempts.
	// It is among the first of them, except after many changes.
	PriorEvents = 20
	// DrainedWait is how long an attempt stays off a queue that a worker drains after a change
	// of the policy, if it must wait for a receiver.
	DrainedWait = time.Second
)

// Attempts that cannot be made.
const (
	// FirstPostponed is the wait after the first try that cannot begin. Each further wait is
	// twice as long, up to LongestPostponed, so that a policy is in force soon after it is
	// readable again.
	FirstPostponed   = time.Second
	LongestPostponed = 8 * time.Second
	// LongestUncalled bounds the wait of a timer without a receiver. A type without a policy may
	// have very many of them (0004).
	LongestUncalled = time.Minute
	// BackPressureHeard is the time in which every worker learns of a receiver's request for a
	// pause.
	BackPressureHeard = 15 * time.Second
)

// Receivers that connect to Wakecall.
const (
	// StreamLead is how long before its due time a timer moves from the preloading worker to its
	// receiver's gateway (0045).
	StreamLead = 50 * time.Millisecond
	// StreamHeartbeat is the heartbeat interval of an attempt that waits for such a receiver:
	// see [StreamSilence].
	StreamHeartbeat = 3 * time.Second
	// BrokenAtOnce bounds the immediate retries in a row after broken connections. A message
	// that crashes its receivers must not do so all day.
	BrokenAtOnce = 5
	// StreamLinger is how long a gateway stays ready to poll for a type after its last receiver
	// left, so that a returning one finds all in place.
	StreamLinger = time.Minute
	// StreamRestart is the pause before another request to Temporal after an unanswered one.
	StreamRestart = time.Second
	// StreamReport bounds the report of a ring or of an answer to Temporal while its gateway
	// stops.
	StreamReport = time.Second
)

// Receipts.
const (
	// Receipts bounds the stored receipts. They outlast the tasks that can be handed out again:
	// some minutes at the few hundred attempts a second of one worker (0015).
	Receipts = 1 << 16
	// ReceiptsAtOnce is how many receipts a stopping worker leaves in their runs at a time.
	ReceiptsAtOnce = 16
	// ReceiptHeartbeat is the heartbeat interval during the wait for an attempt (0015).
	ReceiptHeartbeat = time.Second
)

// Jobs, while they run.
const (
	// JobBeat is the heartbeat interval while a job waits for its next item.
	JobBeat = time.Second
	// JobTries is how often one item is tried before it counts as failed, with waits of 1, 2, 4
	// and 8 seconds.
	JobTries = 5
	// JobTogether bounds the time to release the items of one round. At a low rate each item is
	// reported when it is done.
	JobTogether = 100 * time.Millisecond
	// BulkWidth bounds the timers that a bulk job changes concurrently (0066).
	BulkWidth = 16
)

// Turns at the places of a worker.
const (
	// LongTurn is the time after which work yields its place to waiting work of the same
	// business type, or of another with as many places.
	LongTurn = time.Minute
	// TurnPatience is how long work waits for its turn at one worker. Another worker may have a
	// place.
	TurnPatience = 30 * time.Second
	// TurnHandover is how long a shard that yields its place waits for its callbacks in
	// progress.
	TurnHandover = time.Second
)

// The executors of dispatches (0040).
const (
	// DispatchRead is the interval at which executors read the plan of a dispatch. Each read is
	// one call of Temporal for a process and a dispatch, and no write.
	DispatchRead = 500 * time.Millisecond
	// DispatchTick is the shortest interval between two checks of what is due.
	DispatchTick = time.Millisecond
	// DispatchLate is how late an item may leave. After a moment without a processor, a second
	// loses at most that part of its rate, and none exceeds it by more than a tenth.
	DispatchLate = 80 * time.Millisecond
	// DispatchGap is the least gap that a shard catches up after it moved between executors.
	DispatchGap = 500 * time.Millisecond
	// DispatchFull is the pause for want of a place or of items.
	DispatchFull = 2 * time.Millisecond
	// HindranceLasts is how long missed moments are attributed to the last reason that held an
	// item. Without one the worker does not keep up.
	HindranceLasts = time.Second
	// CaughtUp is the time without a missed moment after which a shard is up to its rate again.
	// At low rates it is the time of CaughtUpItems.
	CaughtUp      = 2 * time.Second
	CaughtUpItems = 3
	// DispatchInFlight bounds the concurrent callbacks of a type without a policy in one worker:
	// a quarter of a second at 4,000 a second. A policy without a number has
	// policy.DefaultInFlight, which is less.
	DispatchInFlight = 1000
	// DispatchEvents bounds the finished callbacks that wait for the loop.
	DispatchEvents = 1024
	// ShardRun is how long a shard stays with a worker. A new worker has its share within
	// twice that. LongestShardRun applies to a single shard. ShardRunItems makes them longer at low
	// rates, because each shard run costs Temporal six writes.
	ShardRun        = 30 * time.Second
	LongestShardRun = 10 * time.Minute
	ShardRunItems   = 600
	// DispatchHandover is how long a shard that must move waits for its callbacks in progress,
	// and DispatchHandoverAgain the pause before it tries again.
	DispatchHandover      = 100 * time.Millisecond
	DispatchHandoverAgain = 5 * time.Second
	// DispatchRenewal is how long a shard run waits for its next attempt in the same process, after
	// Temporal took its worker for dead.
	DispatchRenewal = 10 * time.Second
	// DispatchPatience is the pause after an answer 429 without a time.
	DispatchPatience = 2 * time.Second
	// A dispatch's claim on the limit of its type holds for the time of ClaimItems items, from
	// ShortestClaim to LongestClaim. It is renewed after half of that.
	ClaimItems    = 800
	ShortestClaim = time.Minute
	LongestClaim  = time.Hour
	// SilentItems bounds the items that a shard may send within its heartbeat timeout: four
	// times as many as at the start of its shard run.
	SilentItems = 12 * DispatchBeatItems
	// Progress is the shortest interval between two reports of a dispatch's progress.
	// ProgressPart is the part of its running time for the interval.
	Progress     = 10 * time.Second
	ProgressPart = 50
	// ReadAhead is how far ahead items are read, as time at the rate.
	ReadAhead = 2 * time.Second
	// OpenPages bounds the pages with items in progress, because each heartbeat names them.
	OpenPages = 64
	// LadderFlush is how long failed items wait to be stored together. LadderPatience is how
	// long an executor waits for the next due one.
	LadderFlush    = 5 * time.Second
	LadderPatience = 5 * time.Second
	// StorePause is the pause after a page that could not be read or written.
	StorePause = time.Second
	// EmptyPagePause is the pause after an empty page of a loader.
	EmptyPagePause = 100 * time.Millisecond
	// RecentSeconds is how many seconds a shard's report of sent items covers.
	RecentSeconds = 12
)

// DispatchPage is the room on a stored page: Temporal accepts 2 MB for a value.
var DispatchPage = dispatch.Room{Items: 1000, Bytes: 512 << 10, Head: 200}

// Shortage of our own resources: files, sockets, ports or memory.
const (
	// WantPause is the pause of a shard without resources for a call.
	WantPause = 2 * time.Second
	// WantLogged is the interval of its log lines.
	WantLogged = time.Minute
)

// LoaderWaits are the waits between unanswered requests to a loader.
var LoaderWaits = []time.Duration{time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 30 * time.Second, time.Minute}
