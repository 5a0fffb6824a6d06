package app

import (
	"time"

	"go.temporal.io/sdk/client"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
)

// How the connection to Temporal is looked after. By the SDK's defaults a process
// waits up to ten seconds before it tries again to reach a Temporal that is back,
// and notices a silent network after 45 seconds.
const (
	firstReconnect, longestReconnect = 100 * time.Millisecond, time.Second
	connectTimeout                   = 5 * time.Second
	// Temporal closes connections that are asked for life more often than each ten
	// seconds (frontend.keepAliveMinTime).
	pulse, silence = 15 * time.Second, 5 * time.Second
)

// connected completes how Temporal is reached; where, and with which credentials,
// is left as it is.
func connected(options client.ConnectionOptions, more ...grpc.DialOption) client.ConnectionOptions {
	reconnect := backoff.DefaultConfig
	reconnect.BaseDelay, reconnect.MaxDelay = firstReconnect, longestReconnect
	options.DialOptions = append(options.DialOptions, grpc.WithConnectParams(grpc.ConnectParams{
		Backoff: reconnect, MinConnectTimeout: connectTimeout,
	}))
	options.DialOptions = append(options.DialOptions, more...)
	options.KeepAliveTime, options.KeepAliveTimeout = pulse, silence
	// Messages of a kilobyte on a local network: the SDK's gzip costs more
	// processor time (4 % of a timer's) than it saves.
	options.GrpcCompression = &client.GrpcCompressionNone{}
	return options
}
