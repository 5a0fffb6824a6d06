package tuning

import "time"

// The connection to Temporal. By the SDK's defaults a process waits up to ten seconds before it
// reconnects to a restarted Temporal, and notices a silent network after 45 seconds.
const (
	FirstReconnect   = 100 * time.Millisecond
	LongestReconnect = time.Second
	ConnectTimeout   = 5 * time.Second
	// KeepAlive is the interval of keepalive pings. Temporal closes connections that send them
	// more often than every ten seconds (frontend.keepAliveMinTime).
	KeepAlive = 15 * time.Second
	// KeepAliveTimeout bounds the wait for the answer.
	KeepAliveTimeout = 5 * time.Second
)

// Life of a process.
const (
	// ServerDrain bounds the requests in progress when a server stops.
	ServerDrain = 5 * time.Second
	// TelemetryDrain bounds the shutdown of the exporters.
	TelemetryDrain = time.Second
	// LabelledTypes bounds the business types that are labels of metrics. One of a thousand
	// costs about 50 series.
	LabelledTypes = 1000
	// LabelValues bounds the values of one label of the SDK: a queue for each business type, and
	// a few more.
	LabelValues = LabelledTypes + 100
)
