package roles

import (
	"go.temporal.io/sdk/client"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"

	"github.com/wakecall/wakecall/internal/tuning"
)

// connected completes the options of the connection to Temporal. It leaves the address and the
// credentials alone. Options that exist already come nearest to Temporal.
func connected(options client.ConnectionOptions, more ...grpc.DialOption) client.ConnectionOptions {
	reconnect := backoff.DefaultConfig
	reconnect.BaseDelay, reconnect.MaxDelay = tuning.FirstReconnect, tuning.LongestReconnect
	more = append(more, grpc.WithConnectParams(grpc.ConnectParams{Backoff: reconnect, MinConnectTimeout: tuning.ConnectTimeout}))
	options.DialOptions = append(more, options.DialOptions...)
	options.KeepAliveTime, options.KeepAliveTimeout = tuning.KeepAlive, tuning.KeepAliveTimeout
	// Messages of a kilobyte on a local network: the SDK's gzip costs more processor time (4 %
	// of a timer's) than it saves.
	options.GrpcCompression = &client.GrpcCompressionNone{}
	return options
}
