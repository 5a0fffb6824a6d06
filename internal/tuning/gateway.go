package tuning

import "time"

// The connections of the API. A slower client delays no other.
const (
	ReadHeaderTimeout = 5 * time.Second
	ReadTimeout       = 10 * time.Second
	// WriteSlack is the time for an answer beyond the longest wait for an effect.
	WriteSlack  = 15 * time.Second
	IdleTimeout = 60 * time.Second
	// MaxConnections bounds the connections of a listener, beside half of the files of the
	// process. An idle connection costs about 20 KB.
	MaxConnections = 10_000
	// MetricsConnections bounds the connections to the metrics, for a few collectors. Half of
	// the files for each of two listeners would leave none.
	MetricsConnections = 32
	// LargeBodies bounds the bytes of large bodies in progress: batches, and dispatches with
	// their items. A body costs three times its size during the read.
	LargeBodies = 64 << 20
	// LargeBodyWait is how long a large body waits for others.
	LargeBodyWait = 5 * time.Second
	// HeaderBytes bounds the headers of a request.
	HeaderBytes = 16 << 10
	// HeadSlack is how much more than HeaderBytes of a head is read before the framing of a
	// request is given up. The server refuses it earlier (0021).
	HeadSlack = 8 << 10
)

// Requests.
const (
	// BatchWidth is how many bookings of one batch run concurrently.
	BatchWidth = 32
	// RequestIDLen bounds the request id of a caller, in characters.
	RequestIDLen = 128
	// LoggedBytes bounds a caller's text in a log line.
	LoggedBytes = 1024
	// UnavailableRetryAfter is the wait before another try while Temporal does not answer, in
	// seconds.
	UnavailableRetryAfter = 1
	// ReadyTrusted is how long the readiness of the API is cached: each check is a query of a
	// workflow, and many may ask.
	ReadyTrusted = time.Second
	// ReadyTimeout bounds that check.
	ReadyTimeout = 2 * time.Second
	// ChecksTrusted is how long the other checks are cached that are made when a caller asks.
	ChecksTrusted = 5 * time.Second
	// PollerGone is after how long without a question a worker is gone. A question for work waits
	// up to a minute at Temporal.
	PollerGone = 90 * time.Second
)

// The records of calls that a gateway keeps in memory, to list them (0074).
const (
	// AuditTimers and AuditOthers are how many are kept of the calls of programs about single
	// timers, and of all others. One costs about 600 bytes.
	AuditTimers = 2_000
	AuditOthers = 4_000
	// AuditValues is how many bytes of values one has.
	AuditValues = 4 << 10
	// AuditBody is how many bytes are read of a call that is refused before its body is, to record what it
	// was aimed at, and AuditTypes how many business types that may be.
	AuditBody  = 64 << 10
	AuditTypes = 50
	// AuditLoaded is how much of the end of the file of records is read at the start, in bytes. The
	// calls that a crash cut off are searched for there as well.
	AuditLoaded = 4 << 20
)

// Receivers that connect to Wakecall (0045).
const (
	// StreamConnections and StreamConnectionsPerType bound the receivers of one gateway: each
	// costs about 50 KB, plus its rings.
	StreamConnections        = 1000
	StreamConnectionsPerType = 100
	// StreamRetryAfter is the wait before another try at that bound.
	StreamRetryAfter = 5 * time.Second
	// StreamWrite bounds one message to a receiver.
	StreamWrite = 5 * time.Second
	// StreamPing is the interval of pings, below the idle timeout of common routers and proxies.
	// StreamPong bounds the wait for the answer.
	StreamPing = 15 * time.Second
	StreamPong = 10 * time.Second
	// StreamDrain is how long a receiver may still answer while its gateway stops, within
	// ServerDrain. StreamFarewell bounds the closing handshake.
	StreamDrain    = 3 * time.Second
	StreamFarewell = time.Second
	// StreamGather is how long a long poll waits for further rings.
	StreamGather = 20 * time.Millisecond
)

// StreamBuffer is how many bytes of an unbounded answer are sent at once.
const StreamBuffer = 32 << 10

// EventPause is the time between two events of one stream, and before a client reconnects.
const EventPause = time.Second

// Limits on bookings.
const (
	// SharedLimitTimeout is how long a booking waits for Redis. The limit is worth less than the
	// booking.
	SharedLimitTimeout = 250 * time.Millisecond
	// SharedLimitConnections bounds the connections of one gateway to Redis. Redis answers in
	// less than a millisecond, so 32 carry more bookings than a gateway takes.
	SharedLimitConnections = 32
	// ClosedRetryAfter is the wait before another try if the rate is 0.
	ClosedRetryAfter = time.Minute
	// LimitedTypes bounds the business types with a limit in memory. Business types are
	// hundreds.
	LimitedTypes = 10_000
)
