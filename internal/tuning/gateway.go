package tuning

import "time"

// The connections of the API. A client that is slower holds nobody up.
const (
	ReadHeaderTimeout = 5 * time.Second
	ReadTimeout       = 10 * time.Second
	// WriteSlack is the time that an answer has beyond the longest wait for an effect.
	WriteSlack  = 15 * time.Second
	IdleTimeout = 60 * time.Second
	// MaxConnections bounds the connections of a listener, beside half of the files that the
	// process may open. An idle one costs about 20 KB.
	MaxConnections = 10_000
	// MetricsConnections bounds those of the address of the metrics, where a few collectors
	// ask. Half of the files for each of two listeners would leave none.
	MetricsConnections = 32
	// LargeBodies is how many bytes of large bodies are in hand at once, those of batches and
	// of dispatches with their items. A body costs three times its size while it is read.
	LargeBodies = 64 << 20
	// LargeBodyWait is how long a large body waits for others to be done.
	LargeBodyWait = 5 * time.Second
	// HeaderBytes bounds the headers of a request.
	HeaderBytes = 16 << 10
	// HeadSlack is what of a head is read beyond HeaderBytes before the framing of a
	// request is given up: the server refuses it earlier (0021).
	HeadSlack = 8 << 10
)

// Requests.
const (
	// BatchWidth is how many bookings of one batch are under way at once.
	BatchWidth = 32
	// RequestIDLen bounds the request id of a caller, in characters.
	RequestIDLen = 128
	// LoggedBytes bounds a text of the caller's choosing in a log line.
	LoggedBytes = 1024
	// UnavailableRetryAfter is after how many seconds a caller may try again while
	// Temporal does not answer.
	UnavailableRetryAfter = 1
	// ReadyTrusted is how long an answer to whether the API is ready is trusted: many may
	// ask, and each question is a query of a workflow.
	ReadyTrusted = time.Second
	// ReadyTimeout bounds that question.
	ReadyTimeout = 2 * time.Second
)

// Receivers that connect by themselves (0045).
const (
	// StreamConnections and StreamConnectionsPerType bound the receivers that are
	// connected to one gateway: each costs about 50 KB, and what its rings weigh.
	StreamConnections        = 1000
	StreamConnectionsPerType = 100
	// StreamRetryAfter is when it is worth trying again where as many are connected.
	StreamRetryAfter = 5 * time.Second
	// StreamWrite is how long one message to a receiver may take.
	StreamWrite = 5 * time.Second
	// StreamPing is the time between two pings, below what common routers and proxies
	// keep a silent connection for, and StreamPong how long the answer may take.
	StreamPing = 15 * time.Second
	StreamPong = 10 * time.Second
	// StreamDrain is how long a receiver may still answer when its gateway stops, within
	// ServerDrain, and StreamFarewell how long its side of the farewell may take.
	StreamDrain    = 3 * time.Second
	StreamFarewell = time.Second
	// StreamGather is how long a long poll waits for more rings than one.
	StreamGather = 20 * time.Millisecond
)

// StreamBuffer is how many bytes of an answer of any length are sent at once.
const StreamBuffer = 32 << 10

// EventPause is the time between two events of one stream, and before a client that lost
// it comes back.
const EventPause = time.Second

// Limits on bookings.
const (
	// SharedLimitTimeout is how long a booking waits for Redis. Its limit is worth less
	// than the booking.
	SharedLimitTimeout = 250 * time.Millisecond
	// SharedLimitConnections are those of one gateway to Redis, which answers in less than
	// a millisecond: 32 carry more bookings than a gateway takes.
	SharedLimitConnections = 32
	// ClosedRetryAfter is when to try again where the rate is 0.
	ClosedRetryAfter = time.Minute
	// LimitedTypes bounds the business types whose limit a process remembers. Business
	// types are hundreds.
	LimitedTypes = 10_000
)
