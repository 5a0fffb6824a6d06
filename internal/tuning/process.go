package tuning

import "time"

// The connection to Temporal. By the SDK's defaults a process waits up to ten seconds
// before it tries again to reach a Temporal that is back, and notices a silent network
// after 45 seconds.
const (
	FirstReconnect   = 100 * time.Millisecond
	LongestReconnect = time.Second
	ConnectTimeout   = 5 * time.Second
	// KeepAlive is the time between two questions whether the connection lives. Temporal
	// closes those that ask more often than each ten seconds (frontend.keepAliveMinTime).
	KeepAlive = 15 * time.Second
	// KeepAliveTimeout is how long the answer may take.
	KeepAliveTimeout = 5 * time.Second
)

// Life of a process.
const (
	// ServerDrain is how long requests that have begun may take when a server stops.
	ServerDrain = 5 * time.Second
	// TelemetryDrain is how long the exporters may take to end.
	TelemetryDrain = time.Second
	// LabelledTypes bounds the business types that are labels of metrics. One of a
	// thousand costs about 50 series.
	LabelledTypes = 1000
	// LabelValues bounds the values of one label of the SDK's: a queue for each business
	// type, and a few more.
	LabelValues = LabelledTypes + 100
)
